// The guard of an access compares its index with the number of elements. If the index of a load is out of range, one select replaces the
// index by 0, which may always be loaded (every buffer has at least 16 bytes), and another one replaces the loaded value by zero. That is
// cheaper than a branch. Stores and atomics are put in an If.
//
// A target without 8- and 16-bit accesses sees a buffer of narrow elements as words. A load takes its bits out of a word. A store clears
// and sets the bits of its element, each with an atomic, because other invocations may store to the other elements of the word.
//
// The conditions and loops around an access may prove its index to be in range: assume() records what they say.
#include "vyre/lower/accesses.hpp"

#include <array>
#include <optional>

#include "vyre/base/assert.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::lower {
namespace {

using ir::AtomicOp;
using ir::DataType;

bool range_is_below(Writer& writer, ValueId value, std::uint32_t bound) {
  if (const auto known = writer.literal(value)) return *known < bound;
  return writer.bounds().range(value).greatest < bound || writer.bounds().range_now(value).greatest < bound;
}

// A value and the literal that an Add adds to it.
struct Offset {
  ValueId base;
  std::uint32_t by = 0;
};
std::optional<Offset> offset_of(const Writer& writer, ValueId value) {
  const Instruction& it = writer.at(value);
  if (it.op != Opcode::Add || it.lanes != 1) return std::nullopt;
  if (const auto by = writer.literal(it.b)) return Offset{it.a, *by};
  if (const auto by = writer.literal(it.a)) return Offset{it.b, *by};
  return std::nullopt;
}

// Whether a condition or a loop around the access says that the index, or a value that is at least as great, is below the length.
bool is_assumed_below(const Writer& writer, ValueId index, ValueId length) {
  if (writer.assumptions() == 0) return false;
  if (writer.is_assumed_below(index, length)) return true;
  constexpr std::size_t kMostValues = 8;
  std::array<ValueId, kMostValues> values{index};
  std::size_t end = 1;
  const auto also = [&](ValueId value) {
    if (end < kMostValues) values[end++] = value;
  };
  for (std::size_t next = 0; next < end; ++next) {
    if (writer.is_assumed_below(values[next], length)) return true;
    const std::optional<Offset> offset = offset_of(writer, values[next]);
    if (offset && writer.is_assumed_below(offset->base, length, std::uint64_t{offset->by} + 1)) return true;
    const Instruction& it = writer.at(values[next]);
    if (it.op == Opcode::And || it.op == Opcode::Min) also(it.b);
    if (it.op == Opcode::And || it.op == Opcode::Min || it.op == Opcode::Shr || it.op == Opcode::Div || it.op == Opcode::Mod) also(it.a);
  }
  return false;
}

// The number of elements that the index has to be compared with; invalid when the index is proven to be in range.
ValueId unproven_bound(Writer& writer, const Memory& memory, ValueId index) {
  const auto proven = [&] {
    if (!writer.proofs()) return false;
    // The host's array has exactly the declared length: a call with any other length is refused (run/checks/checks.hpp).
    if (memory.count != 0 && range_is_below(writer, index, memory.count)) return true;
    return is_assumed_below(writer, index, lower_length(writer, memory));
  };
  writer.checked(!proven());
  return writer.check_kept() ? lower_length(writer, memory) : ValueId{};
}

// 1 when the index is in range, else 0. Element indices are compared, because byte offsets wrap.
ValueId in_range(Writer& writer, ValueId index, ValueId bound) { return writer.once(Opcode::Lt, index, bound); }

Opcode opcode(Space space, Opcode of_buffer, Opcode of_shared, Opcode of_private) {
  return space == Space::Buffer ? of_buffer : space == Space::Shared ? of_shared : of_private;
}

Instruction load_of(const Memory& memory, ValueId index) {
  const auto lanes = static_cast<std::uint8_t>(ir::lanes(memory.element));
  return {.op = opcode(memory.space, Opcode::LoadBuffer, Opcode::LoadShared, Opcode::LoadPrivate),
          .lanes = lanes,
          .imm = memory.index,
          .a = index};
}

Instruction store_of(const Memory& memory, ValueId index, ValueId value) {
  return {.op = opcode(memory.space, Opcode::StoreBuffer, Opcode::StoreShared, Opcode::StorePrivate),
          .imm = memory.index,
          .a = index,
          .b = value};
}

Opcode opcode(AtomicOp op) {
  switch (op) {
#define ATOMIC(op, ...) \
  case AtomicOp::op:    \
    return Opcode::Atomic##op;
#include "vyre/ir/ops.def"
  }
  VYRE_ASSERT(!"an atomic operator");
  return Opcode::AtomicAdd;
}

Instruction atomic_of(AtomicOp op, const Memory& memory, ValueId index, ValueId expected, ValueId value) {
  VYRE_ASSERT(memory.space != Space::Private);
  Instruction atomic{.op = opcode(op), .lanes = 1, .shared = memory.space == Space::Shared, .imm = memory.index, .a = index, .b = value};
  if (expected.valid()) {
    atomic.b = expected;
    atomic.c = value;
  }
  return atomic;
}

// Marks the access as bounded: the target handles an index that is out of range.
Instruction bounded(Instruction access) {
  access.bounded = true;
  return access;
}

bool is_packed(Writer& writer, const Memory& memory) {
  return memory.space == Space::Buffer && writer.kernel().buffers[memory.index].packed;
}

std::uint32_t narrow_bits(DataType element) { return 8 * ir::min_bytes(element); }

// Fills the bits of a word above a narrow element.
ValueId extended(Writer& writer, DataType element, ValueId word) {
  const std::uint32_t bits = narrow_bits(element);
  switch (ir::info(element).extend) {
    case ir::Extend::Zero:
      return writer.once(Opcode::And, word, writer.constant((1u << bits) - 1));
    case ir::Extend::Sign:
      break;
  }
  const ValueId amount = writer.constant(32 - bits);
  return writer.once(Opcode::SShr, writer.once(Opcode::Shl, word, amount), amount);
}

// The position of a narrow element: its word, and its lowest bit there.
struct BitPosition {
  ValueId word, shift;
};
BitPosition bit_position(Writer& writer, const Memory& memory, ValueId index) {
  const bool bytes = ir::min_bytes(memory.element) == 1;
  const ValueId in_word = writer.once(Opcode::And, index, writer.constant(bytes ? 3 : 1));
  return {writer.once(Opcode::Shr, index, writer.constant(bytes ? 2 : 1)),
          writer.once(Opcode::Shl, in_word, writer.constant(bytes ? 3 : 4))};
}

// Adds the instructions of a load whose index is in range.
ValueId load_at(Writer& writer, const Memory& memory, ValueId index) {
  if (!is_packed(writer, memory)) return writer.add(load_of(memory, index));
  const BitPosition position = bit_position(writer, memory, index);
  const ValueId word = writer.add(load_of(memory, position.word));
  return extended(writer, memory.element, writer.once(Opcode::Shr, word, position.shift));
}

// A store whose index is in range. The constructor adds the instructions that compute operands, and add() those with effects.
class Storing {
 public:
  Storing(Writer& writer, const Memory& memory, ValueId index, ValueId value) : writer_(writer) {
    if (!is_packed(writer, memory)) {
      effects_[0] = store_of(memory, index, value);
      return;
    }
    writer.kernel().buffers[memory.index].atomic = true;
    const ValueId mask = writer.constant((1u << narrow_bits(memory.element)) - 1);
    const BitPosition position = bit_position(writer, memory, index);
    const ValueId others = writer.once(Opcode::Not, writer.once(Opcode::Shl, mask, position.shift));
    const ValueId bits = writer.once(Opcode::Shl, writer.once(Opcode::And, value, mask), position.shift);
    effects_ = {atomic_of(AtomicOp::And, memory, position.word, {}, others), atomic_of(AtomicOp::Or, memory, position.word, {}, bits)};
    count_ = 2;
  }
  void add() const {
    for (std::size_t k = 0; k < count_; ++k) writer_.add(effects_[k]);
  }

 private:
  Writer& writer_;
  std::array<Instruction, 2> effects_{};
  std::size_t count_ = 1;
};

ValueId guarded_load(Writer& writer, const Memory& memory, ValueId index, ValueId bound) {
  const ValueId in = in_range(writer, index, bound);
  if (writer.literal(in) == 0u) return writer.zero(load_of(memory, index).lanes);
  const ValueId safe = writer.literal(index) == 0u ? index : writer.once(Opcode::Select, in, index, writer.constant(0));
  const ValueId value = load_at(writer, memory, safe);
  const std::uint8_t lanes = load_of(memory, safe).lanes;
  return writer.add({.op = Opcode::Select, .lanes = lanes, .a = in, .b = value, .c = writer.zero(lanes)});
}

void guarded_store(Writer& writer, const Memory& memory, ValueId index, ValueId bound, ValueId value) {
  const ValueId in = in_range(writer, index, bound);
  if (writer.literal(in) == 0u) return;
  const Storing storing(writer, memory, index, value);
  // Later code may reuse the values that are computed for the store, so only the store itself stands in the If.
  writer.begin_unit();
  writer.add({.op = Opcode::If, .a = in});
  storing.add();
  writer.add({.op = Opcode::EndIf});
  writer.end_unit();
}

ValueId guarded_atomic(Writer& writer, const Instruction& atomic, ValueId bound) {
  const ValueId in = in_range(writer, atomic.a, bound);
  if (writer.literal(in) == 0u) return writer.constant(0);
  const std::uint32_t before = writer.variable(1);
  writer.begin_unit();
  writer.add({.op = Opcode::WriteVariable, .imm = before, .a = writer.constant(0)});
  writer.add({.op = Opcode::If, .a = in});
  writer.add({.op = Opcode::WriteVariable, .imm = before, .a = writer.add(atomic)});
  writer.add({.op = Opcode::EndIf});
  const ValueId old = writer.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = before});
  writer.end_unit();
  return old;
}

// Records that a < b. Where a is base + by and does not wrap around, all numbers from the base on are below b as well.
void assume_below(Writer& writer, ValueId a, ValueId b) {
  writer.assume_below(a, b);
  const std::optional<Offset> offset = writer.bounds().enabled() ? offset_of(writer, a) : std::nullopt;
  if (offset && !sum_wraps(writer.bounds().range_now(offset->base), offset->by)) {
    writer.assume_below(offset->base, b, std::uint64_t{offset->by} + 1);
  }
}

}  // namespace

ValueId lower_length(Writer& writer, const Memory& memory) {
  return memory.space == Space::Buffer ? writer.length(memory.index) : writer.constant(memory.count);
}

ValueId lower_load(Writer& writer, const Target& target, const Memory& memory, ValueId index) {
  const ValueId zero = writer.constant(0);
  const ValueId bound = unproven_bound(writer, memory, index);
  ValueId value;
  if (bound.valid() && !target.bounded_accesses) {
    value = guarded_load(writer, memory, index, bound);
  } else {
    value = bound.valid() ? writer.add(bounded(load_of(memory, index))) : load_at(writer, memory, index);
  }
  // The host may have stored any non-zero word for true.
  if (memory.element == DataType::Bool && memory.space == Space::Buffer)
    value = writer.add({.op = Opcode::Ne, .lanes = 1, .a = value, .b = zero});
  return value;
}

void lower_store(Writer& writer, const Target& target, const Memory& memory, ValueId index, ValueId value) {
  // Arrays that are not buffers have a word for each narrow element.
  if (memory.space != Space::Buffer) value = narrowed(writer, memory.element, value);
  const ValueId bound = unproven_bound(writer, memory, index);
  if (bound.valid() && !target.bounded_accesses) return guarded_store(writer, memory, index, bound, value);
  if (bound.valid()) {
    writer.add(bounded(store_of(memory, index, value)));
  } else {
    Storing(writer, memory, index, value).add();
  }
}

ValueId narrowed(Writer& writer, DataType element, ValueId value) {
  return ir::is_narrow(element) ? extended(writer, element, value) : value;
}

ValueId lower_atomic(Writer& writer, const Target& target, AtomicOp op, const Memory& memory, ValueId index, ValueId expected,
                     ValueId value) {
  const Instruction atomic = atomic_of(op, memory, index, expected, value);
  const ValueId bound = unproven_bound(writer, memory, index);
  if (!bound.valid()) return writer.add(atomic);
  return target.bounded_accesses ? writer.add(bounded(atomic)) : guarded_atomic(writer, atomic, bound);
}

void assume_less(Writer& writer, ValueId a, ValueId b, bool or_equal) {
  Bounds& bounds = writer.bounds();
  const std::uint32_t strict = or_equal ? 0 : 1;
  if (bounds.enabled()) {
    const std::uint32_t least = bounds.range_now(a).least, greatest = bounds.range_now(b).greatest;
    if (greatest >= strict) bounds.narrow(a, Range::at_most(greatest - strict));
    if (least <= ~0u - strict) bounds.narrow(b, Range::between(least + strict, ~0u));
  }
  if (or_equal) return;
  assume_below(writer, a, b);
  const Instruction &smaller = writer.at(a), &greater = writer.at(b);
  if (smaller.op == Opcode::Max) {
    for (const ValueId one : {smaller.a, smaller.b}) assume_below(writer, one, b);
  }
  if (greater.op == Opcode::Min) {
    for (const ValueId one : {greater.a, greater.b}) assume_below(writer, a, one);
  }
}

namespace {

// Records all facts that follow from the condition being true, or from its being false.
void assume_all(Writer& writer, ValueId condition, bool condition_holds) {
  struct Term {
    std::uint32_t index;  // ValueId::index; an array of ValueIds would be initialised, although most terms are never used
    bool holds;
  };
  // Most conditions are short; only the first terms of a long one are looked at.
  constexpr std::size_t kMaxTerms = 64;
  std::array<Term, kMaxTerms> terms;
  terms[0] = {condition.index, condition_holds};
  std::size_t end = 1;
  const auto also = [&](ValueId value, bool holds) {
    if (end < kMaxTerms) terms[end++] = {value.index, holds};
  };
  Bounds& bounds = writer.bounds();
  for (std::size_t next = 0; next < end; ++next) {
    const bool holds = terms[next].holds;
    const ValueId value{terms[next].index};
    if (bounds.enabled()) bounds.narrow(value, holds ? Range::between(1, ~0u) : Range::only(0));
    const Instruction& term = writer.at(value);
    switch (term.op) {
      case Opcode::Lt:
      case Opcode::Le: {
        const bool or_equal = (term.op == Opcode::Le) == holds;
        assume_less(writer, holds ? term.a : term.b, holds ? term.b : term.a, or_equal);
        break;
      }
      case Opcode::Eq:
      case Opcode::Ne:
        if (writer.literal(term.b) == 0u) also(term.a, (term.op == Opcode::Ne) == holds);
        if (bounds.enabled() && (term.op == Opcode::Eq) == holds) {
          bounds.narrow(term.a, bounds.range(term.b));
          bounds.narrow(term.b, bounds.range(term.a));
        }
        break;
      case Opcode::And:  // a bitwise and is non-zero only if both operands are
        if (!holds) break;
        also(term.a, true);
        also(term.b, true);
        break;
      case Opcode::Or:
        if (holds) break;
        also(term.a, false);
        also(term.b, false);
        break;
      default:
        break;
    }
  }
}

}  // namespace

void assume(Writer& writer, ValueId condition) { assume_all(writer, condition, true); }
void assume_not(Writer& writer, ValueId condition) { assume_all(writer, condition, false); }

}  // namespace vyre::lower
