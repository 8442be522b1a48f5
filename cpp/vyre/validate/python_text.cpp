// Expressions are written recursively, at most kDeepestExpr levels deep, and only where a second evaluation would change nothing. Operators
// depend on the types of both operands: a type of its own row gets `Expr.<operator>`, I32 the signed forms or a cast there and back, U64 a
// registered operation, and vectors their lanes one by one.
#include "vyre/validate/python_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "vyre/base/overloaded.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/literal_text.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::validate {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::UnOp;

constexpr std::size_t kLongestExpr = 120;
constexpr int kDeepestExpr = 4;

std::string call_axis(ir::GridIdKind kind, std::uint32_t axis) {
  const ir::GridIdInfo& row = ir::info(kind);
  return axis < 3 ? fmt::format("Expr.{}_{}()", row.short_name, "xyz"[axis]) : fmt::format("Expr.{}({})", row.name, axis);
}

// Nothing for what is too deep or long, and for what a second evaluation would do twice.
std::optional<std::string> written(const ir::Program& program, ExprId id, int depth, const std::unordered_set<ExprId>& wrong) {
  if (depth > kDeepestExpr || wrong.contains(id)) return std::nullopt;
  const auto name = [&](NameId of) { return python_name(program.text(of)); };
  bool whole = true;
  const auto inner = [&](ExprId operand) {
    std::optional<std::string> text = written(program, operand, depth + 1, wrong);
    whole = whole && text.has_value();
    return text.value_or("");
  };
  std::string text = match(
      program.expr(id),
      [](const ir::Literal& literal) {
        if (literal.type == ir::DataType::U32) return ir::digits(literal);
        if (literal.type == ir::DataType::Bool) return std::string(literal.low != 0 ? "True" : "False");
        return fmt::format("Expr.{}({})", ir::text(literal.type), ir::digits(literal));
      },
      [&](const ir::Var& var) { return fmt::format("Expr.var({})", name(var.name)); },
      [&](const ir::Load& load) { return fmt::format("Expr.load({}, {})", name(load.buffer), inner(load.index)); },
      [&](const ir::BufLen& length) { return fmt::format("Expr.buf_len({})", name(length.buffer)); },
      [](const ir::GridId& grid) { return call_axis(grid.kind, grid.axis); },
      [&](const ir::Binary& binary) {
        const std::string left = inner(binary.left);
        return fmt::format("Expr.{}({}, {})", ir::info(binary.op).text, left, inner(binary.right));
      },
      [&](const ir::Unary& unary) { return fmt::format("Expr.{}({})", ir::info(unary.op).text, inner(unary.operand)); },
      [&](const ir::Select& select) {
        const std::string condition = inner(select.condition), if_true = inner(select.if_true);
        return fmt::format("Expr.select({}, {}, {})", condition, if_true, inner(select.if_false));
      },
      [&](const ir::Cast& cast) { return fmt::format("Expr.cast({}, {})", python_type(cast.target), inner(cast.value)); },
      [&](const ir::Lane& lane) { return fmt::format("Expr.lane({}, {})", inner(lane.value), lane.lane); },
      [&](const auto&) {  // Call, Pack, Atomic
        whole = false;
        return std::string();
      });
  if (!whole || text.size() > kLongestExpr) return std::nullopt;
  return text;
}

std::string literal(DataType type, std::string_view number) { return fmt::format("Expr.{}({})", ir::text(type), number); }

bool is_large(const PythonOperand& operand) {
  return operand.literal && (operand.code.size() > 10 || (operand.code.size() == 10 && operand.code > "2147483647"));
}

// The operand as a value of another type. An integer is written in that type instead, a large one as the I32 of the same bits.
std::string as(DataType want, const PythonOperand& operand) {
  if (operand.literal && want == DataType::I32 && is_large(operand)) {
    return literal(want, std::to_string(static_cast<std::int32_t>(std::stoul(operand.code))));
  }
  if (operand.literal && (want == DataType::U64 || want == DataType::I32)) return literal(want, operand.code);
  return python_converted(want, operand.type, operand.code);
}

bool is_shift(BinOp op) {
  return op == BinOp::Shl || op == BinOp::Shr || op == BinOp::SShr || op == BinOp::RotateLeft || op == BinOp::RotateRight;
}
bool is_scalar_result(BinOp op) { return (ir::info(op).laws & ir::kTruth) != 0; }

std::string function(BinOp op, std::string_view left, std::string_view right) {
  return fmt::format("Expr.{}({}, {})", ir::info(op).text, left, right);
}
std::string call(std::string_view op_id, std::string_view arguments) { return fmt::format("Expr.call(\"{}\", [{}])", op_id, arguments); }
std::string call(std::string_view op_id, std::string_view left, std::string_view right) {
  return fmt::format("Expr.call(\"{}\", [{}, {}])", op_id, left, right);
}
std::string cast_to(DataType type, std::string_view code) { return fmt::format("Expr.cast({}, {})", python_type(type), code); }

// The name that an operation on U64 with the meaning of this operator has, if there is one.
std::string_view u64_name(BinOp op) {
  switch (op) {
    case BinOp::Mod:
      return "mod";
    case BinOp::BitAnd:
      return "and";
    case BinOp::BitOr:
      return "or";
    case BinOp::BitXor:
      return "xor";
    default:
      return ir::info(op).text;
  }
}

std::string on_i32(BinOp op, const PythonOperand& left_operand, const PythonOperand& right_operand, const std::string& amount) {
  const std::string left = as(DataType::I32, left_operand), left_bits = as(DataType::U32, left_operand);
  const std::string right = is_shift(op) ? std::string() : as(DataType::I32, right_operand);
  const std::string right_bits = as(DataType::U32, right_operand);
  switch (op) {
    case BinOp::Add:
      return call("primitive.math.sadd", left, right);
    case BinOp::Sub:
      return call("primitive.math.ssub", left, right);
    case BinOp::Mul:
      return call("primitive.math.smul", left, right);
    case BinOp::Div:
      return function(BinOp::SDiv, left, right);
    case BinOp::Mod:
      return function(BinOp::SMod, left, right);
    case BinOp::Lt:
      return function(BinOp::SLt, left, right);
    case BinOp::Gt:
      return function(BinOp::SGt, left, right);
    case BinOp::Le:
      return function(BinOp::SLe, left, right);
    case BinOp::Ge:
      return function(BinOp::SGe, left, right);
    case BinOp::Min:
      return function(BinOp::SMin, left, right);
    case BinOp::Max:
      return function(BinOp::SMax, left, right);
    case BinOp::Shr:
      return function(BinOp::SShr, left, amount);
    case BinOp::Shl:
    case BinOp::RotateLeft:
    case BinOp::RotateRight:
      return cast_to(DataType::I32, function(op, left_bits, amount));
    case BinOp::BitAnd:
    case BinOp::BitOr:
    case BinOp::BitXor:
      return cast_to(DataType::I32, function(op, left_bits, right_bits));
    case BinOp::Eq:
    case BinOp::Ne:
    case BinOp::And:
    case BinOp::Or:
      return function(op, left_bits, right_bits);
    case BinOp::AbsDiff:
      return function(BinOp::Sub, cast_to(DataType::U32, function(BinOp::SMax, left, right)),
                      cast_to(DataType::U32, function(BinOp::SMin, left, right)));
    case BinOp::MulHigh: {
      // Sign-extended factors have the signed product in 64 bits.
      const std::string product = call("primitive.u64.mul", cast_to(DataType::U64, left), cast_to(DataType::U64, right));
      return cast_to(DataType::I32, fmt::format("Expr.lane({}, 1)", product));
    }
    case BinOp::SDiv:
    case BinOp::SMod:
    case BinOp::SLt:
    case BinOp::SGt:
    case BinOp::SLe:
    case BinOp::SGe:
    case BinOp::SMin:
    case BinOp::SMax:
      return function(op, left, right);
    case BinOp::SShr:
      return function(op, left, amount);
    default:  // it has no signed form
      return {};
  }
}

std::string on_u64(BinOp op, const std::string& left, const std::string& right, const std::string& amount, const ir::OpTable& ops) {
  if (op == BinOp::And || op == BinOp::Or) {
    const auto truth = [](const std::string& code) { return call("primitive.u64.ne", code, "Expr.u64(0)"); };
    return function(op, truth(left), truth(right));
  }
  const std::string id = fmt::format("primitive.u64.{}", u64_name(op));
  return ops.find(id) ? call(id, left, is_shift(op) ? amount : right) : std::string();
}

// Lane `k` of a vector or U64; the whole of anything else, as U32.
std::string lane(const PythonOperand& operand, std::string_view k) {
  if (ir::lanes(operand.type) > 1) return fmt::format("Expr.lane({}, {})", operand.code, k);
  return as(DataType::U32, operand);
}

}  // namespace

std::string python_name(std::string_view name) {
  constexpr std::size_t kWhole = 200;
  return python_literal(name.size() <= kWhole ? name : std::string_view(Text(name).text()));
}

std::string python_type(DataType type) { return fmt::format("DataType.{}", ir::name(type)); }

std::string python_declaration(const ir::BufferDecl& decl) {
  const std::string name = python_name(decl.name), element = python_type(decl.element);
  const std::string length = decl.count > 0 ? fmt::format(", count={}", decl.count) : "";
  const char* function = "read";
  switch (decl.access) {
    case ir::BufferAccess::ReadOnly:
      break;
    case ir::BufferAccess::ReadWrite:
      function = decl.output ? "output" : "read_write";
      break;
    case ir::BufferAccess::Uniform:
      function = "uniform";
      break;
    case ir::BufferAccess::Workgroup:
      return fmt::format("BufferDecl.workgroup({}, {}, {}{})", name, decl.count, element, decl.atomic ? ", atomic=True" : "");
    case ir::BufferAccess::Private:
      return fmt::format("BufferDecl.private({}, {}, {})", name, decl.count, element);
  }
  return fmt::format("BufferDecl.{}({}, {}, {}{})", function, name, decl.binding, element, length);
}

std::string python_expr(const ir::Program& program, ExprId id, std::string_view otherwise, const std::unordered_set<ExprId>& wrong) {
  return written(program, id, 0, wrong).value_or(std::string(otherwise));
}

std::string python_zero(DataType type) {
  const ir::TypeInfo& row = ir::info(type);
  if (row.kind == ir::TypeKind::Boolean) return "Expr.bool(False)";
  if (row.literal) return literal(type, "0");
  return row.components == 2 ? "Expr.vec2(0, 0)" : row.components == 4 ? "Expr.vec4(0, 0, 0, 0)" : "Expr.u32(0)";
}

std::string python_converted(DataType want, DataType got, std::string_view code) {
  if (want == got) return std::string(code);
  if (want == DataType::Bytes || !known(got)) return {};
  if (ir::cast_kind(got, want)) return cast_to(want, code);
  std::string lanes;
  for (std::uint32_t k = 0; k < ir::lanes(want); ++k) {
    lanes += k == 0 ? "" : ", ";
    lanes += k < ir::lanes(got) ? fmt::format("Expr.lane({}, {})", code, k) : "0";
  }
  return fmt::format("Expr.pack({}, [{}])", python_type(want), lanes);
}

std::string python_binary(BinOp op, const PythonOperand& left, const PythonOperand& right, const ir::OpTable& ops) {
  // The amount of a shift is U32 whatever is shifted.
  const bool right_decides = !is_shift(op) && (left.type == DataType::U32 || left.type == DataType::Bool);
  const DataType type = right_decides ? right.type : left.type;
  const std::string amount = as(DataType::U32, right);
  if (ir::info(op).left == DataType::I32 || type == DataType::I32) {
    return on_i32(op, left, right, amount);
  }
  if (type == DataType::U64) return on_u64(op, as(DataType::U64, left), as(DataType::U64, right), amount, ops);
  if (!ir::is_vector(type)) return function(op, as(DataType::U32, left), amount);
  if (is_scalar_result(op)) return function(op, lane(left, "0"), lane(right, "0"));
  const std::uint32_t others = ir::lanes(right_decides ? left.type : right.type);
  const std::uint32_t count = others > 1 ? std::min(others, ir::lanes(type)) : ir::lanes(type);
  const DataType result = count == 2 ? DataType::Vec2U32 : DataType::Vec4U32;
  return fmt::format("Expr.pack({}, [{} for k in range({})])", python_type(result), function(op, lane(left, "k"), lane(right, "k")), count);
}

std::optional<BeyondI32> python_beyond_i32(BinOp op, const PythonOperand& left, const PythonOperand& right) {
  const bool on_the_left = is_large(left);
  if (on_the_left == is_large(right)) return std::nullopt;
  const PythonOperand &large = on_the_left ? left : right, &other = on_the_left ? right : left;
  const bool is_signed = ir::info(op).left == DataType::I32;
  if (!is_signed && other.type != DataType::I32) return std::nullopt;
  if (is_shift(op) && (!on_the_left || op == BinOp::Shl || !is_signed)) return std::nullopt;
  BinOp plain = op;
  std::optional<bool> always;
  switch (op) {
    case BinOp::Lt:
    case BinOp::SLt:
      plain = BinOp::Lt, always = !on_the_left;
      break;
    case BinOp::Le:
    case BinOp::SLe:
      plain = BinOp::Le, always = !on_the_left;
      break;
    case BinOp::Gt:
    case BinOp::SGt:
      plain = BinOp::Gt, always = on_the_left;
      break;
    case BinOp::Ge:
    case BinOp::SGe:
      plain = BinOp::Ge, always = on_the_left;
      break;
    case BinOp::Div:
    case BinOp::SDiv:
      plain = BinOp::Div;
      break;
    case BinOp::Mod:
    case BinOp::SMod:
      plain = BinOp::Mod;
      break;
    case BinOp::Min:
    case BinOp::SMin:
      plain = BinOp::Min;
      break;
    case BinOp::Max:
    case BinOp::SMax:
      plain = BinOp::Max;
      break;
    case BinOp::SShr:
      plain = BinOp::Shr;
      break;
    case BinOp::AbsDiff:
    case BinOp::MulHigh:
      break;
    default:
      return std::nullopt;  // the same bits for both signs
  }
  return BeyondI32{large.code, function(plain, as(DataType::U32, left), as(DataType::U32, right)), always};
}

std::optional<BinOp> python_opposite(BinOp op) {
  switch (op) {
    case BinOp::Lt:
      return BinOp::Ge;
    case BinOp::Ge:
      return BinOp::Lt;
    case BinOp::Gt:
      return BinOp::Le;
    case BinOp::Le:
      return BinOp::Gt;
    case BinOp::Eq:
      return BinOp::Ne;
    case BinOp::Ne:
      return BinOp::Eq;
    case BinOp::SLt:
      return BinOp::SGe;
    case BinOp::SGe:
      return BinOp::SLt;
    case BinOp::SGt:
      return BinOp::SLe;
    case BinOp::SLe:
      return BinOp::SGt;
    default:
      return std::nullopt;
  }
}

std::string python_unary(UnOp op, const PythonOperand& operand) {
  const std::string_view name = ir::info(op).text;
  const auto on_bits = [&](std::string_view code) { return fmt::format("Expr.{}({})", name, code); };
  const std::string bits = as(DataType::U32, operand);
  if (operand.type == DataType::I32) {
    if (op == UnOp::Negate) return call("primitive.math.snegate", operand.code);
    return op == UnOp::BitNot || op == UnOp::ReverseBits ? cast_to(DataType::I32, on_bits(bits)) : on_bits(bits);
  }
  if (operand.type == DataType::U64) {
    return call(fmt::format("primitive.u64.{}", op == UnOp::BitNot ? "not" : op == UnOp::LogicalNot ? "is_zero" : name), operand.code);
  }
  if (operand.type == DataType::Bool && op == UnOp::BitNot) return fmt::format("Expr.logical_not({})", bits);
  if (ir::is_vector(operand.type)) {
    return fmt::format("Expr.pack({}, [{} for k in range({})])", python_type(operand.type), on_bits(lane(operand, "k")),
                       ir::lanes(operand.type));
  }
  return on_bits(bits);
}

}  // namespace vyre::validate
