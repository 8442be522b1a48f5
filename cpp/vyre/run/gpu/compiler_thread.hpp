// Starts a thread for a driver's compiler.
#pragma once

#include <functional>

namespace vyre::run {

// Runs `work`, which must not throw, on a detached thread, with a stack that is large enough for compilers that recurse over a program. If
// the process ends meanwhile, the driver's destructors do not run (process_end.hpp). Returns false if there is no thread.
bool start_compiler_thread(std::function<void()> work);

}  // namespace vyre::run
