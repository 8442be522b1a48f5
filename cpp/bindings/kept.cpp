#include "bindings/kept.hpp"

#include <utility>

namespace vyre::python {

// A node of the list of released objects. It is allocated when its object is kept, so that the release allocates no memory.
struct detail::Kept {
  py::object object;
  Kept* next = nullptr;
};

std::atomic<detail::Kept*> detail::let_go = nullptr;

void detail::destroy_all() {
  for (Kept* each = let_go.exchange(nullptr, std::memory_order_acquire); each != nullptr;) {
    Kept* const next = each->next;
    delete each;
    each = next;
  }
}

std::shared_ptr<void> kept(py::object object) {
  return {new detail::Kept{std::move(object)}, [](void* last) {
            if (Py_IsInitialized() == 0) return;  // the interpreter has ended, and the object with it
            auto* const link = static_cast<detail::Kept*>(last);
            link->next = detail::let_go.load(std::memory_order_relaxed);
            while (!detail::let_go.compare_exchange_weak(link->next, link, std::memory_order_release)) {
            }
            // Asks the main thread to destroy the objects, because there may be no later call that does it. If Python's queue of pending
            // calls is full, the next call that waits destroys them.
            static_cast<void>(Py_AddPendingCall([](void*) { return detail::destroy_all(), 0; }, nullptr));
          }};
}

}  // namespace vyre::python
