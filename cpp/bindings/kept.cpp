#include "kept.hpp"

#include <utility>

namespace vyre::python {

// A link of the list is made with its object, so that letting go of it needs no memory.
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
            // No other call may come. If Python's list of such functions is full, the next call does it after all.
            static_cast<void>(Py_AddPendingCall([](void*) { return detail::destroy_all(), 0; }, nullptr));
          }};
}

}  // namespace vyre::python
