// Keeps Python objects alive while a device works with their memory.
//
// The library releases an object on the thread that finds that the device is done, and may hold locks at that moment. The object's
// destructor may run any Python code, which may wait for a thread that wants one of these locks, or call a kernel. So a released object
// goes into a list, without the GIL. The next call that waits, when it ends, or the interpreter's main thread takes the list and destroys
// its objects with the GIL and without a lock.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>

namespace vyre::python {

namespace py = pybind11;

// Returns an owner of the object. The last owner may be destroyed on any thread.
std::shared_ptr<void> kept(py::object object);

namespace detail {
struct Kept;
// The released objects, the most recent first.
extern std::atomic<Kept*> let_go;
void destroy_all();
}  // namespace detail

// Destroys the released objects. Must be called with the GIL and without a lock.
inline void give_back_kept() {
  if (detail::let_go.load(std::memory_order_relaxed) != nullptr) detail::destroy_all();
}

}  // namespace vyre::python
