// The outside world's failures, as typed exceptions. A user's mistakes in a program are Diagnostics, not exceptions, until
// the program is to run. Every message reads `<problem>. Fix: <specific action>.`
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "vyre/base/diagnostic.hpp"

namespace vyre {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad constructor arguments: what was wanted, what was given, what to write instead.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

// A program that breaks rules was to run, to be lowered or registered: all of the broken rules, in program order.
class ValidationError : public Error {
 public:
  explicit ValidationError(Diagnostics found) : Error(text(found)), diagnostics_(std::move(found)) {}
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  static std::string text(const Diagnostics& found) {
    std::string result;
    for (const Diagnostic& diagnostic : found) result += (result.empty() ? "" : "\n") + to_string(diagnostic);
    return result;
  }
  Diagnostics diagnostics_;
};

// Text or bytes that do not describe a program.
class ParseError : public Error {
 public:
  using Error::Error;
};

// A valid program that a target cannot express.
class LoweringError : public Error {
 public:
  using Error::Error;
};

// Host arrays that do not fit the program's buffers.
class BindingError : public Error {
 public:
  using Error::Error;
};

// A limit of the device that the program or the call exceeds: names the limit, the wanted and the allowed value.
class CapabilityError : public Error {
 public:
  using Error::Error;
};

// A mistake of a valid program that the reference finds while it runs.
class ExecutionError : public Error {
 public:
  using Error::Error;
};

// Not every invocation of a workgroup waits at the same barrier (V010, decided at run time).
class DivergentBarrierError : public ExecutionError {
 public:
  using ExecutionError::ExecutionError;
};

class DeviceError : public Error {
 public:
  using Error::Error;
};

class DeviceLostError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

class DeviceMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

class DispatchTimeoutError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// The caller asked to stop (Ctrl-C). Bindings turn it into the host language's own interrupt.
class Interrupted : public Error {
 public:
  Interrupted() : Error("the call was interrupted. Fix: run it again, or give it a time-out.") {}
};

}  // namespace vyre
