#include "vyre/run/gpu/process_end.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#ifdef VYRE_COVERAGE
extern "C" void __gcov_dump();
#endif

namespace vyre::run {
namespace {

std::atomic<int> busy = 0;

void end(int status, void*) {
  if (busy == 0) return;
  std::fflush(nullptr);
#ifdef VYRE_COVERAGE
  __gcov_dump();  // the handlers that are skipped would do it
#endif
  _exit(status);
}

}  // namespace

void count_busy() noexcept {
  ++busy;
  // Handlers run in the reverse order of their registration. The driver was loaded before its first submission, so this handler runs before
  // the driver's.
  static const bool registered = on_exit(end, nullptr) == 0;
  static_cast<void>(registered);
}

void count_idle() noexcept { --busy; }

}  // namespace vyre::run
