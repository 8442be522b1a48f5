// Walks over the instructions once. In front of each instruction with an effect it emits the values that the instruction uses, operands
// before users, and all loads that are not yet emitted. Where control flow splits or joins, it emits all remaining values.
#include "vyre/lower/settle.hpp"

namespace vyre::lower {
namespace {

// A load must stay in front of the next instruction with an effect. That instruction may write to the same memory, and devices overlap
// more loads when no store stands between them.
bool reads(Opcode op) { return op == Opcode::LoadBuffer || op == Opcode::LoadShared || op == Opcode::LoadPrivate; }

class Settler {
 public:
  explicit Settler(std::span<const Instruction> code) : code_(code), moved_(code.size()) { made_.reserve(code.size()); }

  std::vector<Instruction> run() {
    for (std::uint32_t at = 0; at < code_.size(); ++at) {
      const Opcode op = code_[at].op;
      if (op == Opcode::ReadVariable) {
        make(at);
        continue;
      }
      if (!has_effect(op)) {
        values_.push_back(at);
        if (reads(op)) reads_.push_back(at);
        continue;
      }
      // A guarded atomic writes a variable and then opens an If. So that the two stay together, the operands of an If after a run of
      // WriteVariables are emitted in front of the run.
      std::uint32_t last = at;
      while (code_[last].op == Opcode::WriteVariable && last + 1 < code_.size()) ++last;
      if (code_[last].op == Opcode::If && code_[last].a.index < at) make_operands(last);
      make_operands(at);
      for (const std::uint32_t value : jumps(op) ? values_ : reads_) make(value);
      reads_.clear();
      if (jumps(op)) values_.clear();
      add(at);
    }
    for (const std::uint32_t value : values_) make(value);
    return std::move(made_);
  }

 private:
  void make_operands(std::uint32_t at) {
    for (const ValueId operand : code_[at].operands()) {
      if (operand.valid() && operand.index < code_.size()) make(operand.index);
    }
  }

  // Emits a value after all of its operands.
  void make(std::uint32_t root) {
    if (moved_[root].valid()) return;
    open_.push_back(root);
    while (!open_.empty()) {
      const std::uint32_t at = open_.back();
      const std::size_t before = open_.size();
      if (!moved_[at].valid()) {
        // The first operand lies on top.
        const auto wanted = code_[at].operands();
        for (auto operand = wanted.rbegin(); operand != wanted.rend(); ++operand) {
          if (operand->valid() && operand->index < code_.size() && !moved_[operand->index].valid()) open_.push_back(operand->index);
        }
        if (open_.size() > before) continue;
        add(at);
      }
      open_.pop_back();
    }
  }

  void add(std::uint32_t at) {
    Instruction it = code_[at];
    for (ValueId* operand : {&it.a, &it.b, &it.c, &it.d}) {
      if (operand->valid() && operand->index < code_.size()) *operand = moved_[operand->index];
    }
    moved_[at] = ValueId{static_cast<std::uint32_t>(made_.size())};
    made_.push_back(it);
  }

  const std::span<const Instruction> code_;
  std::vector<ValueId> moved_;
  std::vector<std::uint32_t> values_, reads_, open_;  // values_ and reads_: seen since last cleared; some may be emitted already
  std::vector<Instruction> made_;
};

}  // namespace

std::vector<Instruction> settle(std::span<const Instruction> code) { return Settler(code).run(); }

}  // namespace vyre::lower
