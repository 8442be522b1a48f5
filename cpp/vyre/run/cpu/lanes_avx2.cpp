// Compiles lanes.inc with the AVX2 instructions of x86-64 (cpp/CMakeLists.txt gives the flags).
#define VYRE_LANES avx2
#include "vyre/run/cpu/lanes.inc"
