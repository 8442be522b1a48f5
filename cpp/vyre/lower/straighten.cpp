// A first walk decides which Ifs become selects, inner Ifs before outer ones. A second walk writes the code anew and tracks the known value
// of each variable. A read is replaced by that value, and a write only changes it. For an If that becomes selects, the values of both
// branches are computed and a select chooses between them. The pending writes are emitted where control flow splits or joins.
#include "vyre/lower/straighten.hpp"

#include <algorithm>
#include <utility>

namespace vyre::lower {
namespace {

// The most operations that an If may become: those of both its branches, the selects of inner Ifs, and a select for each variable that it
// writes. A processor spends about as long on a branch.
constexpr std::uint32_t kMostOperations = 8;
constexpr std::uint32_t kTooMany = kMostOperations + 1;

// The cost of executing an operation whose result may be discarded. Memory accesses, barriers and divisions are never executed
// speculatively.
std::uint32_t cost(Opcode op) {
  if (is_of_variable(op) || op == Opcode::Constant) return 0;
  return divides(op) || accesses_memory(op) || has_effect(op) ? kTooMany : 1;
}

class Straightener {
 public:
  Straightener(std::span<const Instruction> code, std::span<const std::uint8_t> variables)
      : code_(code), lanes_(variables), selected_(code.size()), moved_(code.size()), known_(variables.size()) {}

  std::vector<Instruction> run() {
    find_selected();
    made_.reserve(code_.size());
    for (std::uint32_t at = 0; at < code_.size(); ++at) instruction(at);
    flush();
    return std::move(made_);
  }

 private:
  struct Value {
    std::uint32_t variable;
    ValueId value;
  };
  // A short list: a selected If writes few variables.
  using Values = std::vector<Value>;
  static ValueId* find(Values& values, std::uint32_t variable) {
    const auto found = std::ranges::find(values, variable, &Value::variable);
    return found == values.end() ? nullptr : &found->value;
  }
  struct Branch {
    ValueId condition;
    Values then{}, otherwise{};
    bool in_else = false;
    Values& here() { return in_else ? otherwise : then; }
  };
  // The known value of a variable. It is valid only in the stretch of code numbered `stretch`; a new stretch begins at each Loop and
  // EndLoop.
  struct Known {
    ValueId value;
    std::uint32_t stretch = ~0u;
    bool to_write = false;  // whether its WriteVariable is still pending
  };
  struct Change {
    std::uint32_t variable;
    Known before;
    bool written;  // false: the variable was only read
  };
  // An If that is not turned into selects.
  struct Region {
    std::size_t changes;                 // the number of changes made before it
    std::vector<std::uint32_t> written;  // the variables written in a branch that has ended
  };

  // Decides which Ifs become selects. Inner Ifs are decided first, because their operations count towards the enclosing Ifs.
  void find_selected() {
    struct Open {
      std::uint32_t at, operations;
      std::vector<std::uint32_t> written;
    };
    std::vector<Open> open;
    for (std::uint32_t at = 0; at < code_.size(); ++at) {
      const Instruction& it = code_[at];
      switch (it.op) {
        case Opcode::If:
          open.push_back({at, 0, {}});
          break;
        case Opcode::Loop:
          open.push_back({at, kTooMany, {}});
          break;
        case Opcode::Else:
          break;
        case Opcode::EndIf:
        case Opcode::EndLoop: {
          const Open ended = std::move(open.back());
          open.pop_back();
          const auto selects = static_cast<std::uint32_t>(ended.written.size());
          const bool selected = ended.operations + selects <= kMostOperations;
          selected_[ended.at] = selected;
          if (open.empty()) break;
          Open& around = open.back();
          around.operations = selected ? std::min(kTooMany, around.operations + ended.operations + selects) : kTooMany;
          if (around.operations <= kMostOperations) {
            for (const std::uint32_t variable : ended.written) note(around.written, variable);
          }
          break;
        }
        default:
          if (open.empty()) break;
          Open& around = open.back();
          around.operations = std::min(kTooMany, around.operations + cost(it.op));
          if (it.op == Opcode::WriteVariable && around.operations <= kMostOperations) note(around.written, it.imm);
      }
    }
  }
  static void note(std::vector<std::uint32_t>& written, std::uint32_t variable) {
    // The list stops at one more than the limit, which is enough to show that the limit is exceeded.
    if (written.size() <= kMostOperations && std::ranges::find(written, variable) == written.end()) written.push_back(variable);
  }

  void instruction(std::uint32_t at) {
    Instruction it = code_[at];
    for (ValueId* operand : {&it.a, &it.b, &it.c, &it.d}) {
      if (operand->valid() && operand->index < code_.size()) *operand = moved_[operand->index];
    }
    switch (it.op) {
      case Opcode::ReadVariable:
        moved_[at] = read(it.imm);
        return;
      case Opcode::WriteVariable:
        write(it.imm, it.a);
        return;
      case Opcode::If:
        open_.push_back(selected_[at]);
        if (selected_[at]) {
          branches_.push_back({.condition = it.a});
          return;
        }
        flush();
        regions_.push_back({changes_.size(), {}});
        break;
      case Opcode::Else:
        if (open_.back()) {
          branches_.back().in_else = true;
          return;
        }
        flush();
        end_branch();
        break;
      case Opcode::EndIf: {
        const bool selected = open_.back();
        open_.pop_back();
        if (selected) {
          select();
          return;
        }
        flush();
        end_branch();
        const Region ended = std::move(regions_.back());
        regions_.pop_back();
        for (const std::uint32_t variable : ended.written) change(variable, {}, true);
        break;
      }
      case Opcode::Return:
        to_write_.clear();  // the invocation ends, so nothing reads the variables
        break;
      case Opcode::Break:
        flush();
        break;
      case Opcode::Loop:
      case Opcode::EndLoop:
        flush();
        ++stretch_;
        break;
      default:
        break;
    }
    moved_[at] = add(it);
  }

  void change(std::uint32_t variable, Known now, bool written) {
    if (!regions_.empty()) changes_.push_back({variable, known_[variable], written});
    known_[variable] = now;
  }
  // Restores what was known before the branch: values read or written inside it do not hold after it.
  void end_branch() {
    Region& region = regions_.back();
    for (; changes_.size() > region.changes; changes_.pop_back()) {
      const Change& last = changes_.back();
      known_[last.variable] = last.before;
      if (last.written) region.written.push_back(last.variable);
    }
  }

  ValueId add(const Instruction& instruction) {
    made_.push_back(instruction);
    return ValueId{static_cast<std::uint32_t>(made_.size() - 1)};
  }

  ValueId read(std::uint32_t variable) {
    for (auto branch = branches_.rbegin(); branch != branches_.rend(); ++branch) {
      if (const ValueId* value = find(branch->here(), variable)) return *value;
    }
    if (known_[variable].stretch != stretch_) {
      const ValueId value = add({.op = Opcode::ReadVariable, .lanes = lanes_[variable], .imm = variable});
      change(variable, {value, stretch_, false}, false);
    }
    return known_[variable].value;
  }

  void write(std::uint32_t variable, ValueId value) {
    if (!branches_.empty()) {
      Values& here = branches_.back().here();
      if (ValueId* before = find(here, variable)) {
        *before = value;
      } else {
        here.push_back({variable, value});
      }
      return;
    }
    const Known& known = known_[variable];
    if (known.stretch != stretch_ || !known.to_write) to_write_.push_back(variable);
    change(variable, {value, stretch_, true}, true);
  }

  // Ends a selected If: for each variable that a branch wrote, selects between its values at the ends of the two branches.
  void select() {
    Branch branch = std::move(branches_.back());
    branches_.pop_back();
    const auto one = [&](std::uint32_t variable) {
      const ValueId* then = find(branch.then, variable);
      const ValueId* otherwise = find(branch.otherwise, variable);
      const ValueId if_true = then != nullptr ? *then : read(variable);
      const ValueId if_false = otherwise != nullptr ? *otherwise : read(variable);
      if (if_true == if_false) return write(variable, if_true);
      write(variable, add({.op = Opcode::Select, .lanes = lanes_[variable], .a = branch.condition, .b = if_true, .c = if_false}));
    };
    for (const Value& value : branch.then) one(value.variable);
    for (const Value& value : branch.otherwise) {
      if (find(branch.then, value.variable) == nullptr) one(value.variable);
    }
  }

  // Emits the pending writes, because control flow joins or splits here.
  void flush() {
    for (const std::uint32_t variable : to_write_) {
      add({.op = Opcode::WriteVariable, .imm = variable, .a = known_[variable].value});
      known_[variable].to_write = false;
    }
    to_write_.clear();
  }
  const std::span<const Instruction> code_;
  const std::span<const std::uint8_t> lanes_;
  std::vector<bool> selected_;  // by instruction: whether it is an If that becomes selects
  std::vector<ValueId> moved_;
  std::vector<Known> known_;
  std::vector<std::uint32_t> to_write_;
  std::uint32_t stretch_ = 0;
  std::vector<Region> regions_;
  std::vector<Change> changes_;
  std::vector<bool> open_;  // Ifs: whether each is selected
  std::vector<Branch> branches_;
  std::vector<Instruction> made_;
};

}  // namespace

std::vector<Instruction> straighten(std::span<const Instruction> code, std::span<const std::uint8_t> variables) {
  return Straightener(code, variables).run();
}

}  // namespace vyre::lower
