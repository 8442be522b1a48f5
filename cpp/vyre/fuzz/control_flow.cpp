// Generates Ifs, Loops and Blocks, and the Returns and Breaks that leave them.
//
// Each body is written one level deeper. Behind it, the memories have the roles that they had before it, because the code that follows, and
// the next round of a loop around it, rely on them.
#include <algorithm>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/fuzz/generator.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::fuzz {

using ir::BinOp;
using ir::DataType;

void Generator::body(bool uniform, std::uint32_t rounds, const std::function<void()>& write) {
  std::vector<Phase> phases;
  for (const Memory& memory : memory_) phases.push_back(memory.phase);
  const bool outer_uniform = uniform_;
  const std::uint64_t outer_rounds = rounds_;
  uniform_ = alone_ || (uniform_ && uniform);
  rounds_ *= std::max(rounds, 1u);
  open_.push_back(barriers_);
  ++level_;
  ended_ = false;
  write();
  if (!ended_) settle();

  bool changed = false;
  for (std::size_t k = 0; k < phases.size(); ++k) changed |= !(memory_[k].phase == phases[k]);
  if (changed && !ended_) {
    // The code that follows, and the next round of an enclosing loop, rely on the old roles, so a barrier separates the phases.
    VYRE_ASSERT(may_wait());
    writer_.to().barrier();
    ++barriers_;
  }
  for (std::size_t k = 0; k < phases.size(); ++k) memory_[k].phase = phases[k];
  if (changed) drop_fleeting();
  ended_ = false;
  --level_;
  open_.pop_back();
  rounds_ = outer_rounds;
  uniform_ = outer_uniform;
  while (!variables_.empty() && variables_.back().level > level_) {
    retired_.emplace_back(writer_.to().text(variables_.back().name));
    variables_.pop_back();
  }
  std::erase_if(pool_, [&](const Pooled& pooled) { return pooled.level > level_; });
}

void Generator::branch() {
  const bool uniform = uniform_ && random_.chance(45);
  const ExprId choice = uniform ? uniform_value(some_depth()) : condition(some_depth());
  const bool leaves = options_.independent && level_ == 0 && random_.chance(12);
  spend(choice);
  const bool same = writer_.of(choice).uniform;
  writer_.to().if_(choice);
  body(same, 1, [&] {
    if (leaves) {
      writer_.to().return_();
      returned_ = ended_ = true;
      return;
    }
    if (!random_.chance(8)) statements(1 + random_.below(5));
    if (exits_ && !ended_ && !loops_.empty() && level_ < 5 && exit_random_.chance(70)) {
      loop();
      leave_loop();
    }
    if (grows_ && !ended_ && !loops_.empty() && later_random_.chance(30)) leave_loop();
    if (!ended_ && random_.chance(10)) leave();
  });
  if (!leaves && random_.chance(45) && statements_left_ > 0 && left_ > 0) {
    const std::size_t nodes = writer_.to().node_count();
    writer_.to().else_();
    body(same, 1, [&] { statements(1 + random_.below(4)); });
    VYRE_ASSERT(writer_.to().node_count() > nodes + 1);  // an empty Else would vanish, and with it the numbers of later statements
  }
  writer_.to().end();
}

void Generator::loop() {
  const bool uniform = uniform_ && random_.chance(50);
  std::uint32_t rounds = 0;
  ExprId from, to;
  const auto some = [&](int depth) { return uniform ? uniform_value(depth) : value(DataType::U32, depth); };
  ExprId until;  // of a `while`: the round in which it ends
  std::uint32_t shape = options_.independent && random_.chance(70) ? 0 : random_.below(5);
  constexpr std::uint32_t kWhile = 5;
  if (grows_ && later_random_.chance(15)) shape = kWhile;
  switch (shape) {
    case 0: {  // literals, no round at all among them
      const std::uint32_t first = random_.below(4), count = random_.below(6);
      rounds = count;
      from = writer_.u32(first);
      to = writer_.u32(first + count - (count == 0 ? first / 2 : 0));
      break;
    }
    case 1: {  // at the end of the range
      rounds = 1 + random_.below(3);
      from = writer_.u32(0xFFFFFFFF - rounds);
      to = random_.chance(70) ? writer_.u32(0xFFFFFFFF) : writer_.binary(BinOp::BitOr, some(1), writer_.u32(0x80000000));
      break;
    }
    case 2: {  // as many as a value says
      rounds = 1 + random_.below(6);
      from = writer_.u32(0);
      to = writer_.below(some(2), rounds + 1);
      break;
    }
    case 3: {
      rounds = 7;
      const ExprId low = some(2);
      from = writer_.below(low, 4);
      to = writer_.binary(BinOp::BitAnd, some(2), writer_.u32(7));
      break;
    }
    case kWhile: {  // until a Break
      rounds = 6;
      from = writer_.u32(0);
      to = writer_.u32(0xFFFFFFFF);
      until = writer_.below(some(2), 6);
      break;
    }
    default: {  // an amount after a start
      rounds = 1 + random_.below(4);
      from = some(2);
      to = writer_.add(from, writer_.u32(rounds));
    }
  }
  spend(from);
  spend(to);
  const bool same = writer_.of(from).uniform && writer_.of(to).uniform;
  // By a `while` that ends at different rounds, or by a Break under a divergent condition, only some invocations leave the loop.
  using Breaks = OpenLoop::Breaks;
  Breaks breaks = !grows_ || later_random_.chance(50) ? Breaks::None : later_random_.chance(50) ? Breaks::OfAll : Breaks::OfSome;
  if (exits_ || (until.valid() && !writer_.of(until).uniform)) breaks = Breaks::OfSome;
  const NameId name = writer_.to().name(fresh_name());
  if (until.valid()) {
    // Read anew in each round, it may be another value then.
    spend(until);
    const NameId fixed = writer_.to().name(fresh_name());
    writer_.to().let(fixed, until);
    until = writer_.var(fixed, DataType::U32, writer_.of(until).uniform, true);
  }
  writer_.to().loop(name, from, to);
  body(same && breaks != Breaks::OfSome, rounds, [&] {
    OpenLoop loop{breaks, level_, {}};
    for (const Memory& memory : memory_) loop.phases.push_back(memory.phase);
    loops_.push_back(std::move(loop));
    variables_.push_back({name, DataType::U32, false, same, level_});
    ExprId ends;
    if (until.valid()) {
      ends = writer_.binary(BinOp::Ge, writer_.var(name, DataType::U32, same, true), until);
    } else if (exits_ && exit_random_.chance(60)) {
      spend(ends = condition(2));
    }
    if (ends.valid()) {
      writer_.to().if_(ends);
      writer_.to().break_();
      writer_.to().end();
    }
    if (!random_.chance(4)) statements(1 + random_.below(6));
    loops_.pop_back();
  });
  writer_.to().end();
}

// Leaves the innermost loop, mostly from within an If.
bool Generator::leave_loop() {
  if (loops_.empty()) return false;
  const OpenLoop& loop = loops_.back();
  if (loop.breaks == OpenLoop::Breaks::None || (loop.breaks == OpenLoop::Breaks::OfAll && !uniform_)) return false;
  if (level_ == loop.level && !later_random_.chance(10)) return false;
  for (std::size_t k = 0; k < memory_.size(); ++k) {
    if (!(memory_[k].phase == loop.phases[k])) return false;
  }
  writer_.to().break_();
  ended_ = true;
  return true;
}

void Generator::block() {
  writer_.to().block();
  body(true, 1, [&] { statements(random_.below(5)); });
  writer_.to().end();
}

bool Generator::leave() {
  if (!may_return_ || level_ == 0 || (options_.independent && !random_.chance(10))) return false;
  const bool same = uniform_;
  if (!same && !open_.empty() && open_.front() != barriers_) return false;  // a barrier of an open body would come after it
  if (same && !alone_ && random_.chance(50)) return false;
  writer_.to().return_();
  ended_ = true;
  if (!same) returned_ = true;
  return true;
}

}  // namespace vyre::fuzz
