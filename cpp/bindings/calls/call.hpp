// Code that all calls that run programs share: the conversion of common arguments, and the check for Ctrl-C while Python waits for a call.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "bindings/bindings.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/optimize.hpp"

namespace vyre::python {

// These convert the arguments `workgroups` (or the argument of the same form that `argument` names) and `timeout`. Messages name
// `function`.
run::Grid to_grid(py::handle object, const std::string& function, const char* argument = "workgroups");
std::optional<std::chrono::duration<double>> to_timeout(py::handle object, const std::string& function);

// Checks from time to time whether a call must stop. In the main thread it polls Python for Ctrl-C, and keeps the exception until
// rethrow(). In other threads it asks whether the interpreter exits.
class Signals {
 public:
  Signals();
  bool pending();
  bool main_thread() const { return main_thread_; }
  // Throws the kept exception, if there is one. Called after Interrupted was caught, with the GIL held.
  void rethrow() {
    if (raised_) throw std::move(*raised_);
  }

 private:
  bool main_thread_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
  std::optional<py::error_already_set> raised_;
};

// Converts the argument `schedule`: None, "in-order", "reversed", "random" (seed 0) or "random:<seed>". Throws ArgumentError, which names
// `where`.
run::Schedule to_schedule(py::handle object, const std::string& where);

// Converts the argument `optimize`: True, False, or a list of names of speedups.def, which turns on the named speedups wherever they apply,
// and no others. The list may also contain "addresses", for tests and fuzzing; it is no speedup, so neither True nor False turns it on.
// Returns nothing for None. `where` names the argument.
std::optional<run::Optimize> to_optimize(py::handle object, const std::string& where);

}  // namespace vyre::python
