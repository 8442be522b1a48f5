// The reference: the definition of meaning, plain and readable. It walks the valid program itself, Calls included, one invocation
// at a time from barrier to barrier.
#pragma once

#include <memory>

#include "vyre/run/backend.hpp"

namespace vyre::run {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace vyre::run
