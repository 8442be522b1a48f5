// The text of a schedule, as messages and `schedule=` have it: "in-order", "reversed", "random:7".
#pragma once

#include <string>

#include "vyre/run/backend.hpp"

namespace vyre::run {

std::string schedule_text(const Schedule& schedule);

}  // namespace vyre::run
