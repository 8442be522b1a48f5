// lanes.inc for x86-64 with its AVX2 instructions (cpp/CMakeLists.txt gives the flags).
#define VYRE_LANES avx2
#include "vyre/run/cpu/lanes.inc"
