#include "vyre/run/reference/doubts.hpp"

#include <algorithm>
#include <utility>

#include "vyre/ir/ops.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre::run::reference {
namespace {

constexpr std::size_t kUnary = ir::kBinOps.size(), kTernary = kUnary + ir::kUnOps.size(), kCasts = kTernary + ir::kTernOps.size();

bool gives_truth(std::size_t code) {
  if (code < kUnary) return (info(static_cast<ir::BinOp>(code)).laws & ir::kTruth) != 0;
  return code < kTernary && (info(static_cast<ir::UnOp>(code - kUnary)).laws & ir::kTruth) != 0;
}

// The slots of what an access reads or writes. The `lanes` of a narrow one are bytes.
std::uint32_t slots_of(const Instruction& i) { return i.code == Opcode::LoadLanes || i.code == Opcode::StoreLanes ? i.lanes : 1; }

}  // namespace

void Doubts::begin(const Instruction& i, const Doubt& doubt) {
  for (Slot lane = 0; lane < slots_of(i); ++lane) {
    marks_.push_back({i.dest + lane, i.code == Opcode::LoadBool, doubt});
  }
}

bool Doubts::is_marked(Slot slot) const {
  return std::ranges::any_of(marks_, [slot](const Mark& mark) { return mark.slot == slot; });
}

// Whether the other side alone decides about an "and" or an "or": it is the same for every value that the doubtful side may have.
bool Doubts::is_decided(const Instruction& i, const std::uint32_t* slots) const {
  const auto op = static_cast<ir::BinOp>(i.code);
  if (op != ir::BinOp::And && op != ir::BinOp::Or && op != ir::BinOp::BitAnd && op != ir::BinOp::BitOr) return false;
  const bool is_left = is_marked(i.a);
  if (is_left && is_marked(i.b)) return false;
  const std::uint32_t other = slots[is_left ? i.b : i.a];
  const Slot doubtful = is_left ? i.a : i.b;
  const bool truth = std::ranges::all_of(marks_, [doubtful](const Mark& mark) { return mark.slot != doubtful || mark.truth; });
  return ir::evaluate(op, other, 0) == ir::evaluate(op, other, truth ? 1 : ~std::uint32_t{0});
}

// Several loads of one statement count as one, so that a sum in a loop does not keep all of them.
void Doubts::derive(Slot slot, std::uint32_t lanes) {
  for (const Mark& mark : marks_) {
    const bool concerns = mark.slot - slot < lanes;
    const auto is_same = [&mark](const Mark& other) { return other.doubt.site == mark.doubt.site; };
    if (concerns && std::ranges::none_of(derived_, is_same)) derived_.push_back(mark);
  }
}

void Doubts::give(Slot slot, std::uint32_t lanes, bool truth) {
  std::erase_if(marks_, [&](const Mark& mark) { return mark.slot - slot < lanes; });
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (const Mark& mark : derived_) marks_.push_back({slot + lane, truth, mark.doubt});
  }
}

void Doubts::use(Slot slot, std::uint32_t lanes, bool in_operation) {
  derived_.clear();
  derive(slot, lanes);
  if (in_operation) {
    derive(kBranches, 1);
    return give(kBranches, 1, false);
  }
  for (const Mark& mark : derived_) {
    used_.push_back(mark.doubt);
    std::erase_if(marks_, [&](const Mark& other) { return other.doubt.site == mark.doubt.site && other.doubt.index == mark.doubt.index; });
  }
}

void Doubts::compute(const Instruction& i, const std::uint32_t* slots) {
  const auto code = static_cast<std::size_t>(i.code);
  if (code < kUnary) {
    if ((is_marked(i.a) || is_marked(i.b)) && !is_decided(i, slots)) {
      derive(i.a, 1);
      derive(i.b, 1);
    }
  } else if (code < kTernary) {
    derive(i.a, 1);
  } else if (code < kCasts) {
    derive(i.a, 1);
    derive(slots[i.a] != 0 ? i.b : i.c, 1);
  } else {
    derive(i.a, i.b);
  }
  give(i.dest, i.lanes, gives_truth(code));
}

// Each lane of the result depends on the condition, if there is one, and on what `ended` names.
void Doubts::copy(const Instruction& i, Slot from, const Slot* condition, bool ended) {
  for (std::uint32_t lane = 0; lane < i.lanes; ++lane) {
    derived_.clear();
    if (condition != nullptr) derive(*condition, 1);
    if (ended) derive(kBranches, 1);
    derive(from + lane, 1);
    give(i.dest + lane, 1, std::ranges::all_of(derived_, &Mark::truth));
  }
  if (ended) std::erase_if(marks_, [](const Mark& mark) { return mark.slot == kBranches; });
}

const std::vector<Doubt>& Doubts::follow(const Instruction& i, const std::uint32_t* slots, bool acts, bool in_operation) {
  used_.clear();
  derived_.clear();
  const bool ended = std::exchange(left_, false);
  switch (i.code) {
    case Opcode::Copy:
    case Opcode::CopyLanes:
      copy(i, i.a, nullptr, ended);
      break;
    case Opcode::SelectLanes:
      copy(i, slots[i.a] != 0 ? i.b : i.c, &i.a, false);
      break;
    case Opcode::Load:
    case Opcode::LoadLanes:
    case Opcode::LoadBool:
    case Opcode::LoadNarrow:  // its element depends on the index, which is used where the element is
      derive(i.a, 1);
      give(i.dest, slots_of(i), false);
      break;
    case Opcode::Store:
    case Opcode::StoreLanes:
    case Opcode::StoreNarrow:
      use(i.a, 1, false);
      if (acts) use(i.c, slots_of(i), false);
      break;
    case Opcode::Atomic:
      use(i.a, 1, false);
      if (acts) use(i.c, 1, false);
      if (acts) use(i.d, 1, false);
      derived_.clear();
      give(i.dest, 1, false);
      break;
    case Opcode::JumpIfZero:
      use(i.a, 1, in_operation);
      break;
    case Opcode::EnterLoop:
      use(i.a, 1, in_operation);
      use(i.b, 1, in_operation);
      break;
    case Opcode::Leave:
      left_ = true;
      break;
    case Opcode::Jump:
    case Opcode::NextRound:
    case Opcode::Call:
    case Opcode::Barrier:
    case Opcode::End:
      break;
    default:
      compute(i, slots);
  }
  return used_;
}

}  // namespace vyre::run::reference
