#include "support/programs/random_program.hpp"

#include <algorithm>
#include <array>

#include "vyre/ir/builder.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::test {
namespace {

using namespace ir;

class Generator {
 public:
  explicit Generator(Choices choices) : random_(std::move(choices)) {}

  Program operator()(std::size_t size) {
    for (std::size_t left = below(4); left > 0; --left) buffer();
    if (chance(2)) builder_.workgroup_size({number(), number(), number()});
    for (std::size_t left = size; left > 0; --left) {
      if (chance(2)) exprs_.push_back(expr());
      statement();
    }
    while (builder_.open_blocks() > 0) end();
    return builder_.finish();
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }  // not std's distributions: they differ between libraries
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  template <class T, std::size_t count>
  const T& any(const std::array<T, count>& items) {
    return items[below(count)];
  }

  std::uint32_t number() {
    static constexpr std::array<std::uint32_t, 10> kEdges = {0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 64};
    return chance(3) ? static_cast<std::uint32_t>(random_()) : any(kEdges);
  }
  const std::string& text() { return awkward_names()[below(awkward_names().size())]; }
  NameId name() { return builder_.name(text()); }
  DataType type() { return any(kTypes).type; }

  void buffer() {
    BufferDecl decl;
    decl.name = text();
    decl.binding = chance(2) ? 0 : number();
    decl.access = any(kAccesses).access;
    decl.element = type();
    decl.count = chance(2) ? 0 : number();
    decl.output = chance(3);
    builder_.buffer(std::move(decl));
  }

  // Mostly recent ones, so that chains grow deep; old ones too, so that they are shared.
  ExprId operand() {
    if (exprs_.empty() || chance(4)) exprs_.push_back(leaf());
    const std::size_t count = exprs_.size();
    return chance(3) ? exprs_[below(count)] : exprs_[count - 1 - below(std::min<std::size_t>(count, 3))];
  }
  ExprList operands(std::size_t count) {
    std::vector<ExprId> list;
    for (; count > 0; --count) list.push_back(operand());
    return builder_.list(list);
  }

  ExprId leaf() {
    switch (below(7)) {
      case 0:
        return builder_.add(Literal::u32(number()));
      case 1:
        return builder_.add(Literal::i32(static_cast<std::int32_t>(number())));
      case 2:
        return builder_.add(Literal::boolean(chance(2)));
      case 3:
        return builder_.add(Literal{DataType::U64, number(), number()});
      case 4:
        return builder_.add(Var{name()});
      case 5:
        return builder_.add(BufLen{name()});
      default:
        return builder_.add(GridId{static_cast<GridIdKind>(below(3)), chance(4) ? number() : static_cast<std::uint32_t>(below(3))});
    }
  }

  ExprId expr() {
    switch (below(10)) {
      case 0:
        return leaf();
      case 1:
        return builder_.add(Load{name(), operand()});
      case 2:
      case 3:
        return builder_.add(Binary{any(kBinOps).op, operand(), operand()});
      case 4:
        return builder_.add(Unary{any(kUnOps).op, operand()});
      case 5:
        return builder_.add(Select{operand(), operand(), operand()});
      case 6:
        return builder_.add(Cast{type(), operand()});
      case 7:
        return builder_.add(Call{name(), operands(below(5))});
      case 8:
        return chance(2) ? builder_.add(Lane{operand(), number()}) : builder_.add(Pack{type(), operands(below(6))});
      default: {
        const bool has_expected = chance(2);
        return builder_.add(Atomic{any(kAtomicOps).op, has_expected, name(), operands(has_expected ? 3 : 2)});
      }
    }
  }

  void statement() {
    switch (below(11)) {
      case 0:
      case 1:
        return builder_.let(name(), operand());
      case 2:
        return builder_.assign(name(), operand());
      case 3:
      case 4:
        return builder_.store(name(), operand(), operand());
      case 5:
        builder_.if_(operand());
        return may_else_.push_back(true);
      case 6:
        builder_.loop(name(), operand(), operand());
        return may_else_.push_back(false);
      case 7:
        builder_.block();
        return may_else_.push_back(false);
      case 8:
        return chance(3) ? builder_.break_() : chance(2) ? builder_.barrier() : builder_.return_();
      default:
        if (may_else_.empty()) return;
        if (!may_else_.back() || chance(2)) return end();
        builder_.else_();
        may_else_.back() = false;
    }
  }
  void end() {
    builder_.end();
    may_else_.pop_back();
  }

  Choices random_;
  ProgramBuilder builder_;
  std::vector<ExprId> exprs_;
  std::vector<bool> may_else_;  // of the open blocks
};

}  // namespace

Program random_program(std::uint64_t seed, std::size_t size) { return random_program(Choices(seed), size); }

Program random_program(Choices choices, std::size_t size) { return Generator(std::move(choices))(size); }

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
