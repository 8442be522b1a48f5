// Writes repr(): a short description, bounded in depth and length because a user's program is not.
#include <fmt/format.h>

#include "bindings/bindings.hpp"
#include "vyre/ir/handles/by_type.hpp"
#include "vyre/ir/handles/infix.hpp"

namespace vyre::python {
namespace {

constexpr std::size_t kLongestText = 240;
constexpr std::size_t kLongestName = 40;
constexpr int kDeepest = 5;

// Cuts a text to at most `length` bytes without splitting a UTF-8 character.
std::string_view cut(std::string_view text, std::size_t length) {
  if (text.size() <= length) return text;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u) --length;
  return text.substr(0, length);
}

std::string short_name(std::string_view name) {
  const std::string_view start = cut(name, kLongestName);
  return std::string(start) + (start.size() < name.size() ? "..." : "");
}

// Appends until the text is long enough. An expression nested deeper than kDeepest is written as an ellipsis, so the recursion is bounded.
class Brief {
 public:
  void expr(const ir::ExprData& data, int depth) {
    if (full()) return;
    if (depth > kDeepest && !data.operands.empty()) {
      put("...");
      return;
    }
    if (data.infix) return infix(ir::info(*data.infix), data, depth);
    if (data.is_integer()) return put(data.number().text());
    const auto word = static_cast<std::uint32_t>(data.bits);
    switch (data.kind) {
      case ir::ExprKind::Literal: {
        const auto literal = ir::Literal::of(static_cast<ir::DataType>(data.op), data.bits);
        if (literal.type == ir::DataType::U32) return put(ir::digits(literal));
        if (literal.type == ir::DataType::Bool) return put(literal.low != 0 ? "True" : "False");
        return put(fmt::format("{}({})", ir::text(literal.type), ir::digits(literal)));
      }
      case ir::ExprKind::Var:
        return put(short_name(data.name));
      case ir::ExprKind::Load:
        put(short_name(data.name));
        put("[");
        expr(*data.operands[0], depth + 1);
        return put("]");
      case ir::ExprKind::BufLen:
        return put(fmt::format("buf_len({})", short_name(data.name)));
      case ir::ExprKind::GridId:
        return put(fmt::format("{}({})", ir::info(static_cast<ir::GridIdKind>(data.op)).name, word));
      case ir::ExprKind::Cast:
        return list("cast", data, depth, ir::name(static_cast<ir::DataType>(data.op)));
      case ir::ExprKind::Call:
        if (const ir::ByType* function = ir::find_by_type(data.name)) return list(function->name, data, depth);
        return list("call", data, depth, short_name(data.name));
      case ir::ExprKind::Lane:
        put("lane(");
        expr(*data.operands[0], depth + 1);
        return put(fmt::format(", {})", word));
      case ir::ExprKind::Pack:
        return list("pack", data, depth, ir::name(static_cast<ir::DataType>(data.op)));
      case ir::ExprKind::Atomic:
        return list(ir::info(static_cast<ir::AtomicOp>(data.op)).text, data, depth, short_name(data.name));
      default:
        break;
    }
    const ir::OpInfo& row = ir::info(data.kind, data.op);
    if (row.infix.empty()) return list(row.text, data, depth);
    between(&row == &ir::info(ir::BinOp::Div) ? "//" : row.infix, data, depth);
  }

  void node(const ir::NodeData& data) {
    switch (data.kind) {
      case ir::NodeKind::Let:
        put(fmt::format("let {} = ", short_name(data.name)));
        return expr(*data.operands[0], 0);
      case ir::NodeKind::Assign:
        put(fmt::format("{} = ", short_name(data.name)));
        return expr(*data.operands[0], 0);
      case ir::NodeKind::Store:
        put(fmt::format("{}[", short_name(data.name)));
        expr(*data.operands[0], 0);
        put("] = ");
        return expr(*data.operands[1], 0);
      case ir::NodeKind::If:
        put("if ");
        expr(*data.operands[0], 0);
        put(statements(data.body.size()));
        if (!data.otherwise.empty()) put(" else" + statements(data.otherwise.size()));
        return;
      case ir::NodeKind::Loop:
        put(fmt::format("loop {} from ", short_name(data.name)));
        expr(*data.operands[0], 0);
        put(" to ");
        expr(*data.operands[1], 0);
        return put(statements(data.body.size()));
      case ir::NodeKind::Block:
        return put("block" + statements(data.body.size()));
      case ir::NodeKind::Barrier:
        return put("barrier");
      case ir::NodeKind::Return:
        return put("return");
      case ir::NodeKind::Break:
        return put("break");
    }
  }

  std::string finish() && { return full() ? std::string(cut(text_, kLongestText)) + "..." : std::move(text_); }

 private:
  bool full() const { return text_.size() > kLongestText; }
  void put(std::string_view text) {
    if (!full()) text_ += text;
  }
  static std::string statements(std::size_t count) { return fmt::format(" {{{} statement{}}}", count, count == 1 ? "" : "s"); }

  // Operators with one operand, and those that are functions in Python, are written as calls.
  void infix(const ir::InfixInfo& row, const ir::ExprData& data, int depth) {
    const ir::Meaning* on_u32 = ir::meaning(row.op, ir::DataType::U32);
    const ir::OpInfo* op = on_u32 != nullptr ? on_u32->op_row() : nullptr;
    if (op != nullptr && op->arity == 1) return list(op->text, data, depth);
    if (row.shape == ir::InfixShape::One || row.symbol == row.function) return list(row.function, data, depth);
    between(row.symbol, data, depth);
  }

  void between(std::string_view symbol, const ir::ExprData& data, int depth) {
    if (depth > 0) put("(");
    expr(*data.operands[0], depth + 1);
    put(fmt::format(" {} ", symbol));
    expr(*data.operands[1], depth + 1);
    if (depth > 0) put(")");
  }

  void list(std::string_view function, const ir::ExprData& data, int depth, std::string_view first = {}) {
    put(function);
    put("(");
    put(first);
    bool separate = !first.empty();
    for (const ir::ExprHandle& operand : data.operands) {
      if (full()) return;
      if (separate) put(", ");
      separate = true;
      expr(*operand, depth + 1);
    }
    put(")");
  }

  std::string text_;
};

std::string count(std::size_t n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

}  // namespace

py::str lenient_str(std::string_view text) {
  PyObject* result = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(result);
}

std::string lenient_text(py::handle object) {
  if (!PyUnicode_Check(object.ptr())) return {};
  const py::object bytes = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(object.ptr(), "utf-8", "backslashreplace"));
  if (!bytes) throw py::error_already_set();
  return bytes.cast<std::string>();
}

std::string quoted_text(std::string_view text) { return py::repr(lenient_str(short_name(text))).cast<std::string>(); }

std::string brief(const ir::ExprHandle& expr) {
  Brief text;
  text.expr(*expr, 0);
  return fmt::format("Expr({})", std::move(text).finish());
}

std::string brief(const ir::NodeHandle& node) {
  Brief text;
  text.node(*node);
  return fmt::format("Node({})", std::move(text).finish());
}

std::string brief(const ir::BufferDecl& decl) {
  const std::string name = quoted_text(decl.name);
  const std::string element = fmt::format("DataType.{}", ir::name(decl.element));
  const std::string length = decl.count > 0 ? fmt::format(", count={}", decl.count) : "";
  switch (decl.access) {
    case ir::BufferAccess::ReadOnly:
      return fmt::format("BufferDecl.read({}, {}, {}{})", name, decl.binding, element, length);
    case ir::BufferAccess::ReadWrite:
      return fmt::format("BufferDecl.{}({}, {}, {}{})", decl.output ? "output" : "read_write", name, decl.binding, element, length);
    case ir::BufferAccess::Uniform:
      return fmt::format("BufferDecl.uniform({}, {}, {}{})", name, decl.binding, element, length);
    case ir::BufferAccess::Workgroup:
      return fmt::format("BufferDecl.workgroup({}, {}, {}{})", name, decl.count, element, decl.atomic ? ", atomic=True" : "");
    case ir::BufferAccess::Private:
      return fmt::format("BufferDecl.private({}, {}, {})", name, decl.count, element);
  }
  return "BufferDecl";
}

std::string brief(const ir::Program& program) {
  constexpr std::size_t kMostBuffers = 6;
  std::string buffers;
  for (std::size_t slot = 0; slot < program.buffers().size() && slot < kMostBuffers; ++slot) {
    const ir::BufferDecl& decl = program.buffers()[slot];
    if (slot > 0) buffers += ", ";
    buffers += fmt::format("{}: {} {}", short_name(decl.name), ir::info(decl.access).text, ir::text(decl.element));
  }
  if (program.buffers().size() > kMostBuffers) buffers += fmt::format(", ... {} more", program.buffers().size() - kMostBuffers);
  // Counts statements as V019 does: Else and End do not count.
  std::size_t statements = 0;
  for (const ir::Node& node : program.nodes()) {
    if (!std::holds_alternative<ir::Else>(node) && !std::holds_alternative<ir::End>(node)) ++statements;
  }
  const ir::WorkgroupSize& size = program.workgroup_size();
  return fmt::format("<vyre.Program ({}) workgroup_size=({}, {}, {}), {}, {}>", buffers, size[0], size[1], size[2],
                     count(statements, "statement"), count(program.exprs().size(), "expression"));
}

}  // namespace vyre::python
