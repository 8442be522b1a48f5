// What calls that run programs share: their arguments, and their manners while Python waits for them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::python {

// Arguments `workgroups` and `timeout` of `function`, which messages name.
run::Grid to_grid(py::handle object, const std::string& function);
std::optional<std::chrono::duration<double>> to_timeout(py::handle object, const std::string& function);

// A daemon thread may be in a call when the interpreter goes, and would then come back to a GIL that is no more. So calls are
// counted, the exit asks them to stop and waits for them, and a thread that was stopped so stays where it is: were it to raise
// its exception, Python would end it between two frames of C++, and with it the process.
struct Running {
  Running();
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

// To be destroyed with the GIL released, before it is taken again.
struct Parking {
  std::optional<bool> main_thread;  // found out when it matters
  ~Parking();
};

// At the interpreter's exit: asks all calls to end, and waits for them for a while. With the GIL held.
void end_calls();
// A forked child has one thread, and that one is not in a call.
void forget_calls_when_forked();

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
