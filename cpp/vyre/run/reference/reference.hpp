// The reference: the backend that defines what programs mean. It interprets the valid program's steps (code.hpp), with Calls as
// calls, one invocation at a time from barrier to barrier.
#pragma once

#include <memory>

#include "vyre/run/backend.hpp"

namespace vyre::run {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace vyre::run
