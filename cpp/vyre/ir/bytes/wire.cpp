// The layout is described in python/vyre/docs/binary-form.md; wire_test.cpp holds every number of it fast.
#include "vyre/ir/bytes/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/bytes/byte_writer.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ir {
namespace {

// The first byte is no text in any encoding, so that neither form can be taken for the other.
constexpr std::string_view kMagic = "\x93VYRE";
constexpr std::uint32_t kVersion = 1;

enum class NodeTag : std::uint32_t {
#define NODE(kind, number) kind = number,
#include "vyre/ir/kinds.def"
};

// The fewest bytes an entry takes: what a count is checked against before anything is allocated for it.
constexpr std::size_t kLeastName = 1, kLeastBuffer = 6, kLeastExpr = 2, kLeastNode = 1, kLeastOperand = 1;

class Writer : ByteWriter {
 public:
  std::string operator()(const Program& program) {
    put_bytes(kMagic);
    put(kVersion);
    for (std::uint32_t size : program.workgroup_size()) put(size);

    // Names of buffers stand in their declarations; the canonical form numbers them first.
    Interner names;
    put(program.buffers().size());
    for (const BufferDecl& decl : program.buffers()) {
      names.intern(decl.name);
      put(decl.name);
      put(static_cast<std::uint32_t>(decl.access));
      put(static_cast<std::uint32_t>(decl.element));
      put(decl.binding);
      put(decl.count);
      put(std::uint32_t{decl.output} | std::uint32_t{decl.atomic} << 1);
    }
    put(program.names().size() - names.size());
    for (auto index = static_cast<std::uint32_t>(names.size()); index < program.names().size(); ++index) put(program.text(NameId{index}));

    put(program.exprs().size());
    for (std::uint32_t index = 0; index < program.exprs().size(); ++index) put(program, ExprId{index});
    put(program.nodes().size());
    for (const Node& node : program.nodes()) put(node);
    return written();
  }

 private:
  using ByteWriter::put;
  void put(NameId name) { put(name.index); }

  void put(const Program& program, ExprId id) {
    const Expr& expr = program.expr(id);
    put(kind_number(expr));
    if (const Literal* literal = std::get_if<Literal>(&expr)) return put(literal->bits());
    // An operand is written as the way back to it, which is short in nearly every expression.
    const auto operand = [&](const ExprId& from) { put(id.index - from.index); };
    const auto list = [&](const ExprList& pooled) {
      const std::span<const ExprId> operands = program.operands(pooled);
      if (!std::holds_alternative<Atomic>(expr)) put(operands.size());  // an atomic's fields say how many it has
      for (const ExprId& from : operands) operand(from);
    };
    for_each_field(expr, overloaded{operand, list, [&](const auto& plain) { put(plain); }});
  }

  void put(ExprId root) { put(root.index); }
  void put(const Node& node) {
    put(kind_number(node));
    // The ids of other statements follow from the order of the statements.
    for_each_field(node, overloaded{[](const NodeId&) {}, [&](const auto& field) { put(field); }});
  }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Program operator()() {
    head();
    buffers();
    names();
    exprs();
    nodes();
    if (at_ < bytes_.size()) {
      fail(at_, fmt::format("{} bytes after the end of the program", bytes_.size() - at_), "pass the bytes of one program alone");
    }
    return checked(builder_.finish());
  }

 private:
  [[noreturn]] void fail(std::size_t at, std::string_view problem, std::string_view fix) const {
    throw ParseError(fmt::format("byte {}: {}. Fix: {}.", at, problem, fix));
  }
  [[noreturn]] void fail_cut() const { fail(bytes_.size(), "the bytes end within the program", "pass all bytes that to_bytes gave"); }
  // Nothing that to_bytes writes looks like this.
  [[noreturn]] void fail_damaged(std::size_t at, std::string_view problem) const {
    fail(at, problem, "pass the bytes as to_bytes gave them");
  }

  std::size_t left() const { return bytes_.size() - at_; }

  std::uint64_t wide() {
    const std::size_t start = at_;
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      if (at_ == bytes_.size()) fail_cut();
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift == 63 && byte > 1) fail_damaged(start, "a number does not fit into 64 bits");
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) fail_damaged(start, "a number is longer than it needs to be");
        return value;
      }
    }
  }
  std::uint32_t number() {
    const std::size_t start = at_;
    const std::uint64_t value = wide();
    if (value > std::numeric_limits<std::uint32_t>::max())
      fail_damaged(start, fmt::format("the number {} does not fit into 32 bits", value));
    return static_cast<std::uint32_t>(value);
  }
  // One of `limit` numbers, the first being 0.
  std::uint32_t below(std::uint64_t limit, std::string_view what) {
    const std::size_t start = at_;
    const std::uint32_t value = number();
    if (value >= limit) fail_damaged(start, fmt::format("unknown {} {}", what, value));
    return value;
  }
  bool flag(std::string_view what) { return below(2, what) != 0; }
  std::size_t count(std::size_t least_bytes, std::string_view what) {
    const std::size_t start = at_;
    const std::uint32_t value = number();
    if (value > left() / least_bytes) {
      fail(start, fmt::format("{} {} do not fit into the {} bytes that follow", value, what, left()), "pass all bytes that to_bytes gave");
    }
    return value;
  }
  std::string_view text(std::string_view what) {
    const std::size_t start = at_;
    const std::size_t length = count(1, "bytes of a name");
    const std::string_view result = bytes_.substr(at_, length);
    if (!is_utf8(result)) fail_damaged(start, fmt::format("the name of {} is not valid UTF-8", what));
    at_ += length;
    return result;
  }

  void head() {
    if (!bytes_.starts_with(kMagic)) {
      fail(0, "these are not the bytes of a vyre program", "pass what to_bytes gave; text is read by parse");
    }
    at_ = kMagic.size();
    if (const std::uint32_t version = number(); version != kVersion) {
      fail(kMagic.size(), fmt::format("unknown version {} of the binary form", version),
           fmt::format("use a vyre that reads it; this one reads version {}", kVersion));
    }
    WorkgroupSize size;
    for (std::uint32_t& axis : size) axis = number();
    builder_.workgroup_size(size);
  }

  void buffers() {
    for (std::size_t left = count(kLeastBuffer, "buffers"); left > 0; --left) {
      BufferDecl decl;
      const std::string_view name = text("a buffer");
      builder_.name(name);
      decl.name = name;
      decl.access = static_cast<BufferAccess>(below(kAccesses.size(), "buffer access"));
      decl.element = type();
      decl.binding = number();
      decl.count = number();
      const std::size_t marked = at_;
      const std::uint32_t marks = below(4, "output mark");
      decl.output = (marks & 1) != 0;
      decl.atomic = (marks & 2) != 0;
      if (decl.atomic && decl.access != BufferAccess::Workgroup) fail_damaged(marked, "a buffer that is not workgroup memory is atomic");
      builder_.buffer(std::move(decl));
    }
  }

  void names() {
    for (std::size_t left = count(kLeastName, "names"); left > 0; --left) {
      const std::size_t start = at_;
      const std::size_t known = builder_.name_count();
      builder_.name(text("a variable"));
      if (builder_.name_count() == known) fail_damaged(start, "a name stands here twice");
    }
  }

  DataType type() { return static_cast<DataType>(below(kTypes.size(), "type")); }
  NameId name() { return NameId{below(builder_.name_count(), "name")}; }
  ExprId operand() {
    const std::size_t start = at_;
    const std::uint32_t back = number();
    const auto here = static_cast<std::uint32_t>(builder_.expr_count());
    if (back == 0 || back > here) fail_damaged(start, fmt::format("operand {} back from expression {} does not exist", back, here));
    return ExprId{here - back};
  }
  ExprList list(std::size_t count) {
    pending_.clear();
    pending_.reserve(count);
    for (; count > 0; --count) pending_.push_back(operand());
    return builder_.list(pending_);
  }
  ExprId root() { return ExprId{below(builder_.expr_count(), "expression")}; }

  void exprs() {
    const std::size_t wanted = count(kLeastExpr, "expressions");
    builder_.reserve(wanted, 0);
    while (builder_.expr_count() < wanted) builder_.add(expr());
  }

  Literal literal(const TypeInfo& type) {
    if (type.kind == TypeKind::Boolean) return Literal::boolean(flag("truth value"));
    return Literal::of(type.type, type.lanes == 1 ? number() : wide());
  }

  Expr expr() {
    const std::size_t start = at_;
    const std::uint32_t tag = number();
    const auto literals = std::ranges::find(kTypes, tag, &TypeInfo::literal);
    if (literals != kTypes.end()) return literal(*literals);
    switch (tag) {
#define EXPR(kind, number) \
  case number:             \
    return fields(kind{});
#include "vyre/ir/kinds.def"
    }
    fail_damaged(start, fmt::format("unknown kind of expression {}", tag));
  }

  template <class Kind>
  Kind fields(Kind made) {
    const auto member = [&](auto& field, std::size_t count, std::string_view what) {
      field = static_cast<std::decay_t<decltype(field)>>(below(count, what));
    };
    for_each_field(made, overloaded{[&](NameId& field) { field = name(); }, [&](ExprId& field) { field = operand(); },
                                    [&](DataType& field) { field = type(); }, [&](std::uint32_t& field) { field = number(); },
                                    [&](bool& field) { field = flag("expected mark"); },
                                    [&](GridIdKind& field) { member(field, kGridIds.size(), "kind of grid id"); },
                                    [&](BinOp& field) { member(field, kBinOps.size(), "binary operator"); },
                                    [&](UnOp& field) { member(field, kUnOps.size(), "unary operator"); },
                                    [&](AtomicOp& field) { member(field, kAtomicOps.size(), "atomic operator"); },
                                    [&](ExprList& field) {
                                      if constexpr (std::is_same_v<Kind, Atomic>) {
                                        field = list(made.has_expected ? 3 : 2);
                                      } else {
                                        field = list(count(kLeastOperand, std::is_same_v<Kind, Call> ? "arguments" : "lanes"));
                                      }
                                    }});
    return made;
  }

  void nodes() {
    const std::size_t wanted = count(kLeastNode, "statements");
    builder_.reserve(0, wanted);
    while (builder_.node_count() < wanted) node();
    if (builder_.open_blocks() > 0) fail_damaged(at_, fmt::format("{} blocks are not closed", builder_.open_blocks()));
  }

  void node() {
    const std::size_t start = at_;
    const std::uint32_t tag = number();
    // Else and End belong to the statement that opened the block.
    const std::optional<OpenBlock> open = opened_.empty() ? std::nullopt : std::optional(opened_.back());
    switch (static_cast<NodeTag>(tag)) {
      case NodeTag::Let: {
        const NameId id = name();
        return builder_.let(id, root());
      }
      case NodeTag::Assign: {
        const NameId id = name();
        return builder_.assign(id, root());
      }
      case NodeTag::Store: {
        const NameId id = name();
        const ExprId index = root();
        return builder_.store(id, index, root());
      }
      case NodeTag::If:
        builder_.if_(root());
        return opened_.push_back(OpenBlock::Then);
      case NodeTag::Else:
        if (open != OpenBlock::Then) fail_damaged(start, "an else without an if");
        builder_.else_();
        empty_else_ = builder_.node_count();
        opened_.back() = OpenBlock::Other;
        return;
      case NodeTag::Loop: {
        const NameId id = name();
        const ExprId from = root();
        builder_.loop(id, from, root());
        return opened_.push_back(OpenBlock::Other);
      }
      case NodeTag::Block:
        builder_.block();
        return opened_.push_back(OpenBlock::Other);
      case NodeTag::End:
        if (!open) fail_damaged(start, "the end of a block that was not begun");
        if (empty_else_ == builder_.node_count()) fail_damaged(start, "an else without statements");
        builder_.end();
        return opened_.pop_back();
      case NodeTag::Barrier:
        return builder_.barrier();
      case NodeTag::Return:
        return builder_.return_();
      case NodeTag::Break:
        return builder_.break_();
    }
    fail_damaged(start, fmt::format("unknown kind of statement {}", tag));
  }

  // Bytes that the builder reordered or left out were not canonical.
  Program checked(Program program) const {
    const std::string again = Writer()(program);
    if (again == bytes_) return program;
    const auto differs = std::mismatch(again.begin(), again.end(), bytes_.begin(), bytes_.end());
    fail(static_cast<std::size_t>(differs.second - bytes_.begin()),
         "from here on the program is not in canonical form: expressions and names stand in the order of their first use, none unused",
         "write it with to_bytes");
  }

  enum class OpenBlock : std::uint8_t { Then, Other };

  std::string_view bytes_;
  std::size_t at_ = 0;
  ProgramBuilder builder_;
  std::vector<ExprId> pending_;
  std::vector<OpenBlock> opened_;
  std::size_t empty_else_ = 0;  // the number of statements right after the latest Else
};

}  // namespace

std::string to_bytes(const Program& program) { return Writer()(program); }

Program from_bytes(std::span<const std::byte> bytes) {
  return Reader(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()))();
}

}  // namespace vyre::ir
