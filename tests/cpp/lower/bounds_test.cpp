// Random code is written by a Writer and then run: at every place where a range was asked for, it contains the value that is there, and
// what the writer gives in place of an instruction has its value.
#include "vyre/lower/bounds.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "support/lanewise.hpp"
#include "vyre/lower/accesses.hpp"
#include "vyre/lower/writer.hpp"

namespace vyre {
namespace {

using lower::LoopChange;
using lower::Opcode;
using lower::Range;
using lower::ValueId;
using lower::Writer;

constexpr std::uint32_t kVariables = 3;

// What the run does: a value is computed, or what was asked for is checked.
struct Event {
  ValueId id;
  std::optional<Range> expected{};
  std::optional<lower::Instruction> meant{};  // what the writer took the value for
};

class RandomCode {
 public:
  RandomCode(std::uint32_t seed, lower::Order order) : random_(seed), writer_({4, 8, 1}, {.order = order}) {
    writer_.bounds().enable();
    for (std::uint32_t axis = 0; axis < 2; ++axis) {
      known_.push_back(writer_.leaf({.op = Opcode::LocalId, .lanes = 1, .imm = axis}));
      known_.push_back(writer_.leaf({.op = Opcode::InvocationId, .lanes = 1, .imm = axis}));
    }
    for (std::uint32_t variable = 0; variable < kVariables; ++variable) {
      writer_.variable(1);
      write(variable, writer_.constant(below(40)));
    }
    // Only now, because a value may read any of the variables.
    for (std::uint32_t variable = 0; variable < kVariables; ++variable) write(variable, value());
    statements(4);
  }

  // Runs it for one invocation; gives the number of ranges that were checked.
  void run(std::uint32_t x, std::uint32_t y, std::uint64_t& checked) {
    inputs_ = {x % 4, x, y % 8, y};
    values_.assign(next_ + 1, 0);
    rounds_ = 0;
    std::vector<Open> open;
    for (std::size_t at = 0; at < events_.size(); ++at) {
      const Event& event = events_[at];
      if (event.expected) {
        const std::uint32_t found = operand(event.id);
        ASSERT_TRUE(event.expected->contains(found)) << found << " is not in [" << event.expected->least << ", " << event.expected->greatest
                                                     << "] with bits " << event.expected->ones << ", event " << at;
        checked += *event.expected != Range{};
        continue;
      }
      if (event.meant) {
        const std::optional<std::uint32_t> wanted = result(*event.meant);
        if (!wanted) return;
        ASSERT_EQ(operand(event.id), *wanted) << "event " << at;
        continue;
      }
      const lower::Instruction& it = writer_.at(event.id);
      switch (it.op) {
        case Opcode::If:
          open.push_back({at, false, 0, 0});
          if (operand(it.a) == 0) {
            at = skip(at, true);
            if (writer_.at(events_[at].id).op == Opcode::EndIf) open.pop_back();
          }
          break;
        case Opcode::Else:
          at = skip(at, false) - 1;
          break;
        case Opcode::EndIf:
          open.pop_back();
          break;
        case Opcode::Loop:
          open.push_back({at, true, operand(it.a), operand(it.b)});
          if (operand(it.a) >= operand(it.b)) {
            at = skip(at, false) - 1;
            open.back().next = open.back().end = 0;
          } else {
            values_[event.id.index] = open.back().next;
          }
          break;
        case Opcode::EndLoop:
          if (++open.back().next < open.back().end && ++rounds_ % 5 != 0 && rounds_ < 200) {
            at = open.back().at;
            values_[events_[at].id.index] = open.back().next;
          } else {
            open.pop_back();
          }
          break;
        case Opcode::Return:
          return;
        case Opcode::Break:
          while (!open.back().is_loop) open.pop_back();
          at = skip(open.back().at, false);
          open.pop_back();
          break;
        case Opcode::WriteVariable:
          variables_[it.imm] = operand(it.a);
          break;
        case Opcode::ReadVariable:
          values_[event.id.index] = variables_[it.imm];
          break;
        default: {
          const std::optional<std::uint32_t> made = result(it);
          if (!made) return;
          values_[event.id.index] = *made;
        }
      }
    }
  }

 private:
  struct Open {
    std::size_t at;
    bool is_loop;
    std::uint32_t next, end;
  };

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  // The event at which the construct that begins at `from` ends, or its Else.
  std::size_t skip(std::size_t from, bool to_else) const {
    std::size_t depth = 0;
    for (std::size_t at = from + 1;; ++at) {
      if (events_[at].expected || events_[at].meant) continue;
      const Opcode op = writer_.at(events_[at].id).op;
      if (depth == 0 && (op == Opcode::EndIf || op == Opcode::EndLoop || (to_else && op == Opcode::Else))) return at;
      if (op == Opcode::If || op == Opcode::Loop) ++depth;
      if (op == Opcode::EndIf || op == Opcode::EndLoop) --depth;
    }
  }

  std::uint32_t operand(ValueId id) const {
    const lower::Instruction& it = writer_.at(id);
    switch (it.op) {
      case Opcode::Constant:
        return it.imm;
      case Opcode::LocalId:
        return inputs_[2 * it.imm];
      case Opcode::InvocationId:
        return inputs_[2 * it.imm + 1];
      default:
        return values_[id.index];
    }
  }

  // Nothing for operands that the opcode is not defined for, which ends the run.
  std::optional<std::uint32_t> result(const lower::Instruction& it) const {
    const std::uint32_t a = operand(it.a), b = it.b.valid() ? operand(it.b) : 0;
    if (it.op == Opcode::Select) return a != 0 ? b : operand(it.c);
    return test::is_defined(it.op, a, b) ? std::optional(test::lanewise(it.op, a, b)) : std::nullopt;
  }

  ValueId add(const lower::Instruction& instruction) {
    const ValueId id = writer_.add(instruction);
    if (!lower::is_leaf(id) && (events_.empty() || id.index >= next_)) {
      events_.push_back({id});
      next_ = id.index + 1;
    } else if (lower::is_lanewise(instruction.op) || instruction.op == Opcode::Select) {
      events_.push_back({.id = id, .meant = instruction});
    }
    return id;
  }
  void write(std::uint32_t variable, ValueId value) { add({.op = Opcode::WriteVariable, .imm = variable, .a = value}); }

  // Constants, values that are known here, and variables.
  ValueId some() {
    switch (below(8)) {
      case 0:
        return writer_.constant(below(40));
      case 1:
        return writer_.constant(~0u - below(8));
      case 2:
      case 3:
        return add({.op = Opcode::ReadVariable, .lanes = 1, .imm = below(kVariables)});
      default:
        return known_[below(static_cast<std::uint32_t>(known_.size()))];
    }
  }

  ValueId value() {
    static constexpr Opcode kOps[] = {Opcode::Add, Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::And, Opcode::Or,    Opcode::Xor,
                                      Opcode::Shl, Opcode::Shr, Opcode::Mod, Opcode::Div, Opcode::Min, Opcode::Max,   Opcode::Not,
                                      Opcode::Lt,  Opcode::Le,  Opcode::Eq,  Opcode::Ne,  Opcode::Neg, Opcode::Select};
    const Opcode op = kOps[below(std::size(kOps))];
    const ValueId a = some();
    ValueId result;
    if (op == Opcode::Select) {
      result = add({.op = op, .lanes = 1, .a = condition(), .b = a, .c = some()});
    } else if (op == Opcode::Not || op == Opcode::Neg) {
      result = add({.op = op, .lanes = 1, .a = a});
    } else {
      const ValueId b = op == Opcode::Shl || op == Opcode::Shr   ? writer_.constant(below(32))
                        : op == Opcode::Mod || op == Opcode::Div ? writer_.constant(1 + below(40))
                                                                 : some();
      result = add({.op = op, .lanes = 1, .a = a, .b = b});
    }
    known_.push_back(result);
    return result;
  }

  ValueId condition() {
    static constexpr Opcode kOps[] = {Opcode::Lt, Opcode::Le, Opcode::Eq, Opcode::Ne};
    const auto comparison = [&] { return add({.op = kOps[below(4)], .lanes = 1, .a = some(), .b = some()}); };
    const ValueId first = comparison();
    switch (below(5)) {
      case 0:
        return add({.op = Opcode::And, .lanes = 1, .a = first, .b = comparison()});
      case 1:
        return add({.op = Opcode::Or, .lanes = 1, .a = first, .b = comparison()});
      case 2:
        return add({.op = Opcode::Eq, .lanes = 1, .a = first, .b = writer_.constant(0)});
      default:
        return first;
    }
  }

  void ask() {
    const ValueId id = some();
    const Range before = writer_.bounds().range(id);
    events_.push_back({id, before});
    const Range now = writer_.bounds().range_now(id);
    events_.push_back({id, now});
    // What is asked for is remembered until the end of the region, for everything that was asked for on the way.
    for (const ValueId known : known_) events_.push_back({known, writer_.bounds().range(known)});
  }

  // Statements up to the end of the region; true when the last one leaves it.
  bool statements(std::uint32_t depth) {
    const std::uint32_t count = 2 + below(4);
    for (std::uint32_t statement = 0; statement < count; ++statement) {
      switch (below(depth == 0 ? 4 : 8)) {
        case 0:
        case 1:
          shrink_or_write();
          break;
        case 2:
          value();
          ask();
          break;
        case 3:
          ask();
          break;
        case 4:
        case 5:
        case 6:
          if (branch(depth - 1)) return true;
          break;
        default:
          loop(depth - 1);
      }
    }
    ask();
    if (depth == 4 || below(6) != 0) return false;
    add({.op = loops_ > 0 && below(3) != 0 ? Opcode::Break : Opcode::Return});
    return true;
  }

  // Variables that are written in a loop with a ceiling keep to it: the only writes there are of this kind.
  void shrink_or_write() {
    const std::uint32_t variable = below(kVariables);
    if (variable != 0 || below(2) == 0) return write(variable, variable == 0 ? writer_.constant(below(50)) : value());
    const ValueId before = add({.op = Opcode::ReadVariable, .lanes = 1, .imm = 0});
    write(0, add({.op = Opcode::Shr, .lanes = 1, .a = before, .b = writer_.constant(below(3))}));
  }

  bool branch(std::uint32_t depth) {
    const ValueId tested = condition();
    add({.op = Opcode::If, .a = tested});
    writer_.open_region();
    const std::size_t assumptions = writer_.assumptions(), known = known_.size();
    lower::assume(writer_, tested);
    const bool then_ends = statements(depth);
    known_.resize(known);
    bool else_ends = false;
    if (below(2) == 0) {
      add({.op = Opcode::Else});
      writer_.next_branch();
      writer_.forget_assumptions(assumptions);
      lower::assume_not(writer_, tested);
      else_ends = statements(depth);
      known_.resize(known);
    }
    add({.op = Opcode::EndIf});
    writer_.close_region();
    writer_.forget_assumptions(assumptions);
    if (then_ends && !else_ends) lower::assume_not(writer_, tested);
    if (else_ends && !then_ends) lower::assume(writer_, tested);
    return then_ends && else_ends;
  }

  void loop(std::uint32_t depth) {
    const ValueId variable = add({.op = Opcode::Loop, .lanes = 1, .a = some(), .b = some()});
    writer_.open_region();
    const std::size_t assumptions = writer_.assumptions(), known = known_.size();
    const LoopChange changes[] = {{0, 50}, {1, {}}, {2, {}}};
    writer_.bounds().changes_in_loop(changes);
    known_.push_back(variable);
    ++loops_;
    statements(depth);
    --loops_;
    known_.resize(known);
    add({.op = Opcode::EndLoop});
    writer_.close_region();
    writer_.forget_assumptions(assumptions);
  }

  std::mt19937 random_;
  Writer writer_;
  std::vector<ValueId> known_;  // values that may be used here
  std::vector<Event> events_;
  std::uint32_t loops_ = 0, next_ = 0;
  std::array<std::uint32_t, 4> inputs_{};
  std::array<std::uint32_t, kVariables> variables_{};
  std::vector<std::uint32_t> values_;
  std::uint64_t rounds_ = 0;
};

void check(lower::Order order) {
  std::uint64_t checked = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomCode code(seed, order);
    for (const std::uint32_t x : {0u, 1u, 3u, 7u, 40u, 0x8000'0000u, ~0u}) {
      for (const std::uint32_t y : {0u, 2u, 31u, 0x7FFF'FFFEu}) {
        code.run(x, y, checked);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(checked, 1'000'000u);
}

TEST(Bounds, contain_every_value_of_random_code) { check(lower::Order::Canonical); }
TEST(Bounds, contain_every_value_of_random_code_in_the_order_of_the_program) { check(lower::Order::AsWritten); }

}  // namespace
}  // namespace vyre
