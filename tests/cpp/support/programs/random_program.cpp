#include "support/programs/random_program.hpp"

#include <algorithm>

#include "vyre/fuzz/generate.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::test {
namespace {

using namespace ir;

// Copies generated programs one behind the other, and changes a part of everything in them.
class Scrambler {
 public:
  explicit Scrambler(fuzz::Random random) : random_(random) {}

  Program operator()(std::size_t size) {
    const auto statements = static_cast<std::uint32_t>(std::min<std::size_t>(size, 200));
    do {
      add(fuzz::generate(random_.next(), {.statements = statements, .work = 2000}).program);
    } while (builder_.expr_count() < size);
    return builder_.finish();
  }

 private:
  bool changes() { return random_.chance(6); }

  void change(std::uint32_t& number) { number = changes() ? fuzz::edge_u32(random_) : number; }
  void change(bool& flag) { flag ^= changes(); }
  void change(DataType& type) { type = changes() ? random_.pick(kTypes).type : type; }
  void change(BufferAccess& access) { access = changes() ? random_.pick(kAccesses).access : access; }
  void change(GridIdKind& kind) { kind = changes() ? random_.pick(kGridIds).kind : kind; }
  void change(BinOp& op) { op = changes() ? random_.pick(kBinOps).op : op; }
  void change(UnOp& op) { op = changes() ? random_.pick(kUnOps).op : op; }
  void change(AtomicOp& op) { op = changes() ? random_.pick(kAtomicOps).op : op; }
  std::string_view changed(std::string_view name) { return random_.chance(20) ? random_.pick(awkward_names()) : name; }

  void add(const Program& program) {
    WorkgroupSize size = program.workgroup_size();
    for (std::uint32_t& axis : size) change(axis);
    builder_.workgroup_size(size);
    for (BufferDecl decl : program.buffers()) {
      decl.name = changed(decl.name);
      change(decl.binding);
      change(decl.access);
      decl.atomic &= decl.access == BufferAccess::Workgroup;  // no form can say it of others
      change(decl.element);
      change(decl.count);
      change(decl.output);
      builder_.buffer(std::move(decl));
    }
    const auto name = [&](NameId id) { return builder_.name(changed(program.text(id))); };
    std::vector<ExprId> made;
    const auto operand = [&](ExprId id) { return changes() ? random_.pick(made) : made[id.index]; };
    for (const Expr& expr : program.exprs()) {
      Expr copy = transform::copy_expr(program, expr, builder_, operand, name);
      // A literal has one form alone, and the expected value of an atomic is an operand.
      if (kind(copy) != ExprKind::Literal) {
        for_each_field(copy,
                       overloaded{[](ExprId&) {}, [](ExprList&) {}, [](NameId&) {}, [](bool&) {}, [&](auto& field) { change(field); }});
      }
      made.push_back(builder_.add(copy));
    }
    for (const Node& node : program.nodes()) {
      if (changes()) stray();
      transform::copy_node(node, builder_, operand, name);
    }
  }

  void stray() {
    switch (random_.below(4)) {
      case 0:
        return builder_.return_();
      case 1:
        return builder_.break_();
      case 2:
        return builder_.barrier();
      default:
        return builder_.assign(builder_.name(random_.pick(awkward_names())), builder_.add(Literal::boolean(random_.chance(50))));
    }
  }

  fuzz::Random random_;
  ProgramBuilder builder_;
};

}  // namespace

Program random_program(std::uint64_t seed, std::size_t size) { return random_program(fuzz::Random(seed), size); }

Program random_program(fuzz::Random random, std::size_t size) { return Scrambler(random)(size); }

const std::vector<std::string>& awkward_names() {
  static const std::vector<std::string> names = {
      "a",
      "b",
      "out",
      "i",
      "_",
      "x9",
      "",
      " ",
      "let",
      "if",
      "else",
      "in",
      "vyre",
      "buffer",
      "return",
      "true",
      "min",
      "gid",
      "len",
      "select",
      "count",
      "u32",
      "output",
      "9lives",
      "a-b",
      "a.b",
      "primitive.bitwise.xor",
      "xor@2",
      "%0",
      "#",
      "\"",
      "\\",
      "\\n",
      "\n",
      "\r\n",
      "\t",
      std::string("\0", 1),
      std::string("nul\0nul", 7),
      "\x01\x1b[31m\x7f",
      "\xC2\x80",          // U+0080, the first of two bytes
      "\xDF\xBF",          // U+07FF, the last of two bytes
      "\xE0\xA0\x80",      // U+0800, the first of three bytes
      "\xED\x9F\xBF",      // U+D7FF, the last before the surrogates
      "\xEE\x80\x80",      // U+E000, the first after them
      "\xEF\xBF\xBF",      // U+FFFF, the last of three bytes
      "\xF0\x90\x80\x80",  // U+10000, the first of four bytes
      "\xF4\x8F\xBF\xBF",  // U+10FFFF, the last of all
      "\xEF\xBB\xBF",      // a byte order mark
      "\xE2\x80\xAE",      // U+202E turns what follows around
      "\xE2\x80\xA8",      // U+2028, a line break for some editors
      "\xE6\x97\xA5\xE6\x9C\xAC",
      "__call0_t",
      std::string(300, 'n'),
  };
  return names;
}

}  // namespace vyre::test
