// A program is written statement by statement. The roles of its memories (memory.hpp) say which invocations may access which elements, so
// that all orders of invocations give the same bytes; a barrier gives memories new roles.
//
// Three budgets keep programs small: statements_left_ counts statements, exprs_left_ the expressions of one statement, and left_ the
// evaluations of an invocation, in which the body of a loop counts once for each turn.
#include "vyre/fuzz/generate.hpp"

#include <algorithm>
#include <bit>

#include "vyre/fuzz/generator.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::fuzz {

using ir::BinOp;
using ir::DataType;

Generator::Generator(const Random& random, std::uint64_t seed, const Options& options)
    : random_(random),
      later_random_(seed ^ 0x6C62272E07BB0142),
      grows_(later_random_.chance(50)),
      narrow_random_(seed ^ 0x9AE16A3B2F90404F),
      narrows_(narrow_random_.chance(30)),
      exit_random_(seed ^ 0xC2B2AE3D27D4EB4F),
      exits_(grows_ && exit_random_.chance(30)),
      options_(options),
      seed_(seed),
      clean_(options.clean || options.plant.has_value()),
      writer_(random_),
      indices_(random_, writer_, ids_, clean_) {}

Case Generator::run() {
  choose_sizes();
  writer_.workgroup_size(size_);
  declare_buffers();
  write_ids();
  measure();
  may_return_ = !options_.plant;
  if (random_.chance(80)) {
    const ExprId nothing = writer_.u32(0);
    writer_.to().let(declare_variable(DataType::U32, true, false), nothing);
    total_ = variables_.back();
  }
  for (std::size_t k = 0; k < memory_.size(); ++k) {
    const Memory memory = memory_[k];
    if (memory.decl.access != ir::BufferAccess::Workgroup) continue;
    if (!memory.accessible()) continue;
    if (options_.plant && k == planted_memory_ && info(*options_.plant).defect == Defect::Uninitialised) continue;
    if (clean_ || random_.chance(40)) fill(memory);
  }
  if (barriers_ == 0 && clean_ && random_.chance(30)) barrier();
  if (clean_) {
    // All invocations may use what was filled from here on, unless it has a role of its own.
    writer_.to().barrier();
    ++barriers_;
    change_roles();
  }

  // Small ones are as many as large ones: a tiny program is a sharp test.
  const std::uint32_t scale = static_cast<std::uint32_t>(std::bit_width(std::max(options_.statements, 1u)));
  const std::uint32_t most = std::min(options_.statements, 1u << (1 + random_.below(scale)));
  statements_left_ = 1 + random_.below(std::max(most, 1u));
  const std::uint32_t before = options_.plant ? random_.below(statements_left_ + 1) : 0;
  if (options_.plant) {
    statements(before);
    plant();
    may_return_ = true;
  }
  statements(statements_left_);
  if (may_wait() && random_.chance(50)) exchange();
  sink();

  Case result;
  for (const Memory& memory : memory_) writer_.to().buffer(memory.decl);
  result.seed = seed_;
  result.arrays = arrays();
  result.later = later(result.arrays);
  result.grid = grid_;
  result.planted = std::move(planted_);
  result.program = writer_.to().finish();
  return result;
}

void Generator::statements(std::uint32_t count) {
  while (count > 0 && statements_left_ > 0 && left_ > 0 && !ended_) {
    --count;
    --statements_left_;
    statement();
  }
}

void Generator::statement() {
  exprs_left_ = 4 + static_cast<int>(random_.below(20));
  const bool deep = level_ < 5 && statements_left_ > 0;
  for (;;) {
    const std::uint32_t roll = random_.below(100);
    if (roll < 21) return let();
    if (roll < 24) return undo();
    if (roll < 38) return assign();
    if (roll < 64) return store();
    if (roll < 70) return use_atomic();
    if (roll < 80 && deep) return branch();
    if (roll < 89 && deep) return loop();
    if (roll < 92 && deep) return block();
    if (grows_ && roll < 94 && leave_loop()) return;
    if (roll < 98 && barrier()) return;
    if (roll >= 98 && leave()) return;
  }
}

// A statement evaluates what it reaches once; a shared expression counts as often as it is used, which errs to the safe side.
void Generator::spend(ExprId id) { left_ -= std::min(left_, rounds_ * (1 + std::uint64_t{writer_.of(id).cost})); }

std::string Generator::fresh_name() {
  if (!retired_.empty() && random_.chance(50)) {
    std::string name = std::move(retired_.back());
    retired_.pop_back();
    return name;
  }
  static constexpr const char* kOdd[] = {"__call", "let ", "日本", "if", "v_", "fn", "a-b"};
  const std::string number = std::to_string(names_++);
  return random_.chance(10) ? kOdd[random_.below(std::size(kOdd))] + number + "_t" : "v" + number;
}

NameId Generator::declare_variable(DataType type, bool assignable, bool uniform) {
  const NameId name = writer_.to().name(fresh_name());
  variables_.push_back({name, type, assignable, uniform, level_});
  return name;
}

void Generator::let() {
  const bool plain = uniform_ && random_.chance(20);
  const DataType type = plain ? DataType::U32 : any_element(false);
  const ExprId initial = plain ? uniform_value(some_depth()) : value(type, some_depth());
  spend(initial);
  const bool assignable = random_.chance(55);
  const bool uniform = writer_.of(initial).uniform && (!assignable || random_.chance(30));
  // Its own initialiser does not see it.
  writer_.to().let(declare_variable(type, assignable, uniform), initial);
}

void Generator::assign() {
  std::vector<Variable> fitting;
  for (const Variable& variable : variables_) {
    if (variable.assignable && (!variable.uniform || (uniform_ && variable.type == DataType::U32))) fitting.push_back(variable);
  }
  if (fitting.empty()) return let();
  const Variable target = random_.pick(fitting);
  const ExprId next = target.uniform ? uniform_value(some_depth()) : value(target.type, some_depth());
  spend(next);
  writer_.to().assign(target.name, next);
}

// A value is kept, the variable that it was made of changes, and what made the value is undone: the old value of the variable. A
// backend that looks through the kept value to what made it may take the new one instead.
void Generator::undo() {
  std::vector<Variable> fitting;
  for (const Variable& variable : variables_) {
    if (variable.assignable && !variable.uniform && variable.type == DataType::U32) fitting.push_back(variable);
  }
  if (fitting.empty() || random_.chance(50)) {
    const ExprId initial = value(DataType::U32, some_depth());
    spend(initial);
    writer_.to().let(declare_variable(DataType::U32, true, false), initial);
    fitting.assign(1, variables_.back());
  }
  const Variable target = random_.pick(fitting);
  const bool plus = random_.chance(50);
  const ExprId by = random_.chance(50) ? writer_.u32(random_.bits()) : var(random_.pick(variables_));
  const ExprId with = as_u32(by);
  const ExprId made = random_.chance(25) ? var(target) : writer_.binary(plus ? BinOp::Add : BinOp::BitXor, var(target), with);
  spend(made);
  writer_.to().let(declare_variable(DataType::U32, false, false), made);
  const Variable kept = variables_.back();
  if (random_.chance(75)) {
    const ExprId next = value(DataType::U32, some_depth());
    spend(next);
    writer_.to().assign(target.name, next);
  }
  const ExprId undone = writer_.binary(plus ? BinOp::Sub : BinOp::BitXor, var(kept), random_.chance(70) ? with : var(target));
  spend(undone);
  writer_.to().let(declare_variable(DataType::U32, random_.chance(55), false), undone);
}

void Generator::store() {
  std::vector<const Memory*> fitting;
  for (const Memory& memory : memory_) {
    if (!ir::writable(memory.decl.access) || !memory.accessible() || is_planted_sink(memory)) continue;
    if (memory.phase.role == Role::Own || (!clean_ && random_.chance(10))) fitting.push_back(&memory);
  }
  if (fitting.empty()) return let();
  const Memory& memory = *random_.pick(fitting);
  const ExprId any = value(DataType::U32, static_cast<int>(random_.below(3)));
  const ExprId index = memory.phase.role == Role::Own ? indices_.own(memory, any) : indices_.outside(memory, any);
  const ExprId stored = value(memory.value(), some_depth());
  spend(index);
  spend(stored);
  writer_.to().store(memory.name, index, stored);
}

// Emits an atomic whose result does not influence the output.
void Generator::use_atomic() {
  std::vector<const Memory*> fitting;
  for (const Memory& memory : memory_) {
    if (memory.phase.role == Role::Atomic && (!clean_ || memory.length > 0)) fitting.push_back(&memory);
  }
  if (fitting.empty() || options_.independent) return store();
  const Memory& memory = *random_.pick(fitting);
  const Phase& phase = memory.phase;
  const bool alike = phase.op == ir::AtomicOp::Exchange || phase.op == ir::AtomicOp::CompareExchange;
  const ExprId any = value(DataType::U32, some_depth());
  const ExprId index = indices_.shared(memory, any);
  const ExprId expected = phase.op == ir::AtomicOp::CompareExchange ? writer_.u32(phase.expected) : ExprId();
  const ExprId operand = alike ? writer_.u32(phase.value) : value(DataType::U32, some_depth());
  ExprId made = writer_.atomic(phase.op, memory.name, index, expected, operand, true);
  if (random_.chance(25)) {
    // Both arms happen, whichever is chosen.
    const ExprId another = indices_.shared(memory, value(DataType::U32, 1));
    const ExprId choice = condition(2);
    made = writer_.select(choice, made, writer_.atomic(phase.op, memory.name, another, expected, operand, true));
  }
  spend(made);
  if (!variables_.empty() && !clean_ && random_.chance(25)) {
    // Used, and yet without a say in the result.
    const ExprId nothing = writer_.binary(BinOp::BitAnd, made, writer_.u32(0));
    const ExprId sum = writer_.add(value(DataType::U32, 1), nothing);
    writer_.to().let(declare_variable(DataType::U32, true, false), sum);
    return;
  }
  const std::string name = fresh_name();
  writer_.to().let(writer_.to().name(name), made);
}

// Folds variables into the result before they go out of scope, so that they influence the output.
void Generator::settle() {
  if (!total_) return;
  std::uint32_t left = 3;
  for (std::size_t k = variables_.size(); k-- > 0 && variables_[k].level == level_ && left > 0; --left) {
    const ExprId mixed = writer_.binary(BinOp::RotateLeft, var(*total_), writer_.u32(5));
    const ExprId sum = writer_.binary(BinOp::BitXor, mixed, as_u32(var(variables_[k])));
    spend(sum);
    writer_.to().assign(total_->name, sum);
  }
}

// Stores what the variables hold at the end, so that every computation shows.
void Generator::sink() {
  std::vector<const Memory*> fitting;
  for (const Memory& memory : memory_) {
    if (memory.decl.access != ir::BufferAccess::ReadWrite || memory.phase.role != Role::Own) continue;
    if (memory.accessible() && !is_planted_sink(memory)) fitting.push_back(&memory);
  }
  if (fitting.empty()) return;
  const Memory& memory = *random_.pick(fitting);
  ExprId sum = total_ ? var(*total_) : ids_.me;
  for (std::size_t k = 0; k < variables_.size() && k < 12; ++k) {
    const ExprId mixed = writer_.binary(BinOp::RotateLeft, sum, writer_.u32(5));
    sum = writer_.binary(BinOp::BitXor, mixed, as_u32(var(variables_[variables_.size() - 1 - k])));
  }
  const ExprId stored = memory.value() == DataType::U32 ? sum : writer_.cast(memory.value(), sum);
  writer_.to().store(memory.name, indices_.own(memory, sum), stored);
}

Case generate(std::uint64_t seed, const Options& options) { return Generator(Random(seed), seed, options).run(); }

Case generate(std::string_view bytes, const Options& options) { return Generator(Random(bytes), bytes.size(), options).run(); }

}  // namespace vyre::fuzz
