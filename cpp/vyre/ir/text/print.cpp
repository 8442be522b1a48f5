// One pass over the expressions decides which are numbered (%0, %1 ...): those that are used in several places, and those that are too deep
// or too large for a line. A second pass prints the statements. In front of a statement stand the definitions of the numbered expressions
// that it is the first to reach.
#include "vyre/ir/text/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "vyre/base/utf8.hpp"
#include "vyre/ir/number.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/text_form.hpp"

namespace vyre::ir {
namespace {

using namespace text_form;

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program), numbers_(program.exprs().size()) { choose_numbered(); }

  // `ends`: where the line of each statement ends.
  std::string operator()(std::vector<std::size_t>* ends = nullptr) {
    header();
    for (const Node& node : program_.nodes()) {
      print(node);
      if (ends != nullptr) ends->push_back(out_.size());
    }
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kInline = ExprId::kNone;

  // An expression is written out where it is used, unless it is used in several places (sharing is a part of the program) or
  // grows too deep or too large for one line. Operands precede users, so one loop decides.
  void choose_numbered() {
    struct Shape {
      std::uint32_t depth = 1, size = 1;  // of what is written out in its place
    };
    IdVector<ExprId, std::uint32_t> uses(program_.exprs().size());
    IdVector<ExprId, bool> is_operand(program_.exprs().size());
    IdVector<ExprId, Shape> shapes(program_.exprs().size());
    for (std::uint32_t index = 0; index < program_.exprs().size(); ++index) {
      for_each_operand(program_, ExprId{index}, [&](ExprId id) {
        ++uses[id];
        is_operand[id] = true;
      });
    }
    for (const Node& node : program_.nodes()) {
      for_each_root(node, [&](ExprId id) { ++uses[id]; });
    }
    std::uint32_t number = 0;
    for (std::uint32_t index = 0; index < program_.exprs().size(); ++index) {
      const ExprId id{index};
      Shape shape;
      for_each_operand(program_, id, [&](ExprId operand) {
        if (numbers_[operand] != kInline) {
          ++shape.size;
          return;
        }
        shape.depth = std::max(shape.depth, shapes[operand].depth + 1);
        shape.size += shapes[operand].size;
      });
      shapes[id] = shape;
      const bool long_operand = is_operand[id] && (shape.depth >= kInlineDepth || shape.size >= kInlineSize);
      numbers_[id] = uses[id] > 1 || long_operand ? number++ : kInline;
    }
  }

  void put(std::string_view text) { out_ += text; }
  void put(std::uint64_t number) {
    const fmt::format_int digits(number);
    out_.append(digits.data(), digits.size());
  }
  void put_quoted(std::string_view name) {
    out_.push_back('"');
    append_escaped(out_, name);
    out_.push_back('"');
  }
  void put_name(std::string_view name) { is_bare_name(name) ? put(name) : put_quoted(name); }
  void put_name(NameId name) { put_name(program_.text(name)); }

  void header() {
    put("vyre ");
    put(kVersion);
    put("\nworkgroup_size");
    for (std::uint32_t size : program_.workgroup_size()) {
      put(" ");
      put(size);
    }
    put("\n");
    for (const BufferDecl& decl : program_.buffers()) {
      put("buffer ");
      put_name(decl.name);
      put(": ");
      put(info(decl.access).text);
      if (decl.atomic) put(" atomic");
      put(" ");
      put(text(decl.element));
      if (is_bound(decl.access) || decl.binding != 0) {
        put(" binding ");
        put(decl.binding);
      }
      if (decl.count != 0) {
        put(" count ");
        put(decl.count);
      }
      if (decl.output) put(" output");
      put("\n");
    }
    if (!program_.nodes().empty()) put("\n");
  }

  void indent() { out_.append(std::size_t{2} * std::min(level_, kIndentedLevels), ' '); }

  void print(const Node& node) {
    define_reached(node);
    match(
        node,
        [&](const Let& let) {
          indent();
          put("let ");
          put_name(let.name);
          put(" = ");
          put_expr(let.value);
        },
        [&](const Assign& assign) {
          indent();
          put_name(assign.name);
          put(" = ");
          put_expr(assign.value);
        },
        [&](const Store& store) {
          indent();
          put_name(store.buffer);
          put("[");
          put_expr(store.index);
          put("] = ");
          put_expr(store.value);
        },
        [&](const If& branch) {
          indent();
          put("if ");
          put_expr(branch.condition);
          put(" {");
          ++level_;
        },
        [&](const Else&) {
          --level_;
          indent();
          put("} else {");
          ++level_;
        },
        [&](const Loop& loop) {
          indent();
          put("loop ");
          put_name(loop.variable);
          put(" in ");
          put_operand(loop.from);
          put("..");
          put_operand(loop.to);
          put(" {");
          ++level_;
        },
        [&](const Block&) {
          indent();
          put("block {");
          ++level_;
        },
        [&](const End&) {
          --level_;
          indent();
          put("}");
        },
        [&](const Barrier&) {
          indent();
          put("barrier");
        },
        [&](const Return&) {
          indent();
          put("return");
        },
        [&](const Break&) {
          indent();
          put("break");
        });
    put("\n");
  }

  // The canonical form keeps what a statement is the first to reach next to each other, up to the last of its roots.
  void define_reached(const Node& node) {
    std::uint32_t end = defined_;
    for_each_root(node, [&](ExprId root) { end = std::max(end, root.index + 1); });
    for (; defined_ < end; ++defined_) {
      const ExprId id{defined_};
      if (numbers_[id] == kInline) continue;
      indent();
      put_number(id);
      put(" = ");
      put_written_out(id, false);
      put("\n");
    }
  }

  void put_number(ExprId id) {
    put("%");
    put(numbers_[id]);
  }
  // Where nothing but an operator could be misread: the right of `=`, between brackets, after a comma.
  void put_expr(ExprId id) { numbers_[id] == kInline ? put_written_out(id, false) : put_number(id); }
  void put_operand(ExprId id) { numbers_[id] == kInline ? put_written_out(id, true) : put_number(id); }

  void put_further(std::span<const ExprId> operands) {
    for (ExprId id : operands) {
      put(", ");
      put_expr(id);
    }
    put(")");
  }

  // Recurses at most kInlineDepth deep.
  void put_written_out(ExprId id, bool nested) {
    match(
        program_.expr(id),
        [&](const Literal& literal) {
          put(digits(literal));
          if (literal.type != DataType::U32 && literal.type != DataType::Bool) put(text(literal.type));
        },
        [&](const Var& var) { put_name(var.name); },
        [&](const Load& load) {
          put_name(load.buffer);
          put("[");
          put_expr(load.index);
          put("]");
        },
        [&](const BufLen& length) {
          put("len(");
          put_name(length.buffer);
          put(")");
        },
        [&](const GridId& grid) {
          put(info(grid.kind).text);
          if (grid.axis < kAxes.size()) {
            put(".");
            put(kAxes.substr(grid.axis, 1));
          } else {
            put("(");
            put(grid.axis);
            put(")");
          }
        },
        [&](const Applied auto& it) {
          const OpInfo& op = info(it.op);
          const auto operands = applied_to(it);
          if (op.infix.empty()) {
            put(op.text);
            put("(");
            put_expr(operands.front());
            return put_further(std::span(operands).template subspan<1>());
          }
          if (nested) put("(");
          put_operand(operands.front());
          for (std::size_t k = 1; k < operands.size(); ++k) {
            put(" ");
            put(op.infix);
            put(" ");
            put_operand(operands[k]);
          }
          if (nested) put(")");
        },
        [&](const Cast& cast) {
          put("cast(");
          put(text(cast.target));
          put_further(std::span(&cast.value, 1));
        },
        [&](const Call& call) {
          put("call(");
          put_quoted(program_.text(call.op));
          put_further(program_.operands(call.arguments));
        },
        [&](const Lane& lane) {
          put("lane(");
          put_expr(lane.value);
          put(", ");
          put(lane.lane);
          put(")");
        },
        [&](const Pack& pack) {
          put("pack(");
          put(text(pack.type));
          put_further(program_.operands(pack.lanes));
        },
        [&](const Atomic& atomic) {
          put(info(atomic.op).text);
          put("(");
          put_name(atomic.buffer);
          put_further(program_.operands(atomic.operands));
        });
  }

  const Program& program_;
  IdVector<ExprId, std::uint32_t> numbers_;  // n of %n, or kInline
  std::uint32_t defined_ = 0;                // expressions below this one have had their definitions
  std::uint32_t level_ = 0;
  std::string out_;
};

}  // namespace

std::string to_text(const Program& program) { return Printer(program)(); }

std::string to_text(const Program& program, IdVector<NodeId, std::uint32_t>& lines) {
  std::vector<std::size_t> ends;
  std::string text = Printer(program)(&ends);
  lines = IdVector<NodeId, std::uint32_t>(ends.size());
  std::uint32_t line = 0;
  std::size_t at = 0;
  for (std::uint32_t node = 0; node < ends.size(); ++node) {
    line += static_cast<std::uint32_t>(
        std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(ends[node]), '\n'));
    at = ends[node];
    lines[NodeId{node}] = line;
  }
  return text;
}

}  // namespace vyre::ir
