// Tells what becomes of a call as text that a test can compare.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "vyre/base/error.hpp"

namespace vyre::test {

// The message of an error of this type, or "no error". Errors of other types leave the test.
template <class Expected = Error>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  return "no error";
}

// A text that is refused: what is wrong with it, and what to write instead.
struct Refused {
  std::string text, problem, fix;
  std::string sentence() const { return problem + ". Fix: " + fix + "."; }
};

// "memory", "lost", "timeout", "device", "interrupted" or "capability"; of any other error its message, which no test expects as a kind.
inline std::string kind_of(const std::exception& error) {
  if (dynamic_cast<const DeviceMemoryError*>(&error) != nullptr) return "memory";
  if (dynamic_cast<const DeviceLostError*>(&error) != nullptr) return "lost";
  if (dynamic_cast<const DispatchTimeoutError*>(&error) != nullptr) return "timeout";
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return "device";
  if (dynamic_cast<const Interrupted*>(&error) != nullptr) return "interrupted";
  if (dynamic_cast<const CapabilityError*>(&error) != nullptr) return "capability";
  return error.what();
}

// The kind of error that a call threw, or "none", and the error's message.
struct Outcome {
  std::string kind = "none", text;
};
inline Outcome outcome_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return {kind_of(error), error.what()};
  }
  return {};
}

}  // namespace vyre::test
