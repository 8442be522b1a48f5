// Writes the hints for operands of the wrong type: the conversion to write, or another operator.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "vyre/ir/ops.hpp"
#include "vyre/validate/hint_text.hpp"
#include "vyre/validate/hints.hpp"
#include "vyre/validate/op_bodies.hpp"
#include "vyre/validate/python_text.hpp"

namespace vyre::validate {
namespace {

using ir::DataType;

// "... argument 2 of ..." -> 2: which of several operands a sentence is about.
std::size_t number_after(std::string_view message, std::string_view words) {
  std::size_t number = 0;
  if (const std::size_t at = message.find(words); at != std::string_view::npos) {
    const char* first = message.data() + at + words.size();
    std::from_chars(first, message.data() + message.size(), number);
  }
  return number;
}

}  // namespace

std::string Hints::unsupported_cast(StepId id) const {
  const DataType target = gathered_.expr<ir::Cast>(id).target;
  const StepId value = gathered_.operands(id)[0];
  const DataType source = gathered_.step(value).type;
  if (source == DataType::Bytes) {
    const BufferId buffer = gathered_.step(value).buffer;
    return buffer.valid() ? bytes_buffer(gathered_.buffer(buffer), Hint::CastFromBytes, Hint::CastFromBytesMemory) : std::string();
  }
  if (ir::is_narrow(target)) return say<Hint::NarrowCast>(ir::name(target), narrowed(target, source, value));
  std::string targets;
  for (const ir::CastRow& row : ir::kCasts) {
    if (row.source == source && row.target != source) targets += fmt::format("{}{}", targets.empty() ? "" : ", ", ir::name(row.target));
  }
  return say<Hint::CastsFrom>(converted(target, value, "value"), ir::name(source), targets);
}

// The low bits of a value, as an element of the type has them.
std::string Hints::narrowed(DataType element, DataType source, StepId value) const {
  const DataType type = ir::value_type(element);
  const std::string code = python_converted(type, source, this->code(value, "value"));
  const std::uint32_t bits = 8 * ir::min_bytes(element);
  if (type == DataType::U32) return fmt::format("Expr.bitand({}, 0x{:X})", code, (1u << bits) - 1);
  return fmt::format("Expr.sshr(Expr.cast(DataType.I32, Expr.shl(Expr.cast(DataType.U32, {0}), {1})), {1})", code, 32 - bits);
}

std::string Hints::binary_operator(StepId id, Hint hint) const {
  const ir::BinOp op = gathered_.expr<ir::Binary>(id).op;
  std::array<PythonOperand, 2> operands;
  for (std::size_t k : {0, 1}) {
    const StepId step = gathered_.operands(id)[k];
    operands[k] = {or_u32(gathered_.step(step).type), code(step, k == 0 ? "left" : "right"),
                   ir::literal_u32(program_.expr(gathered_.step(step).expr)).has_value()};
  }
  if (const auto beyond = python_beyond_i32(op, operands[0], operands[1])) {
    if (!beyond->always) return say<Hint::LargeLiteral>(beyond->on_bits, beyond->literal);
    return say<Hint::LargeLiteralCompared>(*beyond->always ? "Expr.u32(1)" : "Expr.u32(0)", beyond->literal, beyond->on_bits);
  }
  const std::string text = python_binary(op, operands[0], operands[1], *gathered_.table);
  const bool vectors = std::ranges::any_of(operands, [](const PythonOperand& operand) { return ir::lanes(operand.type) > 1; }) &&
                       std::ranges::none_of(operands, [](const PythonOperand& operand) { return operand.type == DataType::U64; });
  if (text.empty()) {
    const bool on_left = operands[0].type != DataType::U32 && operands[0].type != DataType::Bool;
    const std::string_view type = ir::name(operands[on_left ? 0 : 1].type);
    return op == ir::BinOp::MulHigh ? say<Hint::NoHighProduct>(type) : say<Hint::NoOperator>(type);
  }
  const bool by_lane = hint == Hint::TypedOperator && vectors && (ir::info(op).laws & ir::kTruth) != 0;
  return filled(info(by_lane ? Hint::LaneByLane : hint).sentence, std::array{text});
}

std::string Hints::lane_of_pack(StepId id, std::string_view message) const {
  const std::size_t k = number_after(message, "pack lane ");
  return say<Hint::ConvertLane>(converted(DataType::U32, gathered_.operands(id)[k], "lane"), std::to_string(k));
}

std::string Hints::argument(StepId id, std::string_view message) const {
  const std::size_t k = number_after(message, "argument ");
  const DataType want = gathered_.callees[gathered_.step(id).op]->spec->function().signature.inputs[k];
  const std::string text = converted(want, gathered_.operands(id)[k], "value");
  return text.empty() ? text : say<Hint::ConvertArgument>(text, std::to_string(k));
}

}  // namespace vyre::validate
