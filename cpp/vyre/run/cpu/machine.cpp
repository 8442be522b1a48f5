#include "vyre/run/cpu/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "vyre/base/assert.hpp"

namespace vyre::run::cpu {
namespace {

using lower::Opcode;

// Other threads may look at the same word: a racy program gets one of the written values, and atomics are atomic.
Word read(const Word* word) { return std::atomic_ref<Word>(*const_cast<Word*>(word)).load(std::memory_order_relaxed); }
void write(Word* word, Word value) { std::atomic_ref<Word>(*word).store(value, std::memory_order_relaxed); }

template <class Choose>
Word replace(std::atomic_ref<Word> word, const Choose& choose) {
  Word old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, choose(old), std::memory_order_relaxed)) {
  }
  return old;
}

Word apply(Opcode op, Word* at, Word b, Word d) {
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
      // Strong; the value found is left in `b`, which is the old value when it succeeds too.
      word.compare_exchange_strong(b, d, kRelaxed);
      return b;
    default:
      VYRE_ASSERT(!"an atomic");
      return 0;
  }
}

std::size_t whole_groups(std::size_t lanes) { return (lanes + kGroup - 1) / kGroup * kGroup; }

}  // namespace

Words::Words(std::size_t count) : storage_(std::make_unique_for_overwrite<Word[]>(count + kGroup)) {
  void* start = storage_.get();
  std::size_t space = (count + kGroup) * sizeof(Word);
  words_ = static_cast<Word*>(std::align(kAlignment, count * sizeof(Word), start, space));
  const std::size_t last = std::min(count, kGroup);
  std::fill_n(words_ + (count - last), last, Word{0});
}

Machine::Machine(const Code& code, const lower::Kernel& kernel, const Lanes& lanes, std::span<const Memory> buffers, std::size_t capacity,
                 const std::function<bool()>& stop)
    : code_(code),
      lanes_(lanes),
      buffers_(buffers),
      stop_(stop),
      stride_(whole_groups(capacity)),
      vectors_(std::size_t{code.vectors} * stride_),
      // Who is alive, and of each depth: who is active, who takes the Else, and who goes on after it.
      masks_((1 + std::size_t{3} * code.depth) * stride_),
      scalars_(code.scalars) {
  frames_.reserve(code.depth);
  for (const auto& [reg, slot] : code.lengths) scalar(reg) = buffers[slot].length;
  for (const lower::SharedArray& array : kernel.shared) {
    shared_words_.emplace_back(std::size_t{array.lanes} * array.count);
    shared_.push_back({shared_words_.back().data(), array.count, array.lanes, false});
  }
}

void Machine::count_up(std::uint32_t reg, Word first, std::size_t count) { lanes_.count_up(vector(reg), first, whole_groups(count)); }

void Machine::clear_shared() {
  for (const Memory& array : shared_) std::fill_n(array.words, std::size_t{array.lanes} * array.length, Word{0});
}

void Machine::run(const std::size_t lanes) {
  const std::size_t count = whole_groups(lanes);
  const Instruction* const code = code_.instructions.data();
  const Instruction* next = code;
  const Word* mask = nullptr;
  Word* const alive = masks_.data();
  std::uint64_t returns = 0;
  std::vector<Frame>& frames = frames_;
  frames.clear();

  const auto vector = [&](std::uint32_t reg) { return vectors_.data() + std::size_t{reg} * stride_; };
  const auto address = [&](std::uint32_t reg) { return is_scalar(reg) ? &scalars_[reg & ~kScalar] : vector(reg); };
  // Lane i of an operand is address(reg)[i * step(reg)].
  const auto step = [](std::uint32_t reg) { return is_scalar(reg) ? std::size_t{0} : std::size_t{1}; };
  const auto scalar_at = [&](std::uint32_t reg) -> Word& { return scalars_[reg & ~kScalar]; };
  const auto active = [&](std::size_t lane) { return mask == nullptr || mask[lane] != 0; };
  enum : std::size_t { kActive, kRest, kAfter };
  const auto frame_mask = [&](std::size_t depth, std::size_t which) { return masks_.data() + (1 + 3 * depth + which) * stride_; };

  // The lanes of a block's surroundings go on, but for those that have returned in it. False when none is left.
  const auto leave = [&] {
    const Frame frame = frames.back();
    frames.pop_back();
    mask = frame.before;
    if (frame.returns == returns) return true;
    Word* const after = frame_mask(frames.size(), kAfter);
    const Any any = mask == nullptr ? lanes_.both(after, alive, alive, lanes) : lanes_.both(after, mask, alive, lanes);
    mask = after;
    return any.some;
  };

  const auto consecutive = [&](const Instruction& i, const Word* index) {
    return i.form == 0 ? lanes_.consecutive(index, lanes) : in_row_[i.form];
  };

  const auto load = [&](const Instruction& i, const Memory& memory, bool checked) {
    const Word* const index = address(i.a);
    const std::size_t index_step = step(i.a);
    const Word bound = checked ? scalar_at(i.c) : 0;
    const bool in_row = mask == nullptr && index_step == 1 && !memory.atomic && consecutive(i, index);
    if (in_row && i.lanes == 1) {
      // Those within come first.
      const std::size_t inside = !checked ? lanes : index[0] >= bound ? 0 : std::min<std::size_t>(lanes, bound - index[0]);
      Word* const dest = vector(i.dest);
      const Word first = index[0];
      if (inside != 0) std::memmove(dest, memory.words + first, inside * sizeof(Word));
      std::fill(dest + inside, dest + lanes, Word{0});
      return;
    }
    for (std::uint32_t k = 0; k < i.lanes; ++k) {
      Word* const dest = vector(i.dest + k);
      const Word* const words = memory.words + k;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (!active(lane)) continue;
        const std::size_t at = index[lane * index_step];
        dest[lane] = !checked || at < bound ? read(words + at * i.lanes) : 0;
      }
    }
  };

  const auto store = [&](const Instruction& i, const Memory& memory, bool checked) {
    const Word* const index = address(i.a);
    const std::size_t index_step = step(i.a), value_step = step(i.b);
    const Word bound = checked ? scalar_at(i.c) : 0;
    if (i.lanes == 1 && mask == nullptr && index_step == 1 && value_step == 1 && !memory.atomic && consecutive(i, index)) {
      const std::size_t inside = !checked ? lanes : index[0] >= bound ? 0 : std::min<std::size_t>(lanes, bound - index[0]);
      if (inside != 0) std::memcpy(memory.words + index[0], vector(i.b), inside * sizeof(Word));
      return;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!active(lane)) continue;
      const std::size_t at = index[lane * index_step];
      if (checked && at >= bound) continue;
      for (std::uint32_t k = 0; k < i.lanes; ++k) write(memory.words + at * i.lanes + k, address(i.b + k)[lane * value_step]);
    }
  };

  const auto atomic = [&](const Instruction& i, bool checked) {
    const Memory& memory = buffers_[i.imm];
    const Word bound = checked ? scalar_at(i.c) : 0;
    const Word *const index = address(i.a), *const b = address(i.b), *const d = address(i.d);
    const std::size_t index_step = step(i.a), b_step = step(i.b), d_step = step(i.d);
    Word* const dest = vector(i.dest);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!active(lane)) continue;
      const std::size_t at = index[lane * index_step];
      dest[lane] = checked && at >= bound ? 0 : apply(i.atomic, memory.words + at, b[lane * b_step], d[lane * d_step]);
    }
  };

  for (;;) {
    const Instruction& i = *next++;
    switch (i.op) {
      case Op::Vector1:
        lanes_.unary[i.function](vector(i.dest), vector(i.a), count);
        break;
      case Op::Vector2:
        lanes_.binary[i.function][i.form](vector(i.dest), address(i.a), address(i.b), count);
        break;
      case Op::Scalar1:
        scalar_at(i.dest) = lanes_.one[i.function](scalar_at(i.a), 0);
        break;
      case Op::Scalar2:
        scalar_at(i.dest) = lanes_.one[i.function](scalar_at(i.a), scalar_at(i.b));
        break;
      case Op::VectorSelect:
        lanes_.select[i.form & 1][i.form >> 1](vector(i.dest), vector(i.a), address(i.b), address(i.c), count);
        break;
      case Op::ScalarSelect:
        scalar_at(i.dest) = scalar_at(i.a) != 0 ? scalar_at(i.b) : scalar_at(i.c);
        break;
      case Op::VectorCopy:
        if (is_scalar(i.a)) {
          lanes_.fill(vector(i.dest), scalar_at(i.a), count);
        } else {
          std::memcpy(vector(i.dest), vector(i.a), count * sizeof(Word));
        }
        break;
      case Op::Blend:
        if (mask == nullptr && is_scalar(i.a)) {
          lanes_.fill(vector(i.dest), scalar_at(i.a), count);
        } else if (mask == nullptr) {
          std::memmove(vector(i.dest), vector(i.a), count * sizeof(Word));
        } else if (is_scalar(i.a)) {
          lanes_.blend_scalar(vector(i.dest), scalar_at(i.a), mask, count);
        } else {
          lanes_.blend(vector(i.dest), vector(i.a), mask, count);
        }
        break;
      case Op::ScalarCopy:
        scalar_at(i.dest) = scalar_at(i.a);
        break;
      case Op::Load:
        load(i, buffers_[i.imm], false);
        break;
      case Op::LoadOrZero:
        load(i, buffers_[i.imm], true);
        break;
      case Op::LoadShared:
        load(i, shared_[i.imm], false);
        break;
      case Op::ScalarLoad:
      case Op::ScalarLoadShared: {
        const Memory& memory = i.op == Op::ScalarLoad ? buffers_[i.imm] : shared_[i.imm];
        const Word* const words = memory.words + std::size_t{scalar_at(i.a)} * i.lanes;
        for (std::uint32_t k = 0; k < i.lanes; ++k) scalar_at(i.dest + k) = read(words + k);
        break;
      }
      case Op::Store:
        store(i, buffers_[i.imm], false);
        break;
      case Op::StoreInRange:
        store(i, buffers_[i.imm], true);
        break;
      case Op::StoreShared:
        store(i, shared_[i.imm], false);
        break;
      case Op::ScalarStore:
      case Op::ScalarStoreShared: {
        const Memory& memory = i.op == Op::ScalarStore ? buffers_[i.imm] : shared_[i.imm];
        Word* const words = memory.words + std::size_t{scalar_at(i.a)} * i.lanes;
        for (std::uint32_t k = 0; k < i.lanes; ++k) write(words + k, scalar_at(i.b + k));
        break;
      }
      case Op::Atomic:
        atomic(i, false);
        break;
      case Op::AtomicInRange:
        atomic(i, true);
        break;
      case Op::JumpIfZero:
        if (scalar_at(i.a) == 0) next = code + i.target;
        break;
      case Op::Jump:
        next = code + i.target;
        break;
      case Op::If: {
        const std::size_t depth = frames.size();
        frames.push_back({mask, returns});
        const Any any = lanes_.split(frame_mask(depth, kActive), frame_mask(depth, kRest), mask, vector(i.a), lanes);
        if (!any.some) {
          frames.back().taken = Frame::Taken::None;
          next = code + i.target;
        } else if (any.all) {
          frames.back().taken = Frame::Taken::All;
        } else {
          mask = frame_mask(depth, kActive);
        }
        break;
      }
      case Op::Else: {
        const Frame& frame = frames.back();
        if (frame.taken == Frame::Taken::All) {
          next = code + i.target;
        } else {
          mask = frame.taken == Frame::Taken::None ? frame.before : frame_mask(frames.size() - 1, kRest);
        }
        break;
      }
      case Op::EndIf:
        if (!leave()) next = code + i.empty;
        break;
      case Op::UniformLoop: {
        scalar_at(i.dest) = scalar_at(i.a);
        if (scalar_at(i.a) >= scalar_at(i.b)) next = code + i.target;
        break;
      }
      case Op::UniformEndLoop: {
        const Instruction* const body = code + i.target;
        if (!spend(static_cast<std::uint64_t>(next - body) * count)) return;
        // Below its bound before, so this cannot wrap around.
        if (++scalar_at(i.dest) < scalar_at(i.b)) next = body;
        break;
      }
      case Op::Loop: {
        const std::size_t depth = frames.size();
        frames.push_back({mask, returns});
        Word* const variable = vector(i.dest);
        if (is_scalar(i.a)) {
          lanes_.fill(variable, scalar_at(i.a), count);
        } else {
          std::memcpy(variable, vector(i.a), count * sizeof(Word));
        }
        Word* const in = frame_mask(depth, kActive);
        const Any any = lanes_.below(in, mask, variable, vector(i.b), lanes);
        if (!any.some) {
          frames.pop_back();
          next = code + i.target;
        } else if (!any.all) {
          mask = in;
        }
        break;
      }
      case Op::EndLoop: {
        const Instruction* const body = code + i.target;
        if (!spend(static_cast<std::uint64_t>(next - body) * count)) return;
        const std::size_t depth = frames.size() - 1;
        Word* const in = frame_mask(depth, kActive);
        if (frames[depth].returns != returns) lanes_.both(in, in, alive, lanes);
        Word* const variable = vector(i.dest);
        const Word one = 1;
        lanes_.binary[static_cast<std::size_t>(Opcode::Add)][static_cast<std::size_t>(Form::VectorScalar)](variable, variable, &one, count);
        // A lane whose variable wraps around left when it was at its bound.
        const Any any = lanes_.below(in, in, variable, vector(i.b), lanes);
        if (any.some) {
          mask = in;
          next = body;
        } else if (!leave()) {
          next = code + i.empty;
        }
        break;
      }
      case Op::Return:
        if (returns == 0) {
          lanes_.fill(alive, ~Word{0}, count);
        }
        ++returns;
        if (mask == nullptr) {
          lanes_.fill(alive, 0, count);
        } else {
          for (std::size_t lane = 0; lane < lanes; ++lane) alive[lane] &= ~mask[lane];
        }
        next = code + i.empty;
        break;
      case Op::Stop:
        spend(code_.instructions.size() * count);
        return;
    }
  }
}

}  // namespace vyre::run::cpu
