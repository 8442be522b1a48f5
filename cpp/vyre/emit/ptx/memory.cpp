// Emits accesses to memory. If an index may be out of range, the access has a predicate: the index is below the length. Where that is false
// nothing is accessed, so arrays may be of any size. A load or an atomic sets its result to zero first.
//
// Only that predicate keeps an access inside its array, so the index that is used must be the one that was compared. A compiler could load
// it a second time, after another invocation has written to that memory. So a load that an index depends on (emit/uses.hpp) is relaxed,
// which a compiler may not repeat, and does not move past other such loads either: a chain of them takes the time of all. Other loads and
// stores are weak, and barriers order them for the workgroup. Atomics are relaxed, those on buffers in the scope of the GPU.
//
// All shared arrays lie in one block of dynamic shared memory, which may be larger than what a kernel can declare. All private arrays of an
// invocation lie in one block, too. In a block the arrays with the widest elements come first, so that there are no gaps. Blocks are zeroed
// 16 bytes at a time.
#include <algorithm>
#include <span>

#include "vyre/emit/ptx/emitter.hpp"

namespace vyre::ptx {
namespace {

constexpr std::uint32_t kChunkBytes = 16;
// The number of chunks that an invocation zeroes without a loop.
constexpr std::uint64_t kMostUnrolled = 8;
// Offsets in the address of an access are signed words.
constexpr std::uint64_t kMostOffset = 1u << 30;

// Sets the offset of each array, and returns the bytes of all.
template <class Array>
std::uint64_t place(const std::vector<Array>& arrays, std::vector<std::uint64_t>& offsets) {
  std::uint64_t bytes = 0;
  offsets.resize(arrays.size());
  for (const std::uint32_t lanes : {4u, 2u, 1u}) {
    for (std::size_t array = 0; array < arrays.size(); ++array) {
      if (arrays[array].lanes != lanes) continue;
      offsets[array] = bytes;
      bytes += std::uint64_t{4} * lanes * arrays[array].count;
    }
  }
  return (bytes + kChunkBytes - 1) / kChunkBytes * kChunkBytes;
}

// The words as one operand, a vector if there are several.
std::string operand(const Words& words, std::uint32_t lanes) {
  if (lanes == 1) return text(words[0]);
  std::string result = "{" + text(words[0]);
  for (std::uint32_t lane = 1; lane < lanes; ++lane) result += ", " + text(words[lane]);
  return result + "}";
}

std::string_view vector(std::uint32_t lanes) { return lanes == 1 ? "" : lanes == 2 ? ".v2" : ".v4"; }

}  // namespace

void Emitter::lay_out() {
  bindings_.shared_bytes = place(kernel_.shared, shared_);
  private_bytes_ = place(kernel_.privates, privates_);
}

// --- Zeros ---

Word Emitter::local_index() {
  if (local_index_) return *local_index_;
  const ir::WorkgroupSize& size = kernel_.workgroup_size;
  Word index = local_id(2);
  for (const std::uint32_t axis : {1u, 0u}) {
    if (size[axis] == 1) continue;
    if (index.is_literal) {
      index = local_id(axis);
      continue;
    }
    const Word local = local_id(axis), sum = fresh();
    at_entry("mad.lo.u32 {}, {}, {}, {}", text(sum), text(index), size[axis], text(local));
    index = sum;
  }
  local_index_ = index;
  return index;
}

Word Emitter::base(std::optional<Word>& known, std::string_view block) {
  if (!known) {
    known = fresh();
    at_entry("mov.u32 {}, {}", text(*known), block);
  }
  return *known;
}

// Invocation `first` of `stride` zeroes the chunks first, first + stride and so on.
void Emitter::zero(std::string_view space, Word start, Word first, std::uint64_t chunks, std::uint64_t stride) {
  const std::uint64_t rounds = chunks / stride, step = stride * kChunkBytes;
  const Word address = fresh();
  line("mad.lo.u32 {}, {}, {}, {}", text(address), text(first), kChunkBytes, text(start));
  std::uint64_t offset = 0;
  if (rounds > kMostUnrolled) {
    const Word round = fresh();
    const std::uint32_t more = fresh_predicate();
    line("mov.u32 {}, 0", text(round));
    fmt::format_to(std::back_inserter(body_), "Z{}:\n", space);
    line("st.{}.v4.u32 [{}], {{0, 0, 0, 0}}", space, text(address));
    line("add.u32 {}, {}, {}", text(address), text(address), step);
    line("add.u32 {}, {}, 1", text(round), text(round));
    line("setp.lt.u32 %p{}, {}, {}", more, text(round), rounds);
    line("@%p{} bra Z{}", more, space);
  } else {
    for (std::uint64_t round = 0; round < rounds; ++round, offset += step) {
      line("st.{}.v4.u32 [{}+{}], {{0, 0, 0, 0}}", space, text(address), offset);
    }
  }
  if (const std::uint64_t rest = chunks % stride; rest != 0) {
    const std::uint32_t in = fresh_predicate();
    line("setp.lt.u32 %p{}, {}, {}", in, text(first), rest);
    line("@%p{} st.{}.v4.u32 [{}+{}], {{0, 0, 0, 0}}", in, space, text(address), offset);
  }
}

void Emitter::zero_shared() {
  if (bindings_.shared_bytes == 0) return;
  const ir::WorkgroupSize& size = kernel_.workgroup_size;
  const std::uint64_t invocations = std::uint64_t{size[0]} * size[1] * size[2];
  // Registers are numbered in this order, and not in that in which a compiler evaluates arguments.
  const Word start = base(shared_base_, "workgroup_memory"), first = local_index();
  zero("shared", start, first, bindings_.shared_bytes / kChunkBytes, invocations);
  line("bar.sync 0");
}

void Emitter::zero_privates() {
  if (private_bytes_ == 0) return;
  zero("local", base(private_base_, "private_memory"), literal(0), private_bytes_ / kChunkBytes, 1);
}

// --- Elements ---

std::string Emitter::guard(const Instruction& code, Word length) {
  if (!code.bounded) return only_if();
  Word compared = bits(code.a);
  if (chosen_values_.contains(code.a)) {
    const Word zero = unknown_zero();
    compared = fresh();
    line("add.u32 {}, {}, {}", text(compared), text(bits(code.a)), text(zero));
  }
  const std::uint32_t in = fresh_predicate();
  line("setp.lt.u32 %p{}, {}, {}", in, text(compared), text(length));
  if (!only_if_) return fmt::format("@%p{} ", in);
  const std::uint32_t both = fresh_predicate();
  line("and.pred %p{}, %p{}, %p{}", both, in, *only_if_);
  return fmt::format("@%p{} ", both);
}

Emitter::Element Emitter::buffer_element(const Instruction& code) {
  const lower::KernelBuffer& buffer = kernel_.buffers[code.imm];
  VYRE_ASSERT(!buffer.packed);
  std::optional<std::uint32_t>& known = buffers_[code.imm];
  if (!known) known = address_parameter(8 * code.imm);
  const Word index = bits(code.a);
  std::string in = guard(code, code.bounded ? length(code.imm) : literal(0));
  if (const std::uint64_t offset = std::uint64_t{index.number} * buffer.bytes(); index.is_literal && offset <= kMostOffset) {
    return {fmt::format("[%a{}+{}]", *known, offset), std::move(in)};
  }
  const std::uint32_t address = fresh_address();
  line("mad.wide.u32 %a{}, {}, {}, %a{}", address, text(index), buffer.bytes(), *known);
  return {fmt::format("[%a{}]", address), std::move(in)};
}

// The element of a shared or a private array.
Emitter::Element Emitter::array_element(const Instruction& code) {
  const bool shared = is_of_shared(code);
  const std::uint32_t lanes = shared ? kernel_.shared[code.imm].lanes : kernel_.privates[code.imm].lanes;
  const std::uint32_t count = shared ? kernel_.shared[code.imm].count : kernel_.privates[code.imm].count;
  const std::uint64_t begin = shared ? shared_[code.imm] : privates_[code.imm];
  const std::string_view block = shared ? "workgroup_memory" : "private_memory";
  const Word index = bits(code.a);
  std::string in = guard(code, literal(count));
  if (const std::uint64_t offset = begin + std::uint64_t{4} * lanes * index.number; index.is_literal && offset <= kMostOffset) {
    return {fmt::format("[{}+{}]", block, offset), std::move(in)};
  }
  const Word start = base(shared ? shared_base_ : private_base_, block), address = fresh();
  line("mad.lo.u32 {}, {}, {}, {}", text(address), text(index), 4 * lanes, text(start));
  return {fmt::format("[{}+{}]", text(address), begin), std::move(in)};
}

Emitter::Element Emitter::element(const Instruction& code) { return is_of_buffer(code) ? buffer_element(code) : array_element(code); }

void Emitter::load(std::uint32_t at) {
  const Instruction& code = kernel_.code[at];
  const Element from = element(code);
  const Words words = fresh_words(code.lanes);
  if (!from.guard.empty()) {
    for (std::uint32_t lane = 0; lane < code.lanes; ++lane) line("mov.u32 {}, 0", text(words[lane]));
  }
  std::string type = "u32";
  std::string_view space = is_of_private(code) ? "local" : "shared";
  bool others_write = is_of_shared(code);
  if (is_of_buffer(code)) {
    const lower::KernelBuffer& buffer = kernel_.buffers[code.imm];
    others_write = buffer.writable;
    space = buffer.writable ? "global" : "global.nc";
    if (buffer.narrow != 0) type = fmt::format("{}{}", buffer.extend == ir::Extend::Sign ? 's' : 'u', 8 * buffer.narrow);
  }
  const std::string_view order = others_write && uses_.as_index(at) ? "relaxed.cta." : "";
  line("{}ld.{}{}{}.{} {}, {}", from.guard, order, space, vector(code.lanes), type, operand(words, code.lanes), from.address);
  define_bits(at, words);
}

void Emitter::store(const Instruction& code) {
  const Element to = element(code);
  Words words = values_[code.b.index].bits;
  std::uint32_t lanes = 1;
  std::string type = "u32";
  std::string_view space = "global";
  if (is_of_shared(code)) {
    space = "shared";
    lanes = kernel_.shared[code.imm].lanes;
  } else if (is_of_private(code)) {
    space = "local";
    lanes = kernel_.privates[code.imm].lanes;
  } else if (const lower::KernelBuffer& buffer = kernel_.buffers[code.imm]; buffer.narrow != 0) {
    type = fmt::format("u{}", 8 * buffer.narrow);
    if (words[0].is_literal) words[0].number &= (1u << 8 * buffer.narrow) - 1;
  } else {
    lanes = buffer.lanes;
  }
  hide_equal_literals(words, lanes);
  line("{}st.{}{}.{} {}, {}", to.guard, space, vector(lanes), type, to.address, operand(words, lanes));
}

// ptxas 13.0, and that of driver 580, sets the second of two lanes that are the same literal behind the store, if a store in a loop that
// follows has the same vector. So a literal that comes twice is hidden in a sum with a zero that the compiler does not know. Literals 0 are
// stored right.
void Emitter::hide_equal_literals(Words& words, std::uint32_t lanes) {
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const Word shown = words[lane];
    if (!shown.is_literal || shown.number == 0) continue;
    const auto is_same = [&](const Word& each) { return each.is_literal && each.number == shown.number; };
    const std::span<Word> rest = std::span(words).subspan(lane, lanes - lane);
    if (std::ranges::count_if(rest, is_same) == 1) continue;
    const Word zero = unknown_zero(), hidden = fresh();
    line("add.u32 {}, {}, {}", text(hidden), text(zero), shown.number);
    std::ranges::replace_if(rest, is_same, hidden);
  }
}

}  // namespace vyre::ptx
