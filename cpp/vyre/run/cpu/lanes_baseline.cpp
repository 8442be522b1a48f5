// Compiles lanes.inc with the instructions that every processor of the architecture has: SSE2 on x86-64.
#define VYRE_LANES baseline
#include "vyre/run/cpu/lanes.inc"
