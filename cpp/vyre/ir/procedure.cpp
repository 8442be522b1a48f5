#include "vyre/ir/procedure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/hash.hpp"
#include "vyre/base/overloaded.hpp"

namespace vyre::ir {

Procedure::Procedure() : Procedure(ProcedureBuilder("").finish()) {}

std::vector<ArrayId> Procedure::interface() const {
  std::vector<ArrayId> found;
  const auto add = [&](auto&& wanted) {
    for (std::uint32_t index = 0; index < arrays().size(); ++index) {
      if (wanted(arrays()[ArrayId{index}])) found.push_back(ArrayId{index});
    }
  };
  add([](const ArrayDecl& array) { return array.role == ArrayRole::Input || array.role == ArrayRole::InOut; });
  // A call gives and takes outputs in the order in which they are returned.
  std::vector<bool> returned(arrays().size(), false);
  for (const ArrayId id : results()) {
    if (arrays()[id].role != ArrayRole::Output || returned[id.index]) continue;
    returned[id.index] = true;
    found.push_back(id);
  }
  for (std::uint32_t index = 0; index < arrays().size(); ++index) {
    if (arrays()[ArrayId{index}].role == ArrayRole::Output && !returned[index]) found.push_back(ArrayId{index});
  }
  return found;
}

ProcedureBuilder::ProcedureBuilder(std::string name) : data_(std::make_shared<Procedure::Data>()) { data_->name = std::move(name); }

std::size_t ProcedureBuilder::HashTerm::operator()(const SizeTerm& term) const {
  Fnv1a result;
  for (std::uint64_t word : {std::uint64_t{static_cast<std::uint8_t>(term.op)}, std::uint64_t{term.a}, std::uint64_t{term.b},
                             std::uint64_t{term.c}, term.literal}) {
    result.add(word);
  }
  return result.value();
}

SizeId ProcedureBuilder::add(const SizeTerm& term) {
  const auto [known, is_new] = known_.try_emplace(term);
  if (is_new) known->second = data_->sizes.push_back(term);
  return known->second;
}

SizeId ProcedureBuilder::literal(std::uint64_t value) { return add({.op = SizeOp::Literal, .literal = value}); }
SizeId ProcedureBuilder::length(ArrayId array, std::uint32_t axis) { return add({.op = SizeOp::Length, .a = array.index, .b = axis}); }
SizeId ProcedureBuilder::number(std::uint32_t index) { return add({.op = SizeOp::Number, .a = index}); }
SizeId ProcedureBuilder::limit(Limit which) { return add({.op = SizeOp::Limit, .a = static_cast<std::uint32_t>(which)}); }
SizeId ProcedureBuilder::turn(std::uint32_t number) { return add({.op = SizeOp::Turn, .a = number}); }

SizeId ProcedureBuilder::apply(SizeOp op, SizeId a, SizeId b, SizeId c) {
  SizeTerm term{.op = op};
  const std::array<SizeId, 3> given = {a, b, c};
  const std::array<std::uint32_t*, 3> operands = {&term.a, &term.b, &term.c};
  std::array<std::uint64_t, 3> values{};
  bool decided = true;
  for (std::uint32_t k = 0; k < operand_count(op); ++k) {
    VYRE_ASSERT(given[k].index < data_->sizes.size());
    const SizeTerm& operand = data_->sizes[given[k]];
    decided = decided && operand.op == SizeOp::Literal;
    values[k] = operand.literal;
    *operands[k] = given[k].index;
  }
  return decided ? literal(ir::apply(op, values[0], values[1], values[2])) : add(term);
}

ArrayId ProcedureBuilder::array(ArrayDecl decl) { return data_->arrays.push_back(std::move(decl)); }
void ProcedureBuilder::role(ArrayId array, ArrayRole role) { data_->arrays[array].role = role; }

std::uint32_t ProcedureBuilder::declare(NumberDecl decl) {
  data_->numbers.push_back(std::move(decl));
  return static_cast<std::uint32_t>(data_->numbers.size() - 1);
}

namespace {

template <class T>
std::uint32_t kept_once(std::vector<T>& values, const T& value) {
  const auto known = std::find(values.begin(), values.end(), value);
  if (known != values.end()) return static_cast<std::uint32_t>(known - values.begin());
  values.push_back(value);
  return static_cast<std::uint32_t>(values.size() - 1);
}

}  // namespace

std::uint32_t ProcedureBuilder::program(const Program& program) { return kept_once(data_->programs, program); }

std::uint32_t ProcedureBuilder::procedure(const Procedure& procedure) {
  data_->depth = std::max(data_->depth, procedure.depth() + 1);
  return kept_once(data_->procedures, procedure);
}

StepId ProcedureBuilder::append(StepKind step) { return data_->steps.push_back(std::move(step)); }
void ProcedureBuilder::dispatch(Dispatch step) { append(std::move(step)); }
void ProcedureBuilder::invoke(Invoke step) { append(std::move(step)); }

std::uint32_t ProcedureBuilder::repeat(SizeId count) {
  open_.push_back(append(Repeat{.count = count, .turn = data_->turns, .end = {}}));
  return data_->turns++;
}

void ProcedureBuilder::when(SizeId condition) { open_.push_back(append(When{.condition = condition, .otherwise = {}, .end = {}})); }

void ProcedureBuilder::otherwise() {
  VYRE_ASSERT(!open_.empty() && std::holds_alternative<When>(data_->steps[open_.back()]));
  const StepId opener = open_.back(), at = append(Otherwise{.opener = opener, .end = {}});
  std::get<When>(data_->steps[opener]).otherwise = at;
}

void ProcedureBuilder::end() {
  VYRE_ASSERT(!open_.empty());
  const StepId opener = open_.back();
  open_.pop_back();
  const StepId at = append(EndStep{opener});
  if (auto* repeat = std::get_if<Repeat>(&data_->steps[opener])) {
    repeat->end = at;
    return;
  }
  auto& when = std::get<When>(data_->steps[opener]);
  when.end = at;
  if (when.otherwise.valid()) std::get<Otherwise>(data_->steps[when.otherwise]).end = at;
}

void ProcedureBuilder::swap(ArrayId a, ArrayId b) { append(Swap{a, b}); }
void ProcedureBuilder::clear(ArrayPart part) { append(Clear{std::move(part)}); }
void ProcedureBuilder::result(ArrayId array) { data_->results.push_back(array); }

Procedure ProcedureBuilder::finish() {
  VYRE_ASSERT(open_.empty());
  if (data_->depth > kMostInvocations) {
    throw ArgumentError(fmt::format("procedure `{}` nests invocations {} deep, at most {} are allowed. Fix: invoke fewer levels.",
                                    data_->name, data_->depth, kMostInvocations));
  }
  const std::shared_ptr<Procedure::Data> data = std::exchange(data_, std::make_shared<Procedure::Data>());
  known_.clear();
  const Procedure made(data);
  data->bytes = written(made);
  Fnv1a hash;
  hash.add(std::string_view(data->bytes));
  data->hash = hash.value();
  return made;
}

}  // namespace vyre::ir
