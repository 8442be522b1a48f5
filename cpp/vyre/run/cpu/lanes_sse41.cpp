// Compiles lanes.inc with the SSE4.1 instructions of x86-64 (cpp/CMakeLists.txt gives the flags).
#define VYRE_LANES sse41
#include "vyre/run/cpu/lanes.inc"
