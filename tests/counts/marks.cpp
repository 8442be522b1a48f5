// The marks that callgrind reads, for Python to set around a call (calls.py).
#include <valgrind/callgrind.h>

extern "C" {
__attribute__((visibility("default"))) int begin() {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  return RUNNING_ON_VALGRIND != 0;
}
__attribute__((visibility("default"))) void end(const char* name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
}
