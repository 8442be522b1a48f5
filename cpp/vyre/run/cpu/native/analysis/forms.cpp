#include <algorithm>
#include <cstdint>
#include <utility>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyse.hpp"

namespace vyre::run::cpu::native {
namespace {

class FormFinder : KernelReader {
 public:
  FormFinder(const Kernel& kernel, const Analysis& found) : KernelReader(kernel, found.uniformity), found_(found) {}

  std::vector<Form> run() {
    forms_.assign(size_, Form::Word);
    std::vector<std::uint32_t> uses(size_, 0), user(size_, kNone);
    std::vector<bool> conditions(size_, true);
    for_each_use([&](std::uint32_t position, std::uint32_t value) {
      ++uses[value];
      user[value] = position;
      conditions[value] = conditions[value] && is_condition(position, value);
    });
    const std::vector<std::uint32_t> blocks = basic_blocks(kernel_);
    const auto alone = [&](std::uint32_t value) { return uses[value] == 1 && blocks[user[value]] == blocks[value]; };
    find_truths(alone);
    // Users come after what they use, and decide first.
    for (std::uint32_t position = size_; position-- > 0;) {
      if (!found_.is_selected(position) || !varies(position) || uses[position] == 0) continue;
      const bool in_truth = forms_[user[position]] == Form::Folded && combines_truths(user[position]);
      const bool folds = alone(position) && (in_truth || (conditions[position] && varies(at(user[position]).a)));
      if (folds && truths_[position].comparisons != 0) {
        forms_[position] = Form::Folded;
      } else if (conditions[position] && lower::is_comparison(at(position).op)) {
        forms_[position] = Form::Ones;
      }
    }
    return std::move(forms_);
  }

 private:
  bool is_condition(std::uint32_t user, std::uint32_t value) const {
    const Instruction& instruction = at(user);
    if (instruction.op == Opcode::If) return true;
    return instruction.op == Opcode::Select && instruction.a.index == value && instruction.b.index != value && instruction.c.index != value;
  }

  // Finds the values that a condition can be made of without a register for each: comparisons, and And, Or and the negation (Eq with 0) of
  // such values that have no other use.
  template <class Alone>
  void find_truths(const Alone& alone) {
    truths_.assign(size_, {});
    const auto truth = [&](ValueId value) { return alone(value.index) && varies(value) ? truths_[value.index] : Truth{}; };
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Instruction& instruction = at(position);
      if (!found_.is_selected(position) || !varies(position)) continue;
      Truth& made = truths_[position];
      if (instruction.op == Opcode::Eq && is_constant(instruction.b) && at(instruction.b).imm == 0) {
        made = truth(instruction.a);
      } else if (instruction.op == Opcode::And || instruction.op == Opcode::Or) {
        const Truth a = truth(instruction.a), b = truth(instruction.b);
        // The side that needs more masks is made first.
        const bool fits = a.comparisons != 0 && b.comparisons != 0 && std::min(a.masks, b.masks) == 1;
        if (fits && a.comparisons + b.comparisons <= kMostComparisons) made = {a.comparisons + b.comparisons, 2, true};
        continue;
      }
      if (made.comparisons != 0) {
        made.combines = true;
      } else if (lower::is_comparison(instruction.op)) {
        made = {1, 1, false};
      }
    }
  }
  bool combines_truths(std::uint32_t position) const { return truths_[position].combines; }

  template <class Visit>
  void for_each_use(const Visit& visit) const {
    for (std::uint32_t position = 0; position < size_; ++position) {
      for_each_operand(at(position), found_.selected[position], [&](std::uint32_t value) { visit(position, value); });
    }
  }

  const Analysis& found_;
  std::vector<Form> forms_;

  // The most comparisons that the recursion for a condition visits.
  static constexpr int kMostComparisons = 8;
  struct Truth {
    int comparisons = 0;  // how many comparisons the condition combines; 0 if the value is no such condition
    int masks = 0;        // how many masks computing it takes
    bool combines = false;
  };
  std::vector<Truth> truths_;  // by instruction
};

}  // namespace

std::vector<Form> find_forms(const Kernel& kernel, const Analysis& found) { return FormFinder(kernel, found).run(); }

}  // namespace vyre::run::cpu::native
