// Defines the options of the emitter and its result: the code, and the facts that a loader needs to bind it.
//
// The entry point "main" has one parameter, a block of Bindings::parameter_bytes. First comes the address of each buffer (64 bits, a
// multiple of the bytes of its elements; any address for a buffer of no elements), with Options::counted_grid then the address of three
// words; after these the id of the first workgroup (x, y, z) and the length of each buffer in elements, 32 bits each. A block that is too
// large for a parameter lies in the memory of the device instead, aligned to 8 bytes, and the parameter is its address. A launch asks for
// Bindings::shared_bytes of dynamic shared memory. A grid that is too large for one launch is several, with other first ids. Memory that
// is bound to a buffer that is only read must not change during a launch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vyre/ir/program.hpp"

namespace vyre::ptx {

inline constexpr std::string_view kEntryPoint = "main";
// The most bytes of parameters that every driver accepts for an entry point.
inline constexpr std::uint32_t kMostParameterBytes = 4096;

struct Options {
  // The grid of a launch is an upper bound for the numbers of workgroups that three words in memory hold (x, y, z), and workgroups beyond
  // them do nothing. Ids count from the first workgroup in this, too.
  bool counted_grid = false;
};

struct Bindings {
  ir::WorkgroupSize workgroup_size{1, 1, 1};
  std::uint64_t shared_bytes = 0;  // a multiple of 16
  // Offsets in the block of parameters: the address of buffer k is at 8 * k, its length at first_length + 4 * k.
  std::uint32_t counts = 0;  // with Options::counted_grid
  std::uint32_t first_group = 0;
  std::uint32_t first_length = 0;
  std::uint32_t parameter_bytes = 0;
  bool in_memory() const { return parameter_bytes > kMostParameterBytes; }
  bool operator==(const Bindings&) const = default;
};

struct Code {
  std::string text;
  Bindings bindings;
};

}  // namespace vyre::ptx
