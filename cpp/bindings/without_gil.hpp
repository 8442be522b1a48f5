// How the module works without the GIL, and how the interpreter ends beside threads that do so.
//
// A daemon thread may work without the GIL when the interpreter ends. Python ends such a thread when it takes the GIL again, by
// unwinding its stack, and a destructor that is unwound so ends the process. So threads without the GIL are counted, the exit
// asks them to stop and waits for them, and a thread that comes back after that stays where it is.
#pragma once

#include <pybind11/pybind11.h>

namespace vyre::python {

namespace py = pybind11;

// The GIL is released while one of these lives. It is the only way in which the module releases it.
class WithoutGil {
 public:
  WithoutGil() = default;
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  struct Counted {
    Counted();
    ~Counted();
  };
  struct Parked {
    Parked() = default;
    ~Parked();
  };

  // Destroyed from the last to the first: a thread parks before it takes the GIL, and counts until it has it.
  Counted counted_;
  py::gil_scoped_release release_;
  Parked parked_;
};

// Whether the interpreter is about to end, so that whatever runs without the GIL has to stop.
bool leaving();
// At the interpreter's exit, with the GIL held: asks all threads without the GIL to stop, and waits for them for a while.
void end_calls();
// A forked child has one thread, which holds the GIL.
void forget_calls_when_forked();

}  // namespace vyre::python
