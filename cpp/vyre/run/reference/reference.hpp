// The reference is the backend that defines what programs mean. It interprets the steps of a valid program (code.hpp) without inlining its
// Calls. One invocation runs at a time, by default from barrier to barrier.
#pragma once

#include <memory>

#include "vyre/run/backend.hpp"

namespace vyre::run {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace vyre::run
