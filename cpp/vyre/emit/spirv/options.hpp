// The choices of an emitted module.
#pragma once

namespace vyre::spirv {

struct Options {
  // For drivers that end loops silently: after each loop its condition is tested again, and a cut loop sets the status word.
  bool check_loops = false;
  // Storage buffers are reached through their addresses, of which devices bind no more than a range.
  bool addresses = false;
};

}  // namespace vyre::spirv
