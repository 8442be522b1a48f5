// Accesses to memory. Each lane reads and writes its own element, except where the indices rise by one from lane to lane: then the
// elements are copied in one piece, which a bounded access cuts off at the end of the memory.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "vyre/base/assert.hpp"
#include "vyre/run/cpu/machine.hpp"

namespace vyre::run::cpu {
namespace {

using lower::Opcode;

// Other threads may access the same element at the same time: a racy program gets one of the written values, and atomics are atomic.
template <class Element>
Element read(const Element* from) {
  return std::atomic_ref<Element>(*const_cast<Element*>(from)).load(std::memory_order_relaxed);
}
template <class Element>
void write(Element* to, Element value) {
  std::atomic_ref<Element>(*to).store(value, std::memory_order_relaxed);
}

// Extends a narrow element to a word: by its sign if its type is signed, else by zeros.
template <class Element>
Word extended(Element element) {
  if constexpr (std::is_signed_v<Element>) return static_cast<Word>(std::int32_t{element});
  return static_cast<Word>(element);
}

template <class Element>
Element* elements_of(const Memory& memory) {
  return reinterpret_cast<Element*>(memory.words);
}

// Calls visit(element) with a zero of the type that the elements of a narrow memory have.
template <class Visit>
void with_element_of(const Memory& memory, Visit&& visit) {
  const bool is_signed = memory.extend == ir::Extend::Sign;
  if (memory.narrow == 1) return is_signed ? visit(std::int8_t{}) : visit(std::uint8_t{});
  is_signed ? visit(std::int16_t{}) : visit(std::uint16_t{});
}

template <class Choose>
Word replace(std::atomic_ref<Word> word, const Choose& choose) {
  Word old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, choose(old), std::memory_order_relaxed)) {
  }
  return old;
}

Word apply(Opcode op, Word* at, Word b, Word c) {
  const std::atomic_ref<Word> word(*at);
  constexpr auto kRelaxed = std::memory_order_relaxed;
  switch (op) {
    case Opcode::AtomicAdd:
      return word.fetch_add(b, kRelaxed);
    case Opcode::AtomicAnd:
      return word.fetch_and(b, kRelaxed);
    case Opcode::AtomicOr:
      return word.fetch_or(b, kRelaxed);
    case Opcode::AtomicXor:
      return word.fetch_xor(b, kRelaxed);
    case Opcode::AtomicMin:
      return replace(word, [&](Word old) { return std::min(old, b); });
    case Opcode::AtomicMax:
      return replace(word, [&](Word old) { return std::max(old, b); });
    case Opcode::AtomicExchange:
      return word.exchange(b, kRelaxed);
    case Opcode::AtomicCompareExchange:
      // The strong form fails only if the values differ. It then puts the value found into `b`; on success `b` equals it already.
      word.compare_exchange_strong(b, c, kRelaxed);
      return b;
    default:
      VYRE_ASSERT(!"an atomic");
      return 0;
  }
}

// Returns how many of `lanes` lanes are in range, where lane i accesses the element `first` + i.
std::size_t in_range(bool bounded, Word first, Word length, std::size_t lanes) {
  if (!bounded) return lanes;
  return first >= length ? 0 : std::min<std::size_t>(lanes, length - first);
}

}  // namespace

bool Machine::is_row(const Instruction& i, const Word* index, std::size_t lanes) const {
  return static_cast<Row>(i.form) == Row::No ? lanes_.consecutive(index, lanes) : in_row_[i.form];
}

template <bool bounded>
void Machine::load_each(const Instruction& i, const Memory& memory, std::size_t lanes) {
  const Word* const index = address(i.a);
  const std::size_t index_step = step(i.a);
  const Word* const mask = mask_;
  const Word length = memory.length;
  for (std::uint32_t k = 0; k < i.lanes; ++k) {
    Word* const dest = vector(i.dest + k);
    const Word* const words = memory.words + k;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (mask != nullptr && mask[lane] == 0) continue;
      const std::size_t at = index[lane * index_step];
      dest[lane] = !bounded || at < length ? read(words + at * i.lanes) : 0;
    }
  }
}

template <class Element>
void Machine::load_narrow(const Instruction& i, const Memory& memory, std::size_t lanes) {
  const Element* const elements = elements_of<Element>(memory);
  const Word* const index = address(i.a);
  Word* const dest = vector(i.dest);
  if (mask_ == nullptr && !is_scalar(i.a) && is_row(i, index, lanes)) {
    const Word first = index[0];
    const std::size_t inside = in_range(i.bounded, first, memory.length, lanes);
    for (std::size_t lane = 0; lane < inside; ++lane) dest[lane] = extended(elements[first + lane]);
    std::fill(dest + inside, dest + lanes, Word{0});
    return;
  }
  const std::size_t index_step = step(i.a);
  const Word* const mask = mask_;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (mask != nullptr && mask[lane] == 0) continue;
    const Word at = index[lane * index_step];
    dest[lane] = !i.bounded || at < memory.length ? extended(read(elements + at)) : 0;
  }
}

template <class Element>
void Machine::store_narrow(const Instruction& i, const Memory& memory, std::size_t lanes) {
  Element* const elements = elements_of<Element>(memory);
  const Word *const index = address(i.a), *const value = address(i.b);
  if (mask_ == nullptr && !is_scalar(i.a) && !is_scalar(i.b) && is_row(i, index, lanes)) {
    const Word first = index[0];
    const std::size_t inside = in_range(i.bounded, first, memory.length, lanes);
    for (std::size_t lane = 0; lane < inside; ++lane) elements[first + lane] = static_cast<Element>(value[lane]);
    return;
  }
  const std::size_t index_step = step(i.a), value_step = step(i.b);
  const Word* const mask = mask_;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (mask != nullptr && mask[lane] == 0) continue;
    const Word at = index[lane * index_step];
    if (!i.bounded || at < memory.length) write(elements + at, static_cast<Element>(value[lane * value_step]));
  }
}

void Machine::load(const Instruction& i, const Memory& memory, std::size_t lanes) {
  if (memory.narrow != 0) return with_element_of(memory, [&](auto element) { load_narrow<decltype(element)>(i, memory, lanes); });
  if (i.lanes == 1 && mask_ == nullptr && !is_scalar(i.a) && !memory.atomic) {
    const Word* const index = vector(i.a);
    if (is_row(i, index, lanes)) {
      const Word first = index[0];
      const std::size_t inside = in_range(i.bounded, first, memory.length, lanes);
      Word* const dest = vector(i.dest);
      if (inside != 0) std::memmove(dest, memory.words + first, inside * sizeof(Word));
      std::fill(dest + inside, dest + lanes, Word{0});
      return;
    }
  }
  if (i.bounded) {
    load_each<true>(i, memory, lanes);
  } else {
    load_each<false>(i, memory, lanes);
  }
}

template <bool bounded>
void Machine::store_each(const Instruction& i, const Memory& memory, std::size_t lanes) {
  const Word* const index = address(i.a);
  const std::size_t index_step = step(i.a), value_step = step(i.b);
  const Word* const mask = mask_;
  const Word length = memory.length;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (mask != nullptr && mask[lane] == 0) continue;
    const std::size_t at = index[lane * index_step];
    if (bounded && at >= length) continue;
    for (std::uint32_t k = 0; k < i.lanes; ++k) write(memory.words + at * i.lanes + k, address(i.b + k)[lane * value_step]);
  }
}

void Machine::store(const Instruction& i, const Memory& memory, std::size_t lanes) {
  if (memory.narrow != 0) return with_element_of(memory, [&](auto element) { store_narrow<decltype(element)>(i, memory, lanes); });
  if (i.lanes == 1 && mask_ == nullptr && !is_scalar(i.a) && !is_scalar(i.b) && !memory.atomic) {
    const Word* const index = vector(i.a);
    if (is_row(i, index, lanes)) {
      const std::size_t inside = in_range(i.bounded, index[0], memory.length, lanes);
      if (inside != 0) std::memcpy(memory.words + index[0], vector(i.b), inside * sizeof(Word));
      return;
    }
  }
  if (i.bounded) {
    store_each<true>(i, memory, lanes);
  } else {
    store_each<false>(i, memory, lanes);
  }
}

void Machine::load_once(const Instruction& i, const Memory& memory) {
  const Word index = scalar(i.a);
  const bool outside = i.bounded && index >= memory.length;
  if (memory.narrow != 0) {
    return with_element_of(
        memory, [&](auto element) { scalar(i.dest) = outside ? 0 : extended(read(elements_of<decltype(element)>(memory) + index)); });
  }
  const Word* const words = memory.words + std::size_t{index} * i.lanes;
  for (std::uint32_t k = 0; k < i.lanes; ++k) scalar(i.dest + k) = outside ? 0 : read(words + k);
}

void Machine::store_once(const Instruction& i, const Memory& memory) {
  const Word index = scalar(i.a);
  if (i.bounded && index >= memory.length) return;
  if (memory.narrow != 0) {
    return with_element_of(
        memory, [&](auto element) { write(elements_of<decltype(element)>(memory) + index, static_cast<decltype(element)>(scalar(i.b))); });
  }
  Word* const words = memory.words + std::size_t{index} * i.lanes;
  for (std::uint32_t k = 0; k < i.lanes; ++k) write(words + k, scalar(i.b + k));
}

void Machine::load_private(const Instruction& i, const Memory& memory, std::size_t lanes) {
  const Word* const index = address(i.a);
  const std::size_t index_step = step(i.a);
  const Word* const mask = mask_;
  for (std::uint32_t k = 0; k < i.lanes; ++k) {
    Word* const dest = vector(i.dest + k);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (mask != nullptr && mask[lane] == 0) continue;
      const std::size_t at = index[lane * index_step];
      dest[lane] = !i.bounded || at < memory.length ? memory.words[(at * i.lanes + k) * stride_ + lane] : 0;
    }
  }
}

void Machine::store_private(const Instruction& i, const Memory& memory, std::size_t lanes) {
  const Word* const index = address(i.a);
  const std::size_t index_step = step(i.a), value_step = step(i.b);
  const Word* const mask = mask_;
  for (std::uint32_t k = 0; k < i.lanes; ++k) {
    const Word* const value = address(i.b + k);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (mask != nullptr && mask[lane] == 0) continue;
      const std::size_t at = index[lane * index_step];
      if (!i.bounded || at < memory.length) memory.words[(at * i.lanes + k) * stride_ + lane] = value[lane * value_step];
    }
  }
}

void Machine::atomic(const Instruction& i, const Memory& memory, std::size_t lanes) {
  const Word *const index = address(i.a), *const b = address(i.b), *const c = address(i.c);
  const std::size_t index_step = step(i.a), b_step = step(i.b), c_step = step(i.c);
  const Word* const mask = mask_;
  const std::size_t length = i.bounded ? memory.length : std::size_t{1} << 32;  // above every index
  Word* const dest = vector(i.dest);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (mask != nullptr && mask[lane] == 0) continue;
    const std::size_t at = index[lane * index_step];
    dest[lane] = at >= length ? 0 : apply(i.atomic, memory.words + at, b[lane * b_step], c[lane * c_step]);
  }
}

}  // namespace vyre::run::cpu
