// The dispatch loop runs the instructions one after the other, each over all lanes of the batch. machine_memory.cpp has the accesses to
// memory, and machine_control.cpp has the execution masks.
#include "vyre/run/cpu/machine.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace vyre::run::cpu {
namespace {

std::size_t whole_groups(std::size_t lanes) { return (lanes + kGroup - 1) / kGroup * kGroup; }

}  // namespace

static_assert(HostMemory::kAlignment % kAlignment == 0);

Words::Words(std::size_t count) : memory_(HostMemory::uninitialised(count * sizeof(Word))) {
  if (memory_.data() == nullptr) throw std::bad_alloc();
  const std::size_t last = std::min(count, kGroup);
  std::fill_n(data() + (count - last), last, Word{0});
}

Machine::Machine(const Code& code, const lower::Kernel& kernel, const Lanes& lanes, std::span<const Memory> buffers, std::size_t capacity,
                 const std::function<bool()>& stop)
    : code_(code),
      lanes_(lanes),
      buffers_(buffers),
      stop_(stop),
      stride_(whole_groups(capacity)),
      vectors_(std::size_t{code.vectors} * stride_),
      // One mask of the lanes that have not returned, and three for each depth of nesting: the active lanes, the lanes that take the Else,
      // and the lanes that go on after the block.
      masks_((1 + kFrameMasks * code.depth) * stride_),
      scalars_(code.scalars) {
  frames_.reserve(code.depth);
  for (const auto& [reg, slot] : code.lengths) scalar(reg) = buffers[slot].length;
  for (const lower::SharedArray& array : kernel.shared) {
    shared_words_.emplace_back(std::size_t{array.lanes} * array.count);
    shared_.push_back({shared_words_.back().data(), array.count, array.lanes, false});
  }
  for (const lower::PrivateArray& array : kernel.privates) {
    private_words_.emplace_back(std::size_t{array.lanes} * array.count * stride_);
    privates_.push_back({private_words_.back().data(), array.count, array.lanes, false});
  }
}

void Machine::count_up(std::uint32_t reg, Word first, std::size_t count) { lanes_.count_up(vector(reg), first, whole_groups(count)); }

void Machine::clear_shared() {
  for (const Memory& array : shared_) std::fill_n(array.words, std::size_t{array.lanes} * array.length, Word{0});
}

void Machine::divide(const Instruction& i, std::size_t lanes) {
  const auto two_words = [&](std::uint32_t reg, std::size_t lane) {
    const Word low = address(reg)[lane * step(reg)], high = address(reg + 1)[lane * step(reg)];
    return std::uint64_t{high} << 32 | low;
  };
  const bool once = is_scalar(i.dest), wants_rest = static_cast<lower::Opcode>(i.function) == lower::Opcode::WideMod;
  Word* const low = once ? &scalar(i.dest) : vector(i.dest);
  Word* const high = once ? &scalar(i.dest + 1) : vector(i.dest + 1);
  for (std::size_t lane = 0; lane < (once ? 1 : lanes); ++lane) {
    // Lanes that are not active may have a divisor of zero.
    const std::uint64_t a = two_words(i.a, lane), b = std::max<std::uint64_t>(two_words(i.b, lane), 1);
    const std::uint64_t result = wants_rest ? a % b : a / b;
    low[lane] = static_cast<Word>(result);
    high[lane] = static_cast<Word>(result >> 32);
  }
}

void Machine::run(const std::size_t lanes) {
  const std::size_t count = whole_groups(lanes);
  const Instruction* const code = code_.instructions.data();
  const Instruction* next = code;
  mask_ = nullptr;
  returns_ = breaks_ = 0;
  frames_.clear();
  for (const Memory& array : privates_) std::fill_n(array.words, std::size_t{array.lanes} * array.length * stride_, Word{0});
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
        scalar(i.dest) = lanes_.one[i.function](scalar(i.a), 0, 0);
        break;
      case Op::Scalar2:
        scalar(i.dest) = lanes_.one[i.function](scalar(i.a), scalar(i.b), 0);
        break;
      case Op::Vector3:
        lanes_.ternary[i.function][i.form](vector(i.dest), vector(i.a), address(i.b), address(i.c), count);
        break;
      case Op::Scalar3:
        scalar(i.dest) = lanes_.one[i.function](scalar(i.a), scalar(i.b), scalar(i.c));
        break;
      case Op::Wide:
        divide(i, lanes);
        break;
      case Op::VectorCopy:
        if (is_scalar(i.a)) {
          lanes_.fill(vector(i.dest), scalar(i.a), count);
        } else {
          std::memcpy(vector(i.dest), vector(i.a), count * sizeof(Word));
        }
        break;
      case Op::Blend:
        if (mask_ == nullptr && is_scalar(i.a)) {
          lanes_.fill(vector(i.dest), scalar(i.a), count);
        } else if (mask_ == nullptr) {
          std::memmove(vector(i.dest), vector(i.a), count * sizeof(Word));
        } else if (is_scalar(i.a)) {
          lanes_.blend_scalar(vector(i.dest), scalar(i.a), mask_, count);
        } else {
          lanes_.blend(vector(i.dest), vector(i.a), mask_, count);
        }
        break;
      case Op::ScalarCopy:
        scalar(i.dest) = scalar(i.a);
        break;
      case Op::Load:
        load(i, buffers_[i.imm], lanes);
        break;
      case Op::LoadShared:
        load(i, shared_[i.imm], lanes);
        break;
      case Op::ScalarLoad:
        load_once(i, buffers_[i.imm]);
        break;
      case Op::ScalarLoadShared:
        load_once(i, shared_[i.imm]);
        break;
      case Op::Store:
        store(i, buffers_[i.imm], lanes);
        break;
      case Op::StoreShared:
        store(i, shared_[i.imm], lanes);
        break;
      case Op::ScalarStore:
        store_once(i, buffers_[i.imm]);
        break;
      case Op::ScalarStoreShared:
        store_once(i, shared_[i.imm]);
        break;
      case Op::LoadPrivate:
        load_private(i, privates_[i.imm], lanes);
        break;
      case Op::StorePrivate:
        store_private(i, privates_[i.imm], lanes);
        break;
      case Op::Atomic:
        atomic(i, buffers_[i.imm], lanes);
        break;
      case Op::AtomicShared:
        atomic(i, shared_[i.imm], lanes);
        break;
      case Op::JumpIfZero:
        if (scalar(i.a) == 0) next = code + i.target;
        break;
      case Op::Jump:
        next = code + i.target;
        break;
      case Op::If:
        if (!enter_if(i, lanes)) next = code + i.target;
        break;
      case Op::Else:
        if (!enter_else()) next = code + i.target;
        break;
      case Op::EndIf:
        if (!leave(lanes)) next = code + i.empty;
        break;
      case Op::UniformLoop:
        scalar(i.dest) = scalar(i.a);
        if (scalar(i.a) >= scalar(i.b)) next = code + i.target;
        break;
      case Op::UniformEndLoop: {
        const Instruction* const body = code + i.target;
        if (!spend(static_cast<std::uint64_t>(next - body), count)) return;
        // The variable was below its bound, so the increment cannot wrap around.
        if (++scalar(i.dest) < scalar(i.b)) next = body;
        break;
      }
      case Op::Loop:
        if (!enter_loop(i, lanes, count)) next = code + i.target;
        break;
      case Op::EndLoop: {
        const Instruction* const body = code + i.target;
        if (!spend(static_cast<std::uint64_t>(next - body), count)) return;
        if (enter_round(i, lanes, count)) {
          next = body;
        } else if (!leave(lanes)) {
          next = code + i.empty;
        }
        break;
      }
      case Op::Return:
        return_active(lanes, count);
        next = code + i.empty;
        break;
      case Op::Break:
        break_active(i, lanes, count);
        next = code + i.empty;
        break;
      case Op::Stop:
        spend(code_.instructions.size(), count);
        return;
    }
  }
}

}  // namespace vyre::run::cpu
