#include "vyre/ir/program.hpp"

#include <algorithm>
#include <cstddef>

#include "vyre/base/hash.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::ir {
namespace {

BufferDecl declare(std::string name, std::uint32_t binding, BufferAccess access, DataType element) {
  BufferDecl decl;
  decl.name = std::move(name);
  decl.binding = binding;
  decl.access = access;
  decl.element = element;
  return decl;
}

class Hasher : public Fnv1a {
 public:
  std::uint64_t result() const {
    // FNV leaves the high bits of short inputs weak; spread them.
    std::uint64_t x = value();
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    return x ^ (x >> 32);
  }
};

// Collects what a Hasher would be fed, for comparing two nodes field by field.
class HashedWords {
 public:
  void add(std::uint64_t word) {
    if (count_ == items_.size()) items_.resize(2 * count_ + 8);
    items_[count_++] = word;
  }
  void clear() { count_ = 0; }
  bool operator==(const HashedWords& other) const {
    return count_ == other.count_ && std::equal(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count_), other.items_.begin());
  }

 private:
  std::vector<std::uint64_t> items_;
  std::size_t count_ = 0;  // the items behind it are room
};

// Adds a kind's number and its fields. Ids of other statements follow from the order of the statements and are left out.
template <class Sink>
void add_expr(Sink& sink, const Program& program, const Expr& expr) {
  sink.add(kind_number(expr));
  if (const Literal* literal = std::get_if<Literal>(&expr)) return sink.add(literal->bits());
  for_each_field(expr, overloaded{[&](const ExprList& operands) {
                                    sink.add(program.operands(operands).size());
                                    for (ExprId id : program.operands(operands)) sink.add(id.index);
                                  },
                                  [&](const ExprId& id) { sink.add(id.index); }, [&](const NameId& name) { sink.add(name.index); },
                                  [&](const auto& plain) { sink.add(static_cast<std::uint32_t>(plain)); }});
}

template <class Sink>
void add_node(Sink& sink, const Node& node) {
  sink.add(kind_number(node));
  for_each_field(node, overloaded{[](const NodeId&) {}, [&](const ExprId& id) { sink.add(id.index); },
                                  [&](const NameId& name) { sink.add(name.index); }});
}

}  // namespace

Literal Literal::i32(std::int32_t value) { return {DataType::I32, static_cast<std::uint32_t>(value), 0}; }
Literal Literal::boolean(bool value) { return {DataType::Bool, value ? 1u : 0u, 0}; }
Literal Literal::u64(std::uint64_t value) { return of(DataType::U64, value); }

std::uint32_t kind_number(const Expr& expr) {
  static constexpr std::uint32_t kNumbers[] = {
#define EXPR(kind, number) number,
#include "vyre/ir/kinds.def"
  };
  const Literal* literal = std::get_if<Literal>(&expr);
  return literal != nullptr ? *info(literal->type).literal : kNumbers[expr.index()];
}

BufferDecl BufferDecl::storage(std::string name, std::uint32_t binding, BufferAccess access, DataType element) {
  return declare(std::move(name), binding, access, element);
}
BufferDecl BufferDecl::read(std::string name, std::uint32_t binding, DataType element) {
  return declare(std::move(name), binding, BufferAccess::ReadOnly, element);
}
BufferDecl BufferDecl::read_write(std::string name, std::uint32_t binding, DataType element) {
  return declare(std::move(name), binding, BufferAccess::ReadWrite, element);
}
BufferDecl BufferDecl::output_of(std::string name, std::uint32_t binding, DataType element) {
  BufferDecl decl = read_write(std::move(name), binding, element);
  decl.output = true;
  return decl;
}
BufferDecl BufferDecl::uniform(std::string name, std::uint32_t binding, DataType element) {
  return declare(std::move(name), binding, BufferAccess::Uniform, element);
}
BufferDecl BufferDecl::workgroup(std::string name, std::uint32_t count, DataType element, bool atomic) {
  BufferDecl decl = declare(std::move(name), 0, BufferAccess::Workgroup, element);
  decl.count = count;
  decl.atomic = atomic;
  return decl;
}
BufferDecl BufferDecl::private_of(std::string name, std::uint32_t count, DataType element) {
  BufferDecl decl = declare(std::move(name), 0, BufferAccess::Private, element);
  decl.count = count;
  return decl;
}

Program::Program() : data_(std::make_shared<const Data>()) {}

std::span<const ExprId> Program::operands(ExprList list) const {
  return std::span(data_->pool).subspan(list.first + 1, data_->pool[list.first].index);
}

SourcePlace Program::place(ExprId id) const { return id.index < data_->expr_places.size() ? data_->expr_places[id] : SourcePlace{}; }
SourcePlace Program::place(NodeId id) const { return id.index < data_->node_places.size() ? data_->node_places[id] : SourcePlace{}; }

bool Program::operator==(const Program& other) const {
  if (data_ == other.data_) return true;
  if (buffers() != other.buffers() || workgroup_size() != other.workgroup_size() || !(names() == other.names()) ||
      exprs().size() != other.exprs().size() || nodes().size() != other.nodes().size()) {
    return false;
  }
  // Canonical programs are equal exactly when their arrays are, field by field.
  HashedWords mine, theirs;
  auto same = [&] {
    const bool equal = mine == theirs;
    mine.clear();
    theirs.clear();
    return equal;
  };
  for (std::uint32_t index = 0; index < exprs().size(); ++index) {
    add_expr(mine, *this, expr(ExprId{index}));
    add_expr(theirs, other, other.expr(ExprId{index}));
    if (!same()) return false;
  }
  for (std::uint32_t index = 0; index < nodes().size(); ++index) {
    add_node(mine, node(NodeId{index}));
    add_node(theirs, other.node(NodeId{index}));
    if (!same()) return false;
  }
  return true;
}

std::uint64_t Program::hash() const {
  Hasher hasher;
  hasher.add(buffers().size());
  for (const BufferDecl& decl : buffers()) {
    hasher.add(std::string_view(decl.name));
    hasher.add(decl.binding);
    hasher.add(static_cast<unsigned>(decl.access));
    hasher.add(static_cast<unsigned>(decl.element));
    hasher.add(decl.count);
    // A declaration that is not atomic keeps its hash.
    hasher.add(std::uint64_t{decl.output} | std::uint64_t{decl.atomic} << 1);
  }
  for (std::uint32_t size : workgroup_size()) hasher.add(size);
  hasher.add(names().size());
  for (std::uint32_t index = 0; index < names().size(); ++index) hasher.add(text(NameId{index}));
  for (const Expr& expr : exprs()) add_expr(hasher, *this, expr);
  for (const Node& node : nodes()) add_node(hasher, node);
  return hasher.result();
}

}  // namespace vyre::ir
