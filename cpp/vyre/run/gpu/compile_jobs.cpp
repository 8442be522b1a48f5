#include "vyre/run/gpu/compile_jobs.hpp"

#include <pthread.h>

#include "vyre/run/gpu/process_end.hpp"

namespace vyre::run {
namespace {

// The size of the stack in bytes. It is large because drivers' compilers recurse over a program. Only the pages that they touch take
// memory.
constexpr std::size_t kStack = std::size_t{256} << 20;

void* run_thread(void* given) {
  {
    const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(given));
    (*work)();
  }
  count_idle();
  return nullptr;
}

}  // namespace

bool start_compiler_thread(std::function<void()> work) {
  auto kept = std::make_unique<std::function<void()>>(std::move(work));
  count_busy();
  pthread_attr_t how;
  pthread_attr_init(&how);
  pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&how, kStack);
  pthread_t made;
  const bool begun = pthread_create(&made, &how, &run_thread, kept.get()) == 0;
  pthread_attr_destroy(&how);
  if (begun) {
    static_cast<void>(kept.release());  // the new thread deletes it
  } else {
    count_idle();
  }
  return begun;
}

}  // namespace vyre::run
