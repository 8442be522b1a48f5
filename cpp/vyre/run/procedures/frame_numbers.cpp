#include "vyre/run/procedures/frame_numbers.hpp"

#include <fmt/format.h>

#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::run {

using ir::ArrayId;
using ir::SizeId;
using ir::SizeOp;

FrameNumbers::FrameNumbers(const ir::Procedure& procedure, std::vector<Number> numbers, const IdVector<ArrayId, Shape>& shapes,
                           const Limits& limit, Late late, LateSize late_size)
    : procedure_(procedure),
      numbers_(std::move(numbers)),
      shapes_(shapes),
      limit_(limit),
      late_(std::move(late)),
      late_size_(std::move(late_size)),
      turns_(procedure.turns()),
      known_(procedure.sizes().size(), false),
      values_(procedure.sizes().size()) {}

Number FrameNumbers::size(SizeId id) {
  bits(id);
  return as_size(id);
}

Number FrameNumbers::bits(SizeId id) {
  open_.assign(1, id.index);
  while (!open_.empty()) {
    const std::uint32_t at = open_.back();
    if (known_[at]) {
      open_.pop_back();
      continue;
    }
    const ir::SizeTerm& term = procedure_.sizes()[SizeId{at}];
    const std::uint32_t operands = ir::operand_count(term.op);
    const std::array<std::uint32_t, 3> ids = {term.a, term.b, term.c};
    const std::size_t before = open_.size();
    for (std::uint32_t k = 0; k < operands; ++k) {
      if (!known_[ids[k]]) open_.push_back(ids[k]);
    }
    if (open_.size() > before) continue;
    values_[at] = operands == 0 ? leaf(term) : result(term.op, operands, ids);
    known_[at] = true;
    open_.pop_back();
  }
  return values_[id.index];
}

void FrameNumbers::set_turn(std::uint32_t turn, std::uint64_t value) {
  turns_[turn] = value;
  std::vector<bool> depends(known_.size(), false);
  for (std::uint32_t at = 0; at < known_.size(); ++at) {
    const ir::SizeTerm& term = procedure_.sizes()[SizeId{at}];
    const std::array<std::uint32_t, 3> ids = {term.a, term.b, term.c};
    bool found = term.op == SizeOp::Turn && term.a == turn;
    for (std::uint32_t k = 0; k < ir::operand_count(term.op); ++k) found = found || depends[ids[k]];
    depends[at] = found;
    if (found) known_[at] = false;
  }
}

Number FrameNumbers::leaf(const ir::SizeTerm& term) const {
  switch (term.op) {
    case SizeOp::Literal:
      return {term.literal};
    case SizeOp::Length:
      VYRE_ASSERT(term.b < shapes_[ArrayId{term.a}].size());
      return {shapes_[ArrayId{term.a}][term.b]};
    case SizeOp::Number:
      return numbers_[term.a];
    case SizeOp::Limit:
      return {limit_(static_cast<ir::Limit>(term.a))};
    default:
      VYRE_ASSERT(term.op == SizeOp::Turn);
      return {turns_[term.a]};
  }
}

Number FrameNumbers::as_size(SizeId id) {
  const ir::SizeTerm& term = procedure_.sizes()[id];
  const Number found = values_[id.index];
  if (term.op != SizeOp::Number || !ir::is_signed(procedure_.numbers()[term.a].type)) return found;
  const ir::NumberDecl& decl = procedure_.numbers()[term.a];
  if (found.late != Number::kKnown) return {0, late_size_(found.late, decl)};
  check_size(found.value, decl.type, fmt::format("number `{}` of procedure `{}`", decl.name, procedure_.name()));
  return found;
}

Number FrameNumbers::result(SizeOp op, std::uint32_t operands, const std::array<std::uint32_t, 3>& ids) {
  std::array<Number, 3> given{};
  bool all_known = true;
  for (std::uint32_t k = 0; k < operands; ++k) {
    given[k] = as_size(SizeId{ids[k]});
    all_known = all_known && given[k].late == Number::kKnown;
  }
  if (all_known) return {ir::apply(op, given[0].value, given[1].value, given[2].value)};
  return {0, late_({op, 0, given[0], given[1], given[2]})};
}

std::vector<Shape> output_shapes(const ir::Procedure& procedure, std::span<const Shape> given, std::span<const std::uint64_t> numbers,
                                 const FrameNumbers::Limits& limit) {
  IdVector<ArrayId, Shape> shapes(procedure.arrays().size());
  std::vector<Number> known;
  for (const std::uint64_t number : numbers) known.push_back({number});
  FrameNumbers sizes(procedure, std::move(known), shapes, limit, {}, {});
  const std::vector<ArrayId> interface = procedure.interface();
  for (std::size_t k = 0; k < given.size(); ++k) shapes[interface[k]] = given[k];
  for (std::uint32_t index = 0; index < procedure.arrays().size(); ++index) {
    for (const SizeId size : procedure.arrays()[ArrayId{index}].shape) shapes[ArrayId{index}].push_back(sizes.size(size).value);
  }
  std::vector<Shape> outputs;
  for (std::size_t k = given.size(); k < interface.size(); ++k) outputs.push_back(shapes[interface[k]]);
  return outputs;
}

}  // namespace vyre::run
