#include "vyre/ir/procedures/procedure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/hash.hpp"

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

SizeId ProcedureBuilder::add(const SizeTerm& term) {
  const auto [known, is_new] = known_.try_emplace(term);
  if (is_new) known->second = sizes_.push_back(term);
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
    VYRE_ASSERT(given[k].index < sizes_.size());
    const SizeTerm& operand = sizes_[given[k]];
    decided = decided && operand.op == SizeOp::Literal;
    values[k] = operand.literal;
    *operands[k] = given[k].index;
  }
  return decided ? literal(ir::apply(op, values[0], values[1], values[2])) : add(term);
}

ArrayId ProcedureBuilder::array(ArrayDecl decl) { return data_->arrays.push_back(std::move(decl)); }
void ProcedureBuilder::role(ArrayId array, ArrayRole role) { data_->arrays[array].role = role; }
void ProcedureBuilder::element(ArrayId array, DataType element) {
  const DataType before = std::exchange(data_->arrays[array].element, element);
  const StepId last{static_cast<std::uint32_t>(data_->steps.size() - 1)};
  for (ArrayPart& part : std::get<Invoke>(data_->steps[last]).arrays) {
    if (part.array == array) part.view = before;
  }
}

std::uint32_t ProcedureBuilder::declare(NumberDecl decl) {
  data_->numbers.push_back(std::move(decl));
  return static_cast<std::uint32_t>(data_->numbers.size() - 1);
}

namespace {

// `known` has the values by their hashes once there are many: a hash costs more than comparing a few.
template <class T>
std::uint32_t kept_once(std::vector<T>& values, std::multimap<std::uint64_t, std::uint32_t>& known, const T& value) {
  constexpr std::uint32_t kFew = 32;
  const auto count = static_cast<std::uint32_t>(values.size());
  if (count < kFew) {
    const auto index = static_cast<std::uint32_t>(std::find(values.begin(), values.end(), value) - values.begin());
    if (index == count) values.push_back(value);
    return index;
  }
  for (auto index = static_cast<std::uint32_t>(known.size()); index < count; ++index) known.emplace(values[index].hash(), index);
  const std::uint64_t hash = value.hash();
  const auto [begin, end] = known.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (values[at->second] == value) return at->second;
  }
  values.push_back(value);
  known.emplace(hash, count);
  return count;
}

// Keeps the values that are named, in the order in which they first are, and gives their new places.
template <class T>
class Reached {
 public:
  explicit Reached(std::vector<T>& values) : values_(values), moved_(values.size(), kNowhere) {}
  std::uint32_t operator()(std::uint32_t index) {
    if (moved_[index] == kNowhere) {
      moved_[index] = static_cast<std::uint32_t>(kept_.size());
      kept_.push_back(values_[index]);
    }
    return moved_[index];
  }
  void finish() { values_ = std::move(kept_); }

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::vector<T>& values_;
  std::vector<T> kept_;
  std::vector<std::uint32_t> moved_;
};

}  // namespace

std::uint32_t ProcedureBuilder::program(const Program& program) { return kept_once(data_->programs, programs_, program); }

std::uint32_t ProcedureBuilder::procedure(const Procedure& procedure) { return kept_once(data_->procedures, procedures_, procedure); }
std::uint32_t ProcedureBuilder::word_uses(std::vector<WordUse> uses) {
  data_->word_uses.push_back(std::move(uses));
  return static_cast<std::uint32_t>(data_->word_uses.size() - 1);
}

void ProcedureBuilder::line(std::string line) {
  if (data_->lines.back() != line) data_->lines.push_back(std::move(line));
}

StepId ProcedureBuilder::append(StepKind step) {
  data_->line_of_step.push_back(static_cast<std::uint32_t>(data_->lines.size() - 1));
  return data_->steps.push_back(std::move(step));
}
void ProcedureBuilder::dispatch(Dispatch step) {
  if (!step.grid.counts) step.grid.counts_invocations = false;  // there is nothing that it could be about
  append(std::move(step));
}
void ProcedureBuilder::invoke(Invoke step) {
  if (step.told && step.told->messages() == data_->procedures[step.procedure].messages()) step.told = nullptr;
  append(std::move(step));
}

std::uint32_t ProcedureBuilder::repeat(SizeId count, std::optional<ArrayPart> until) {
  open_.push_back(append(Repeat{.count = count, .until = until, .turn = data_->turns, .end = {}}));
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
void ProcedureBuilder::clear(ArrayPart part) { append(Clear{part}); }
void ProcedureBuilder::require(SizeId condition, std::string message) {
  const std::size_t fix = message.find(". Fix: ");
  if (fix == std::string::npos || fix == 0) {
    throw ArgumentError("the message of a requirement is no problem with a fix. Fix: write \"<problem>. Fix: <action>.\".");
  }
  append(Require{condition, std::move(message)});
}
void ProcedureBuilder::result(ArrayId array) { data_->results.push_back(array); }

void ProcedureBuilder::keep_reached_sizes() {
  IdVector<SizeId, SizeId> moved(sizes_.size());
  std::vector<std::uint32_t> open;
  const auto reach = [&](SizeId& root) {
    open.push_back(root.index);
    while (!open.empty()) {
      const SizeId at{open.back()};
      SizeTerm term = sizes_[at];
      const std::array<std::uint32_t*, 3> operands = {&term.a, &term.b, &term.c};
      bool is_ready = true;
      for (std::uint32_t k = moved[at].valid() ? 0 : operand_count(term.op); k-- > 0;) {
        const SizeId operand = moved[SizeId{*operands[k]}];
        if (!operand.valid()) open.push_back(*operands[k]);
        is_ready = is_ready && operand.valid();
        *operands[k] = operand.index;
      }
      if (!is_ready) continue;
      if (!moved[at].valid()) moved[at] = data_->sizes.push_back(term);
      open.pop_back();
    }
    root = moved[root];
  };
  for (ArrayDecl& array : data_->arrays) std::for_each(array.shape.begin(), array.shape.end(), reach);
  for (StepKind& step : data_->steps) for_each_size(step, reach);
}

void ProcedureBuilder::keep_reached_programs() {
  Reached programs(data_->programs);
  Reached procedures(data_->procedures);
  for (StepKind& step : data_->steps) {
    if (auto* dispatch = std::get_if<Dispatch>(&step)) dispatch->program = programs(dispatch->program);
    if (auto* invoke = std::get_if<Invoke>(&step)) invoke->procedure = procedures(invoke->procedure);
  }
  programs.finish();
  procedures.finish();
  for (const Procedure& each : data_->procedures) data_->depth = std::max(data_->depth, each.depth() + 1);
}

std::uint64_t ProcedureBuilder::messages() const {
  Fnv1a hash;
  for (const auto& uses : data_->word_uses) {
    hash.add(uses.size());
    for (const WordUse& use : uses) {
      hash.add(std::string_view(use.what));
      hash.add(std::string_view(use.fix));
    }
  }
  for (const std::string& line : data_->lines) hash.add(std::string_view(line));
  for (std::uint32_t index = 0; index < data_->steps.size(); ++index) {
    const StepKind& step = data_->steps[StepId{index}];
    hash.add(data_->line_of_step[index]);
    if (const auto* dispatch = std::get_if<Dispatch>(&step)) hash.add(dispatch->word_uses);
    if (const auto* invoke = std::get_if<Invoke>(&step)) {
      hash.add((invoke->told ? *invoke->told : data_->procedures[invoke->procedure]).messages());
    }
  }
  return hash.value();
}

Procedure ProcedureBuilder::finish() {
  VYRE_ASSERT(open_.empty());
  keep_reached_sizes();
  keep_reached_programs();
  if (data_->depth > kMostInvocations) {
    throw ArgumentError(fmt::format("procedure `{}` nests invocations {} deep, and at most {} are allowed. Fix: invoke fewer levels.",
                                    data_->name, data_->depth, kMostInvocations));
  }
  const std::uint64_t messages = this->messages();
  const std::shared_ptr<Procedure::Data> data = std::exchange(data_, std::make_shared<Procedure::Data>());
  programs_.clear();
  procedures_.clear();
  Procedure made(data);
  data->bytes = written(made);
  Fnv1a hash;
  hash.add(std::string_view(data->bytes));
  data->hash = hash.value();
  data->messages = messages;
  return made;
}

}  // namespace vyre::ir
