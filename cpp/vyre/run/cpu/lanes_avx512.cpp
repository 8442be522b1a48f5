// Compiles lanes.inc with the AVX-512 instructions of x86-64 (cpp/CMakeLists.txt gives the flags).
#define VYRE_LANES avx512
#include "vyre/run/cpu/lanes.inc"
