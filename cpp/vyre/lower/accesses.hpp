// Lowers accesses to memory. An index out of range loads zeros, stores nothing and makes an atomic do nothing and give 0
// (docs/semantics.md, Out of bounds). Where the index is not proven to be in range, a target with bounded accesses applies this rule; for
// every other target the lowering adds a guard.
#pragma once

#include <cstdint>

#include "vyre/ir/fwd.hpp"
#include "vyre/lower/target.hpp"
#include "vyre/lower/writer.hpp"

namespace vyre::lower {

// The memory that an access reads or writes: a buffer slot, a shared array or a private array of the kernel.
enum class Space : std::uint8_t { Buffer, Shared, Private };
struct Memory {
  Space space = Space::Buffer;
  std::uint32_t index = 0;
  ir::DataType element = ir::kU32;
  std::uint32_t count = 0;  // elements; 0 for a buffer whose length the host's array decides
};

ValueId lower_length(Writer& writer, const Memory& memory);
ValueId lower_load(Writer& writer, const Target& target, const Memory& memory, ValueId index);
void lower_store(Writer& writer, const Target& target, const Memory& memory, ValueId index, ValueId value);
// `expected` is invalid, except for CompareExchange.
ValueId lower_atomic(Writer& writer, const Target& target, ir::AtomicOp op, const Memory& memory, ValueId index, ValueId expected,
                     ValueId value);

// Returns the value that an element has after a store of `value`: a narrow element keeps only the low bits.
ValueId narrowed(Writer& writer, ir::DataType element, ValueId value);

// Records that the condition holds, or does not hold, from here on. An access that this proves to be in range is neither guarded nor
// bounded.
void assume(Writer& writer, ValueId condition);
void assume_not(Writer& writer, ValueId condition);
// Records that a < b, or with `or_equal` that a <= b, from here on.
void assume_less(Writer& writer, ValueId a, ValueId b, bool or_equal = false);

}  // namespace vyre::lower
