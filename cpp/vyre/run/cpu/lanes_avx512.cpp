// lanes.inc for x86-64 with its AVX512 instructions (cpp/CMakeLists.txt gives the flags).
#define VYRE_LANES avx512
#include "vyre/run/cpu/lanes.inc"
