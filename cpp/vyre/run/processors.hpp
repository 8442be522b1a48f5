// Counts the processors that this process may use.
#pragma once

namespace vyre::run {

// At least 1. As sched_getaffinity says: containers and taskset give fewer than the machine has.
unsigned usable_processors();

}  // namespace vyre::run
