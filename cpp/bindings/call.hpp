// Shared by calls that run programs: their arguments, and how they listen to Ctrl-C while Python waits for them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::python {

// Arguments `workgroups` (or `argument`, which takes the same) and `timeout` of `function`, which messages name.
run::Grid to_grid(py::handle object, const std::string& function, const char* argument = "workgroups");
std::optional<std::chrono::duration<double>> to_timeout(py::handle object, const std::string& function);

// Asks Python now and then whether Ctrl-C was pressed; only the main thread is told. Its exception is kept: it must be raised by
// the thread that called.
class Signals {
 public:
  Signals();
  bool pending();
  bool main_thread() const { return main_thread_; }
  // With the GIL held, after Interrupted.
  void rethrow() {
    if (raised_) throw std::move(*raised_);
  }

 private:
  bool main_thread_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
  std::optional<py::error_already_set> raised_;
};

}  // namespace vyre::python
