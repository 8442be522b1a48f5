// From a kernel to code over registers, in four walks over its instructions: what is the same in all lanes, which instructions
// become one, how long every value lives, and then the code.
#include "vyre/run/cpu/compile.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "vyre/base/assert.hpp"

namespace vyre::run::cpu {
namespace {

using lower::Kernel;
using lower::Opcode;
using lower::ValueId;
using KernelInstruction = lower::Instruction;

constexpr std::uint32_t kNone = ~0u;

// What became of an instruction of the kernel.
enum class Fate : std::uint8_t {
  Kept,
  Gone,           // nobody needs it, or another one does its work
  Same,           // as value a
  Rotate,         // value a by b
  LoadOrZero,     // index a, length b
  StoreInRange,   // index a, value b, length c
  AtomicInRange,  // index a, value b, length c, and the operands of `atomic`
};

struct Item {
  Fate fate = Fate::Kept;
  std::uint32_t a = kNone, b = kNone, c = kNone, d = kNone;
  std::uint32_t atomic = kNone;  // instruction
};

class Compiler {
 public:
  explicit Compiler(const Kernel& kernel) : kernel_(kernel), code_(kernel.code), items_(code_.size()) {
    result_.whole_workgroups =
        !kernel.shared.empty() || std::any_of(code_.begin(), code_.end(), [](const auto& i) { return i.op == Opcode::Barrier; });
  }

  Code run() {
    find_varying();
    fuse();
    remove_unused();
    find_lives();
    emit();
    return std::move(result_);
  }

 private:
  std::uint32_t size() const { return static_cast<std::uint32_t>(code_.size()); }
  const KernelInstruction& at(std::uint32_t value) const { return code_[value]; }
  bool is(std::uint32_t value, Opcode op) const { return value != kNone && at(value).op == op; }
  std::optional<Word> constant(std::uint32_t value) const {
    if (!is(value, Opcode::Constant)) return std::nullopt;
    return at(value).imm;
  }
  bool is_zero(std::uint32_t value) const {
    if (is(value, Opcode::Pack)) {
      for (const ValueId part : {at(value).a, at(value).b, at(value).c, at(value).d}) {
        if (part.valid() && constant(part.index) != 0u) return false;
      }
      return true;
    }
    return constant(value) == 0u;
  }

  // --- What differs between lanes ---

  bool leaf_varies(const KernelInstruction& instruction) const {
    switch (instruction.op) {
      case Opcode::WorkgroupId:
        return !result_.whole_workgroups;
      case Opcode::LocalId:
        return kernel_.workgroup_size[instruction.imm] != 1;
      case Opcode::InvocationId:
        return !result_.whole_workgroups || kernel_.workgroup_size[instruction.imm] != 1;
      default:
        return false;
    }
  }

  void find_varying() {
    varying_.assign(size(), false);
    divergent_.assign(size(), false);
    variable_varies_.assign(kernel_.variables.size(), false);
    // A variable that varies may make another vary. A program made for it needs many rounds: then all are taken to vary.
    constexpr int kMaxRounds = 6;
    for (int round = 0; mark_varying(); ++round) {
      if (round == kMaxRounds) std::fill(variable_varies_.begin(), variable_varies_.end(), true);
    }
  }

  bool mark_varying() {
    bool changed = false;
    std::vector<bool> parts{false};  // of each open block: whether lanes may have parted
    for (std::uint32_t position = 0; position < size(); ++position) {
      const KernelInstruction& instruction = at(position);
      const auto varies = [&](ValueId value) { return value.valid() && varying_[value.index]; };
      bool any = varies(instruction.a) || varies(instruction.b) || varies(instruction.c) || varies(instruction.d);
      switch (instruction.op) {
        case Opcode::ReadVariable:
          any = variable_varies_[instruction.imm];
          break;
        case Opcode::WriteVariable:
          if ((any || parts.back()) && !variable_varies_[instruction.imm]) variable_varies_[instruction.imm] = changed = true;
          break;
        case Opcode::If:
        case Opcode::Loop:
          parts.push_back(parts.back() || any);
          break;
        case Opcode::EndIf:
        case Opcode::EndLoop:
          parts.pop_back();
          break;
        default:
          any = any || lower::is_atomic(instruction.op) || leaf_varies(instruction);
      }
      varying_[position] = any;
      divergent_[position] = parts.back();
    }
    return changed;
  }

  // --- Several instructions into one ---

  void fuse() {
    count_uses();
    for (std::uint32_t position = 0; position < size(); ++position) {
      if (items_[position].fate != Fate::Kept) continue;
      switch (at(position).op) {
        case Opcode::Or:
          fuse_rotate(position);
          break;
        case Opcode::Select:
          fuse_load(position);
          break;
        case Opcode::If:
          fuse_store(position);
          break;
        case Opcode::WriteVariable:
          fuse_atomic(position);
          break;
        default:
          break;
      }
    }
  }

  void count_uses() {
    variable_uses_.assign(kernel_.variables.size(), 0);
    raw_uses_.assign(size(), 0);
    for (std::uint32_t position = 0; position < size(); ++position) {
      const Opcode op = at(position).op;
      if (op == Opcode::ReadVariable || op == Opcode::WriteVariable) ++variable_uses_[at(position).imm];
      each_operand(position, [&](std::uint32_t value) { ++raw_uses_[value]; });
    }
  }

  // a << n | a >> (32 - n), either way round, as lower/guards.cpp writes rotations.
  void fuse_rotate(std::uint32_t position) {
    if (!varying_[position]) return;
    std::uint32_t left = at(position).a.index, right = at(position).b.index;
    if (is(left, Opcode::Shr)) std::swap(left, right);
    if (!is(left, Opcode::Shl) || !is(right, Opcode::Shr) || at(left).a != at(right).a) return;
    const std::uint32_t by = at(left).b.index, rest = at(right).b.index;
    const auto negates = [&](std::uint32_t value, std::uint32_t other) {
      if (!is(value, Opcode::And) || constant(at(value).b.index) != 31u || !is(at(value).a.index, Opcode::Neg)) return false;
      return at(at(value).a.index).a.index == other;
    };
    const auto by_bits = constant(by), rest_bits = constant(rest);
    const bool whole = by_bits && rest_bits && *by_bits + *rest_bits == 32;
    if (!whole && !negates(rest, by) && !negates(by, rest)) return;
    items_[position] = {.fate = Fate::Rotate, .a = at(left).a.index, .b = by};
  }

  // The length that `index` is compared with in `condition`, if it is the same in all lanes and the index is not.
  std::uint32_t bound_of(std::uint32_t condition, std::uint32_t index) const {
    if (!is(condition, Opcode::Lt) || at(condition).a.index != index || !varying_[index] || varying_[at(condition).b.index]) return kNone;
    return at(condition).b.index;
  }

  // in ? buffer[in ? index : 0] : 0.
  void fuse_load(std::uint32_t position) {
    const KernelInstruction& outer = at(position);
    const std::uint32_t load = outer.b.index, condition = outer.a.index;
    if (!is(load, Opcode::LoadBuffer) || items_[load].fate != Fate::Kept || !is_zero(outer.c.index)) return;
    const std::uint32_t safe = at(load).a.index;
    if (!is(safe, Opcode::Select) || at(safe).a.index != condition || constant(at(safe).c.index) != 0u) return;
    const std::uint32_t index = at(safe).b.index, length = bound_of(condition, index);
    if (length == kNone) return;
    if (raw_uses_[load] != 1) return;
    items_[load] = {.fate = Fate::LoadOrZero, .a = index, .b = length};
    items_[position] = {.fate = Fate::Same, .a = load};
  }

  // if (index < length) buffer[index] = value;
  void fuse_store(std::uint32_t position) {
    if (position + 2 >= size() || at(position + 1).op != Opcode::StoreBuffer || at(position + 2).op != Opcode::EndIf) return;
    const std::uint32_t index = at(position + 1).a.index, length = bound_of(at(position).a.index, index);
    if (length == kNone) return;
    items_[position].fate = items_[position + 2].fate = Fate::Gone;
    items_[position + 1] = {.fate = Fate::StoreInRange, .a = index, .b = at(position + 1).b.index, .c = length};
  }

  // before = 0; if (index < length) before = atomic; before
  void fuse_atomic(std::uint32_t position) {
    if (position + 5 >= size()) return;
    const std::uint32_t variable = at(position).imm, read = position + 5, atomic = position + 2;
    const auto writes = [&](std::uint32_t other) { return is(other, Opcode::WriteVariable) && at(other).imm == variable; };
    if (!is_zero(at(position).a.index) || at(position + 1).op != Opcode::If || !lower::is_atomic(at(atomic).op) || !writes(position + 3) ||
        at(position + 3).a.index != atomic || at(position + 4).op != Opcode::EndIf || !is(read, Opcode::ReadVariable) ||
        at(read).imm != variable || variable_uses_[variable] != 3) {
      return;
    }
    const KernelInstruction& operation = at(atomic);
    const std::uint32_t length = bound_of(at(position + 1).a.index, operation.a.index);
    if (length == kNone) return;
    for (std::uint32_t gone = position; gone < read; ++gone) items_[gone].fate = Fate::Gone;
    items_[read] = {.fate = Fate::AtomicInRange,
                    .a = operation.a.index,
                    .b = operation.b.index,
                    .c = length,
                    .d = operation.c.valid() ? operation.c.index : kNone,
                    .atomic = atomic};
    varying_[read] = true;
  }

  // --- Who needs what ---

  // What the code of an instruction reads.
  template <class Visit>
  void each_operand(std::uint32_t position, const Visit& visit) const {
    const Item& item = items_[position];
    if (item.fate == Fate::Gone) return;
    if (item.fate == Fate::Kept) {
      for (const ValueId operand : {at(position).a, at(position).b, at(position).c, at(position).d}) {
        if (operand.valid()) visit(operand.index);
      }
      return;
    }
    for (const std::uint32_t operand : {item.a, item.b, item.c, item.d}) {
      if (operand != kNone) visit(operand);
    }
  }
  bool has_effect(std::uint32_t position) const {
    const Fate fate = items_[position].fate;
    return fate == Fate::StoreInRange || fate == Fate::AtomicInRange || (fate == Fate::Kept && lower::has_effect(at(position).op));
  }

  void remove_unused() {
    uses_.assign(size(), 0);
    for (std::uint32_t position = 0; position < size(); ++position) {
      each_operand(position, [&](std::uint32_t value) { ++uses_[value]; });
    }
    for (std::uint32_t position = size(); position-- > 0;) {
      if (uses_[position] != 0 || has_effect(position) || items_[position].fate == Fate::Gone) continue;
      each_operand(position, [&](std::uint32_t value) { --uses_[value]; });
      items_[position].fate = Fate::Gone;
    }
  }

  // --- How long values live ---

  // The value whose registers it lies in.
  std::uint32_t root(std::uint32_t value) const { return roots_[value]; }

  void find_lives() {
    roots_.resize(size());
    last_.resize(size());
    writes_.assign(kernel_.variables.size(), {});
    std::vector<std::uint32_t> loops;
    for (std::uint32_t position = 0; position < size(); ++position) {
      const KernelInstruction& instruction = at(position);
      const Item& item = items_[position];
      roots_[position] = position;
      last_[position] = position;
      if (item.fate == Fate::Same) roots_[position] = root(item.a);
      if (item.fate == Fate::Kept && instruction.op == Opcode::Lane) roots_[position] = root(instruction.a.index);
      if (item.fate == Fate::Kept && instruction.op == Opcode::WriteVariable) writes_[instruction.imm].push_back(position);
      if (instruction.op == Opcode::Loop) loops.push_back(position);
      each_operand(position, [&](std::uint32_t value) {
        // Used again in every round of the loops around the use that are not around the definition. The bounds of a loop, too.
        std::uint32_t until = position;
        const auto outermost = std::upper_bound(loops.begin(), loops.end(), root(value));
        if (outermost != loops.end()) until = kernel_.partner[*outermost];
        last_[root(value)] = std::max(last_[root(value)], until);
      });
      if (instruction.op == Opcode::Loop) last_[position] = kernel_.partner[position];
      if (instruction.op == Opcode::EndLoop) loops.pop_back();
    }
    find_aliases();
    find_direct();
  }

  bool written_between(std::uint32_t variable, std::uint32_t after, std::uint32_t before) const {
    const auto& positions = writes_[variable];
    const auto next = std::upper_bound(positions.begin(), positions.end(), after);
    return next != positions.end() && *next < before;
  }

  // A variable is read where it lies as long as nobody writes it.
  void find_aliases() {
    alias_.assign(size(), false);
    reads_.assign(kernel_.variables.size(), {});
    for (std::uint32_t position = 0; position < size(); ++position) {
      if (items_[position].fate != Fate::Kept || at(position).op != Opcode::ReadVariable) continue;
      const std::uint32_t variable = at(position).imm;
      alias_[position] = !written_between(variable, position, last_[position]);
      const std::uint32_t until = alias_[position] ? last_[position] : position;
      auto& reads = reads_[variable];
      reads.push_back({position, std::max(until, reads.empty() ? 0 : reads.back().second)});
    }
  }

  // A value that is written into a variable is made there, as long as it is not needed for longer than it stays there.
  void find_direct() {
    direct_.assign(size(), kNone);
    std::vector<std::uint32_t> held_until(kernel_.variables.size(), 0);  // how long the last value that was made there is needed
    std::uint32_t straight = 0;                                          // where the code without jumps around the position starts
    for (std::uint32_t position = 0; position < size(); ++position) {
      const KernelInstruction& instruction = at(position);
      if (items_[position].fate != Fate::Kept) continue;
      if (lower::jumps(instruction.op) || instruction.op == Opcode::Barrier) straight = position;
      if (instruction.op != Opcode::WriteVariable || divergent_[position] || !variable_varies_[instruction.imm]) continue;
      const std::uint32_t value = instruction.a.index, variable = instruction.imm;
      if (value < straight || root(value) != value || !varying_[value] || at(value).lanes != 1) continue;
      if (!is_elementwise(value) || direct_[value] != kNone || written_between(variable, value, position)) continue;
      // Other uses of the value read it from the variable, so the variable must still hold it there.
      if (held_until[variable] > value || written_between(variable, position, last_[value])) continue;
      // Who still reads the old value after the new one is made?
      const auto& reads = reads_[variable];
      const auto next = std::lower_bound(reads.begin(), reads.end(), std::pair{position, 0u});
      if (next != reads.begin()) {
        const auto& [read, until] = *std::prev(next);
        if (read > value || until > value) continue;
      }
      direct_[value] = variable;
      held_until[variable] = last_[value];
      items_[position].fate = Fate::Gone;
    }
  }

  bool is_elementwise(std::uint32_t value) const {
    if (items_[value].fate == Fate::Rotate) return true;
    if (items_[value].fate != Fate::Kept || at(value).lanes != 1) return false;
    const Opcode op = at(value).op;
    return lower::is_lanewise(op) || (op == Opcode::Select && varying_[at(value).a.index]);
  }

  // --- Code ---

  std::uint32_t new_vector(std::uint32_t lanes) {
    auto& free = free_[lanes];
    if (!free.empty()) {
      const std::uint32_t reg = free.back();
      free.pop_back();
      return reg;
    }
    return std::exchange(result_.vectors, result_.vectors + lanes);
  }
  std::uint32_t new_scalar(std::uint32_t lanes) {
    const auto first = static_cast<std::uint32_t>(result_.scalars.size());
    result_.scalars.resize(first + lanes);
    return first | kScalar;
  }
  std::uint32_t constant_scalar(Word value) {
    const std::uint32_t reg = new_scalar(1);
    result_.scalars.back() = value;
    return reg;
  }

  void emit() {
    places_.assign(size(), kNone);
    ends_.resize(size());
    variables_.resize(kernel_.variables.size());
    for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
      if (reads_[variable].empty() && writes_[variable].empty()) continue;  // part of what was fused
      const std::uint32_t lanes = kernel_.variables[variable];
      variables_[variable] = variable_varies_[variable] ? new_vector(lanes) : new_scalar(lanes);
    }
    for (std::uint32_t position = 0; position < size(); ++position) {
      const bool in_place = items_[position].fate != Fate::Gone && is_elementwise(position);
      if (in_place) release(position);
      if (items_[position].fate != Fate::Gone) emit(position);
      if (!in_place) release(position);
    }
    lead(empties_, add({.op = Op::Stop}));
  }

  // Registers of the values that were last used here.
  void release(std::uint32_t position) {
    for (const auto& [reg, lanes] : ends_[position]) free_[lanes].push_back(reg);
    ends_[position].clear();
  }

  // The first register of a value that is made here.
  std::uint32_t define(std::uint32_t position) {
    const std::uint32_t lanes = at(position).lanes;
    if (!varying_[position]) return places_[position] = new_scalar(lanes);
    if (direct_[position] != kNone) return places_[position] = variables_[direct_[position]];
    const std::uint32_t reg = new_vector(lanes);
    ends_[std::max(last_[position], position)].push_back({reg, lanes});
    return places_[position] = reg;
  }

  std::uint32_t place(std::uint32_t value) const {
    VYRE_ASSERT(places_[value] != kNone);
    return places_[value];
  }
  std::uint32_t place(ValueId value) const { return value.valid() ? place(value.index) : 0; }

  // Registers of ids are never used for anything else.
  std::uint8_t row(std::uint32_t index) const {
    return static_cast<std::uint8_t>(!is_scalar(index) && index < rows_.size() ? rows_[index] : Row::No);
  }

  std::uint32_t add(const Instruction& instruction) {
    result_.instructions.push_back(instruction);
    return static_cast<std::uint32_t>(result_.instructions.size() - 1);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(result_.instructions.size()); }

  // dest = value in all lanes, vector or scalar.
  void copy(std::uint32_t dest, std::uint32_t source, std::uint32_t lanes) {
    if (dest == source) return;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      add({.op = is_scalar(dest) ? Op::ScalarCopy : Op::VectorCopy, .dest = dest + lane, .a = source + lane});
    }
  }
  // The operand as a vector for as long as the instruction runs.
  std::uint32_t as_vector(std::uint32_t operand, std::uint32_t position) {
    if (!is_scalar(operand)) return operand;
    const std::uint32_t reg = new_vector(1);
    ends_[position].push_back({reg, 1});
    copy(reg, operand, 1);
    return reg;
  }

  void function2(std::uint32_t position, std::size_t function, std::uint32_t a, std::uint32_t b) {
    const auto code = static_cast<std::uint8_t>(function);
    if (!varying_[position]) {
      add({.op = Op::Scalar2, .function = code, .dest = define(position), .a = a, .b = b});
      return;
    }
    // Taken now: the result may take a register that an operand leaves.
    const Form form = is_scalar(b) ? Form::VectorScalar : is_scalar(a) ? Form::ScalarVector : Form::VectorVector;
    add({.op = Op::Vector2, .function = code, .form = static_cast<std::uint8_t>(form), .dest = define(position), .a = a, .b = b});
  }

  void emit(std::uint32_t position) {
    const Item& item = items_[position];
    const KernelInstruction& instruction = at(position);
    const auto lanes = instruction.lanes;
    switch (item.fate) {
      case Fate::Gone:
        return;
      case Fate::Same:
        places_[position] = place(item.a);
        return;
      case Fate::Rotate:
        return function2(position, static_cast<std::size_t>(Opcode::RotateLeft), place(item.a), place(item.b));
      case Fate::LoadOrZero:
        add({.op = Op::LoadOrZero,
             .lanes = lanes,
             .form = row(place(item.a)),
             .imm = instruction.imm,
             .dest = define(position),
             .a = place(item.a),
             .c = place(item.b)});
        return;
      case Fate::StoreInRange:
        add({.op = Op::StoreInRange,
             .lanes = at(item.b).lanes,
             .form = row(place(item.a)),
             .imm = instruction.imm,
             .a = place(item.a),
             .b = place(item.b),
             .c = place(item.c)});
        return;
      case Fate::AtomicInRange:
        add({.op = Op::AtomicInRange,
             .atomic = at(item.atomic).op,
             .imm = at(item.atomic).imm,
             .dest = define(position),
             .a = place(item.a),
             .b = place(item.b),
             .c = place(item.c),
             .d = item.d == kNone ? 0 : place(item.d)});
        return;
      case Fate::Kept:
        return emit_kept(position);
    }
  }

  void emit_kept(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const auto lanes = instruction.lanes;
    const bool varies = varying_[position];
    switch (instruction.op) {
      case Opcode::Constant:
        places_[position] = constant_scalar(instruction.imm);
        return;
      case Opcode::Length:
        result_.lengths.emplace_back(define(position), instruction.imm);
        return;
      case Opcode::WorkgroupId:
      case Opcode::LocalId:
      case Opcode::InvocationId: {
        // Filled before the code runs, and never free for others.
        const std::uint32_t reg = varies ? std::exchange(result_.vectors, result_.vectors + 1) : new_scalar(1);
        places_[position] = reg;
        if (varies && instruction.imm == 0 && instruction.op != Opcode::WorkgroupId) {
          rows_.resize(reg + 1, Row::No);
          rows_[reg] = instruction.op == Opcode::InvocationId ? Row::Invocation : Row::Local;
        }
        result_.ids.push_back({instruction.op, instruction.imm, reg});
        return;
      }
      case Opcode::Select:
        return emit_select(position);
      case Opcode::Lane:
        places_[position] = place(instruction.a) + instruction.imm;
        return;
      case Opcode::Pack: {
        const std::uint32_t dest = define(position);
        std::uint32_t lane = 0;
        for (const ValueId part : {instruction.a, instruction.b, instruction.c, instruction.d}) {
          if (part.valid()) copy(dest + lane++, place(part), 1);
        }
        return;
      }
      case Opcode::ReadVariable:
        if (alias_[position]) {
          places_[position] = variables_[instruction.imm];
        } else {
          copy(define(position), variables_[instruction.imm], lanes);
        }
        return;
      case Opcode::WriteVariable: {
        const std::uint32_t dest = variables_[instruction.imm], source = place(instruction.a);
        const std::uint32_t width = kernel_.variables[instruction.imm];
        if (!divergent_[position]) return copy(dest, source, width);
        for (std::uint32_t lane = 0; lane < width; ++lane) add({.op = Op::Blend, .dest = dest + lane, .a = source + lane});
        return;
      }
      case Opcode::LoadBuffer:
      case Opcode::LoadShared: {
        const bool shared = instruction.op == Opcode::LoadShared;
        const Op op = varies ? shared ? Op::LoadShared : Op::Load : shared ? Op::ScalarLoadShared : Op::ScalarLoad;
        const std::uint32_t index = place(instruction.a);
        add({.op = op, .lanes = lanes, .form = row(index), .imm = instruction.imm, .dest = define(position), .a = index});
        return;
      }
      case Opcode::StoreBuffer:
      case Opcode::StoreShared: {
        const bool shared = instruction.op == Opcode::StoreShared;
        const std::uint32_t index = place(instruction.a), value = place(instruction.b);
        const bool once = is_scalar(index) && is_scalar(value);
        const Op op = shared ? once ? Op::ScalarStoreShared : Op::StoreShared : once ? Op::ScalarStore : Op::Store;
        add({.op = op, .lanes = at(instruction.b.index).lanes, .form = row(index), .imm = instruction.imm, .a = index, .b = value});
        return;
      }
      case Opcode::If:
        return emit_if(place(instruction.a));
      case Opcode::Else:
        return emit_else();
      case Opcode::EndIf:
        return emit_end_if();
      case Opcode::Loop:
        return emit_loop(position);
      case Opcode::EndLoop:
        return emit_end_loop();
      case Opcode::Barrier:
        return;  // all lanes are here
      case Opcode::Return:
        goes_on_elsewhere(add({.op = Op::Return}));
        return;
      default:
        if (lower::is_atomic(instruction.op)) {
          const std::uint32_t a = place(instruction.a), b = place(instruction.b), d = place(instruction.c);
          add({.op = Op::Atomic, .atomic = instruction.op, .imm = instruction.imm, .dest = define(position), .a = a, .b = b, .d = d});
        } else if (instruction.b.valid()) {
          function2(position, static_cast<std::size_t>(instruction.op), place(instruction.a), place(instruction.b));
        } else {
          const std::uint32_t a = place(instruction.a);
          add({.op = varies ? Op::Vector1 : Op::Scalar1,
               .function = static_cast<std::uint8_t>(instruction.op),
               .dest = define(position),
               .a = a});
        }
    }
  }

  void emit_select(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t b = place(instruction.b), c = place(instruction.c);
    std::uint32_t condition = place(instruction.a);
    if (varying_[position]) condition = as_vector(condition, position);
    const std::uint32_t dest = define(position);
    const auto form = static_cast<std::uint8_t>((is_scalar(b) ? 1 : 0) | (is_scalar(c) ? 2 : 0));
    for (std::uint32_t lane = 0; lane < instruction.lanes; ++lane) {
      add({.op = varying_[position] ? Op::VectorSelect : Op::ScalarSelect,
           .form = form,
           .dest = dest + lane,
           .a = condition,
           .b = b + lane,
           .c = c + lane});
    }
  }

  // What is open around the position.
  struct Block {
    std::uint32_t address;                 // of the instruction that opened it
    bool parts;                            // lanes may differ about it
    std::uint32_t other = kNone;           // of the Else
    std::vector<std::uint32_t> empties{};  // instructions that go to where this block sorts its lanes again when none is active
  };

  // When no lane is active any more, the innermost block that parted them knows which go on.
  void goes_on_elsewhere(std::uint32_t address) {
    const auto parted = std::find_if(blocks_.rbegin(), blocks_.rend(), [](const Block& block) { return block.parts; });
    (parted == blocks_.rend() ? empties_ : parted->empties).push_back(address);
  }
  void lead(std::vector<std::uint32_t>& addresses, std::uint32_t to) {
    for (const std::uint32_t address : addresses) result_.instructions[address].empty = to;
    addresses.clear();
  }
  void open(std::uint32_t address, bool parts) {
    blocks_.push_back({address, parts});
    depth_ += parts ? 1 : 0;
    result_.depth = std::max(result_.depth, depth_);
  }
  void close() {
    depth_ -= blocks_.back().parts ? 1 : 0;
    blocks_.pop_back();
  }
  void lead_to_here(std::uint32_t address) { result_.instructions[address].target = here(); }

  void emit_if(std::uint32_t condition) {
    const bool parts = !is_scalar(condition);
    open(add({.op = parts ? Op::If : Op::JumpIfZero, .a = condition}), parts);
  }

  void emit_else() {
    Block& block = blocks_.back();
    if (block.parts) lead_to_here(block.address);
    block.other = add({.op = block.parts ? Op::Else : Op::Jump});
    if (block.parts) {
      lead(block.empties, block.other);
    } else {
      lead_to_here(block.address);
    }
  }

  void emit_end_if() {
    Block& block = blocks_.back();
    lead_to_here(block.other == kNone ? block.address : block.other);
    if (!block.parts) return close();
    const std::uint32_t address = add({.op = Op::EndIf});
    lead(block.empties, address);
    close();
    goes_on_elsewhere(address);
  }

  void emit_loop(std::uint32_t position) {
    const KernelInstruction& instruction = at(position);
    const std::uint32_t from = place(instruction.a);
    std::uint32_t to = place(instruction.b);
    const bool parts = varying_[position];
    if (parts) to = as_vector(to, kernel_.partner[position]);
    open(add({.op = parts ? Op::Loop : Op::UniformLoop, .dest = define(position), .a = from, .b = to}), parts);
  }

  void emit_end_loop() {
    Block& block = blocks_.back();
    const Instruction start = result_.instructions[block.address];
    const std::uint32_t address =
        add({.op = block.parts ? Op::EndLoop : Op::UniformEndLoop, .dest = start.dest, .b = start.b, .target = block.address + 1});
    lead_to_here(block.address);
    if (!block.parts) return close();
    lead(block.empties, address);
    close();
    goes_on_elsewhere(address);
  }

  const Kernel& kernel_;
  const std::vector<KernelInstruction>& code_;
  std::vector<Item> items_;
  Code result_;

  std::vector<bool> varying_, divergent_;  // of each instruction: its value; whether lanes may have parted around it
  std::vector<bool> variable_varies_;
  std::vector<std::uint32_t> variable_uses_;
  std::vector<std::uint32_t> raw_uses_, uses_;      // of each value, before and after instructions became one
  std::vector<std::uint32_t> roots_, last_;         // of each value: in whose registers it lies, and until where it is needed
  std::vector<std::vector<std::uint32_t>> writes_;  // of each variable, where
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> reads_;  // where, and until where what lies there is needed at most
  std::vector<bool> alias_;                                                  // of a ReadVariable: its value is the variable's registers
  std::vector<std::uint32_t> direct_;                                        // of a value: the variable whose register it is made in

  std::vector<std::uint32_t> places_;                                       // of each value: its first register
  std::vector<std::uint32_t> variables_;                                    // of each variable
  std::vector<Row> rows_;                                                   // of the first registers; No for the rest
  std::array<std::vector<std::uint32_t>, 5> free_;                          // by lanes
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> ends_;  // registers that are free after an instruction
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> empties_;  // outside of every block that parts lanes
  std::uint32_t depth_ = 0;             // of blocks that do
};

}  // namespace

Code compile(const Kernel& kernel) { return Compiler(kernel).run(); }

}  // namespace vyre::run::cpu
