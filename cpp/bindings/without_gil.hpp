// Releases the GIL while the module works, and lets the interpreter exit safely while threads work without the GIL.
//
// A daemon thread may work without the GIL when the interpreter ends. Python ends such a thread when it tries to take the GIL again, by
// unwinding its stack; unwinding out of a destructor, such as that of gil_scoped_release, ends the process. So threads without the GIL are
// counted, the exit asks them to stop and waits for them, and a thread that wants the GIL back after that is parked for ever.
#pragma once

#include <pybind11/pybind11.h>

namespace vyre::python {

namespace py = pybind11;

// Releases the GIL for the lifetime of an object. Apart from end_calls(), the module releases the GIL only in this way.
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

  // These are destroyed in reverse order: a thread parks before it takes the GIL, and is counted until it has the GIL.
  Counted counted_;
  py::gil_scoped_release release_;
  Parked parked_;
};

// Returns what `work` gives, which runs without the GIL.
template <class Work>
auto without_gil(const Work& work) {
  const WithoutGil unlocked;
  return work();
}

// Whether the interpreter is about to end, so that whatever runs without the GIL has to stop.
bool leaving();
// At the interpreter's exit, with the GIL held: asks all threads without the GIL to stop, and waits for them for a while.
void end_calls();
// Sets the count to 0 in a forked child, whose only thread holds the GIL.
void forget_calls_when_forked();

}  // namespace vyre::python
