// lanes.inc with what every processor of this kind has: SSE2 on x86-64.
#define VYRE_LANES baseline
#include "vyre/run/cpu/lanes.inc"
