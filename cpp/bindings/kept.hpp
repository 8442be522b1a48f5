// Python objects that the library keeps while a device works with their memory.
//
// The library lets go of them on whichever thread finds that the device is done, and may hold locks of its own then. A destructor in Python
// may do anything, such as wait for a thread that wants one of these locks, or call a kernel. So an object that is let go of goes into a
// list, without the GIL; the end of the next call that waited, or the interpreter's main thread, takes the list and destroys its objects
// with the GIL and without a lock.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>

namespace vyre::python {

namespace py = pybind11;

// The last owner may leave on any thread.
std::shared_ptr<void> kept(py::object object);

namespace detail {
struct Kept;
// The objects that were let go of, the last one first.
extern std::atomic<Kept*> let_go;
void destroy_all();
}  // namespace detail

// Destroys the objects that were let go of. Called with the GIL, and without a lock.
inline void give_back_kept() {
  if (detail::let_go.load(std::memory_order_relaxed) != nullptr) detail::destroy_all();
}

}  // namespace vyre::python
