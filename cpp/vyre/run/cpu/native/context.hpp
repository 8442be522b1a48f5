// The argument of native code. The code finds all data through one pointer to a Context, so that it contains no address of this process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vyre::run::cpu::native {

using Word = std::uint32_t;

// A buffer or a shared array.
struct Extent {
  std::byte* words;
  std::uint64_t length;      // elements
  std::int64_t full;         // the last index at which a whole group of lanes can begin and be in range; negative when there is none
  std::int64_t full_vector;  // the same for one vector
  std::uint64_t streams;     // 1 where rows are stored past the caches (non-temporal stores), else 0
};

struct Context {
  std::byte* frame;       // values that have no register, and saved masks
  std::byte* crossing;    // values that live across a barrier, for all lanes
  std::byte* privates;    // private arrays
  const Word* local_ids;  // of a workgroup's lanes: all x, then all y, then all z
  std::uint64_t lanes;    // how many lanes this call has
  Word workgroup[3];      // the ids that all lanes share; for a row, invocation[0] is the x of the first lane
  Word local[3];
  Word invocation[3];
  Word stopped;       // whether `poll` ended the run
  std::int64_t left;  // work to do before `poll` is called
  // Returns whether the run must end, and sets `left` anew.
  bool (*poll)(Context*);
  void* user;
  std::byte* saved;   // room for all registers while `poll` runs
  Extent extents[1];  // one for each buffer, then one for each shared array; they go on behind the struct
};

// The compiled code. It runs a row of invocations along x, or a workgroup if it was compiled for whole workgroups.
using Function = void (*)(Context*);

// How much memory a thread needs to run the code, in bytes.
struct Layout {
  std::size_t frame = 0;
  std::size_t crossing = 0;
  std::size_t privates = 0;
};

}  // namespace vyre::run::cpu::native
