// Runs a function on a thread with little stack, so that recursion over what a user can make long shows at once.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>

#include "support/patience.hpp"

namespace vyre::test {

inline std::size_t small_stack() {
  // Sanitizers make every frame several times larger, and so does a build that is not optimised: there each of the 200 brackets that
  // the text form allows takes 1.6 KiB.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return std::size_t{2} << 20;
#else
  return patience() > 1 ? std::size_t{1} << 20 : std::size_t{256} << 10;
#endif
}

inline void on_small_stack(const std::function<void()>& work) {
  struct Task {
    const std::function<void()>* work;
    std::exception_ptr error;
  } task{&work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, small_stack());
  pthread_t thread;
  const int failed = pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        Task& own = *static_cast<Task*>(argument);
        try {
          (*own.work)();
        } catch (...) {
          own.error = std::current_exception();
        }
        return nullptr;
      },
      &task);
  pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::runtime_error("pthread_create failed");
  pthread_join(thread, nullptr);
  if (task.error) std::rethrow_exception(task.error);
}

}  // namespace vyre::test
