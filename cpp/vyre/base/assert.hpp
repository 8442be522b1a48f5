// VYRE_ASSERT states what only a bug of ours can break. It stays on in every build: a wrong result is worse than a stop.
#pragma once

#include <stdexcept>

namespace vyre {

// Our bug. Bindings show it as an internal error; a user's input must never reach it.
class BugError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace vyre

#define VYRE_ASSERT(condition) ((condition) ? void(0) : ::vyre::assertion_failed(#condition, __FILE__, __LINE__))
