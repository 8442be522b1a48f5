#include "vyre/validate/resolution.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <variant>

#include "vyre/ir/handles/infix.hpp"
#include "vyre/validate/checks.hpp"
#include "vyre/validate/gather.hpp"
#include "vyre/validate/op_bodies.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::validate {
namespace {

using ir::DataType;
using ir::Mistake;

// Each of the two operands may be the one to convert.
std::string operands_fix(const Gathered& gathered, StepId at) {
  std::string fix = "cast one of them so that both have one type";
  const std::span<const StepId> operands = gathered.operands(at);
  for (const StepId each : operands) {
    for (const StepId other : operands) {
      if (std::string text = computed_as(gathered, gathered.step(each), gathered.step(other).type); !text.empty()) fix = "write " + text;
    }
  }
  return fix;
}

std::string undefined_fix(DataType type) {
  if (ir::lanes(type) > 1) return "apply it to each lane, vyre.lane(x, 0) and the others";
  return "write vyre.cast(vyre.u32, x) for each operand x";
}

// A negative integer that a variable without a sign is assigned is a mistake of how the variable begins, or of the integer.
std::string literal_fix(const ir::Program& program, const Mistake& mistake) {
  const auto* assign = std::get_if<ir::Assign>(&program.node(mistake.statement));
  const bool begins = assign != nullptr && assign->value == mistake.expr && mistake.number.negative && mistake.left == ir::kU32;
  return fmt::format("{}write an integer of that range",
                     begins ? fmt::format("begin variable `{}` as an I32, or ", program.text(assign->name)) : "");
}

}  // namespace

std::string computed_as(const Gathered& gathered, const Step& value, DataType want) {
  const ir::Program& program = *gathered.program;
  ExprId at = value.expr;
  if (value.local.valid() && !gathered.facts.locals[value.local].assigned) {
    const NodeId declaration = gathered.facts.locals[value.local].declaration;
    const auto* let = declaration.valid() ? std::get_if<ir::Let>(&program.node(declaration)) : nullptr;
    if (let != nullptr) at = let->value;
  }
  // Operators of I32 are those of U32 between casts.
  const auto* cast = std::get_if<ir::Cast>(&program.expr(at));
  const bool is_signed = cast != nullptr && cast->target == DataType::I32;
  const ir::OpInfo* op = ir::operator_of(program.expr(is_signed ? cast->value : at));
  if (want == DataType::U64 && op == &ir::info(ir::BinOp::Shl)) return "vyre.u64(x) << n for x << n";
  if (want == DataType::U64 && op == &ir::info(ir::BinOp::Shr) && !is_signed) return "vyre.u64(x) >> n for x >> n";
  if (want == DataType::Bool && op == &ir::info(ir::UnOp::BitNot)) return "vyre.logical_not(x) for ~x";
  return {};
}

// A Program holds explicit operators and typed literals alone, so there is nothing to find in one: resolve() finds these mistakes
// while it makes the Program.
void check_V039(const Gathered&, Report&) {}

Diagnostics diagnose(const ir::Resolved& resolved, const ir::OpTable& ops) {
  OpBodies bodies(ops);
  const Gathered gathered = gather(resolved.program, nullptr, bodies, false);
  Report report(gathered);
  for (const Mistake& mistake : resolved.mistakes) {
    Site site = Site::of(mistake.statement);
    StepId at;
    const Statement& steps = gathered.facts.statements[mistake.statement];
    for (std::uint32_t k = 0; k < steps.step_count; ++k) {
      const StepId step{steps.first_step + k};
      if (gathered.step(step).expr == mistake.expr) site = Site::of(at = step);
    }
    const std::string_view op = mistake.op ? ir::info(*mistake.op).symbol : "";
    const std::string_view left = ir::text(mistake.left), right = ir::text(mistake.right);
    switch (mistake.kind) {
      case Mistake::Kind::Operands:
        report.add<Message::InfixOperands>(site, op, left, right, operands_fix(gathered, at));
        break;
      case Mistake::Kind::Undefined:
        report.add<Message::InfixUndefined>(site, op, left, undefined_fix(mistake.left));
        break;
      case Mistake::Kind::Literal:
        report.add<Message::LiteralRange>(site, mistake.number.text(), left, ir::range(mistake.left).least.text(),
                                          ir::range(mistake.left).greatest.text(), literal_fix(resolved.program, mistake));
        break;
      case Mistake::Kind::Truth:
        report.add<Message::InvertedTruth>(site);
        break;
      case Mistake::Kind::Amount:
        report.add<Message::InfixAmount>(site, op, left);
        break;
    }
  }
  return locate(gathered, std::move(report).in_program_order());
}

}  // namespace vyre::validate
