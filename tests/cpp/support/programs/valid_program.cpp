#include "support/programs/valid_program.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre::test {
namespace {

using namespace ir;
using namespace ir::expr;

ExprHandle add(ExprHandle a, ExprHandle b) { return binary(BinOp::Add, std::move(a), std::move(b)); }

OpTable::Spec op(std::string id, OpSignature signature, std::vector<NodeHandle> body) {
  OpSpec spec;
  spec.id = std::move(id);
  spec.function().signature = std::move(signature);
  for (std::size_t k = 0; k < spec.function().signature.inputs.size(); ++k)
    spec.function().parameters.push_back(std::string(1, static_cast<char>('a' + k)));
  spec.function().body = make_program({}, {1, 1, 1}, body);
  return std::make_shared<const OpSpec>(std::move(spec));
}

OpTable make_sample_ops() {
  constexpr DataType kU32 = DataType::U32;
  using namespace node;
  const ExprHandle a = var("a"), b = var("b"), t = var("t");
  OpTable table;
  const auto reg = [&](OpTable::Spec spec) { table = table.with(std::move(spec)); };
  reg(op("test.xor", {{kU32, kU32}, kU32}, {let("r", binary(BinOp::BitXor, a, b))}));
  reg(op("test.backwards", {{kU32, kU32}, kU32}, {let("r", binary(BinOp::Sub, b, a))}));
  reg(op("test.second", {{kU32, kU32}, kU32}, {let("r", b)}));
  reg(op("test.seven", {{}, kU32}, {let("r", u32(7))}));
  reg(op("test.square_of_xor", {{kU32, kU32}, kU32}, {let("r", [&] {
           const ExprHandle x = call("test.xor", {a, b});
           return binary(BinOp::Mul, x, x);
         }())}));
  reg(op("test.two_lets", {{kU32}, kU32}, {let("t", add(a, u32(3))), let("r", binary(BinOp::Mul, t, t))}));
  // Assigns a parameter, a local, and has names in sibling scopes.
  reg(op("test.collatz", {{kU32, kU32}, kU32},
         {let("t", u32(0)),
          loop("k", u32(0), binary(BinOp::BitAnd, b, u32(7)),
               {if_(binary(BinOp::BitAnd, a, u32(1)), {let("next", add(binary(BinOp::Mul, a, u32(3)), u32(1))), assign("a", var("next"))},
                    {let("next", binary(BinOp::Shr, a, u32(1))), assign("a", var("next"))}),
                assign("t", add(t, var("k")))}),
          block({assign("t", call("test.two_lets", {t}))}), let("r", add(a, t))}));
  reg(op("test.calls_twice", {{kU32}, kU32},
         {let("t", call("test.collatz", {a, call("test.collatz", {u32(5), a})})),
          if_(call("test.two_lets", {a}), {assign("t", add(t, u32(1)))}), let("r", call("test.backwards", {t, a}))}));
  reg(op("test.wide", {{DataType::Vec2U32}, DataType::U64}, {let("r", pack(DataType::U64, {lane(a, 1), lane(a, 0)}))}));
  return table;
}

class Generator {
 public:
  explicit Generator(Choices choices) : random_(std::move(choices)) {}

  Program operator()(std::size_t size) {
    const std::uint32_t width = static_cast<std::uint32_t>(1 + below(3));
    left_ = size;
    std::vector<NodeHandle> entry;
    while (left_ > 0) statements(entry, 0);
    std::vector<BufferDecl> buffers = {
        BufferDecl::read("ro", 0, DataType::U32),          BufferDecl::read_write("data", 1, DataType::U32),
        BufferDecl::read_write("count", 2, DataType::U32), BufferDecl::read_write("vec", 3, DataType::Vec4U32),
        BufferDecl::workgroup("shared", 5, DataType::U32), BufferDecl::read_write("flag", 4, DataType::Bool),
        BufferDecl::read_write("wide", 5, DataType::U64),  BufferDecl::read_write("signed", 6, DataType::I32),
        BufferDecl::uniform("uni", 7, DataType::Vec2U32)};
    return make_program(std::move(buffers), {width, 1, 1}, entry);
  }

 private:
  struct Variable {
    std::string name;
    DataType type;
    bool assignable;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  std::uint32_t number() {
    static constexpr std::array<std::uint32_t, 12> kEdges = {0, 0, 1, 1, 2, 3, 5, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    return kEdges[below(kEdges.size())];
  }

  ExprHandle keep(DataType type, ExprHandle value) {
    pool_.emplace_back(type, value);
    return value;
  }

  // Small numbers mostly, so that indices are in range about half of the time.
  ExprHandle index(int depth) {
    return chance(3) ? value(DataType::U32, depth) : binary(BinOp::BitAnd, value(DataType::U32, depth), u32(7));
  }

  ExprHandle value(DataType type, int depth) {
    if (!pool_.empty() && chance(3)) {
      const auto& [pooled, handle] = pool_[below(pool_.size())];
      if (pooled == type) return handle;
    }
    if (chance(3)) {
      std::vector<std::string> names;
      for (const Variable& variable : variables_) {
        if (variable.type == type) names.push_back(variable.name);
      }
      if (!names.empty()) return keep(type, var(names[below(names.size())]));
    }
    if (depth <= 0) return leaf(type);
    return keep(type, compound(type, depth - 1));
  }

  ExprHandle leaf(DataType type) {
    switch (type) {
      case DataType::U32:
        switch (below(6)) {
          case 0:
            return gid(0);
          case 1:
            return lid(0);
          case 2:
            return buf_len(chance(2) ? "data" : "shared");
          default:
            return u32(number());
        }
      case DataType::I32:
        return i32(static_cast<std::int32_t>(number()));
      case DataType::Bool:
        return boolean(chance(2));
      case DataType::U64:
        return u64(number() * 0x100000001u);
      case DataType::Vec2U32:
        return pack(type, {u32(number()), u32(number())});
      default:  // Vec4U32; no other is left that a value has
        break;
    }
    return pack(DataType::Vec4U32, {u32(number()), gid(0), u32(number()), u32(number())});
  }

  ExprHandle cast_to(DataType type, int depth) {
    std::vector<DataType> sources;
    for (const CastRow& row : kCasts) {
      if (row.target == type && row.source != DataType::Bytes) sources.push_back(row.source);
    }
    return cast(type, value(sources[below(sources.size())], depth));
  }

  ExprHandle compound(DataType type, int depth) {
    if (chance(8)) return select(value(chance(2) ? DataType::U32 : DataType::Bool, depth), value(type, depth), value(type, depth));
    if (chance(8)) return cast_to(type, depth);
    switch (type) {
      case DataType::U32:
        return compound_u32(depth);
      case DataType::I32: {
        if (chance(3)) return load("signed", index(depth));
        static constexpr std::array<BinOp, 4> kSigned = {BinOp::SDiv, BinOp::SMod, BinOp::SMin, BinOp::SMax};
        if (chance(4)) return binary(BinOp::SShr, value(DataType::I32, depth), value(DataType::U32, depth));
        return binary(kSigned[below(kSigned.size())], value(DataType::I32, depth), value(DataType::I32, depth));
      }
      case DataType::Bool:
        return chance(2) ? load("flag", index(depth)) : cast_to(type, depth);
      case DataType::U64:
        if (chance(3)) return call("test.wide", {value(DataType::Vec2U32, depth)});
        return chance(2) ? load("wide", index(depth)) : pack(type, {value(DataType::U32, depth), value(DataType::U32, depth)});
      case DataType::Vec2U32:
        return chance(2) ? load("uni", index(depth)) : pack(type, {value(DataType::U32, depth), value(DataType::U32, depth)});
      default:  // Vec4U32; no other is left that a value has
        break;
    }
    if (chance(2)) return load("vec", index(depth));
    return pack(DataType::Vec4U32,
                {value(DataType::U32, depth), value(DataType::U32, depth), value(DataType::U32, depth), value(DataType::U32, depth)});
  }

  ExprHandle compound_u32(int depth) {
    const auto u = [&] { return value(DataType::U32, depth); };
    switch (below(10)) {
      case 0:
        return load("ro", index(depth));
      case 1:
        return load("data", index(depth));
      case 2:
        return chance(2) ? load("shared", index(depth)) : load("count", index(depth));
      case 3: {
        const AtomicOp op = kAtomicOps[below(kAtomicOps.size())].op;
        const ExprHandle at = index(depth), expected = op == AtomicOp::CompareExchange ? u() : ExprHandle();
        return atomic(op, "count", at, expected, u());
      }
      case 4:
        return unary(kUnOps[below(kUnOps.size())].op, u());
      case 5:
        switch (below(3)) {
          case 0:
            return lane(value(DataType::Vec4U32, depth), static_cast<std::uint32_t>(below(4)));
          case 1:
            return lane(value(DataType::Vec2U32, depth), static_cast<std::uint32_t>(below(2)));
          default:
            return lane(value(DataType::U64, depth), static_cast<std::uint32_t>(below(2)));
        }
      case 6: {
        static const std::array<const char*, 5> kBinary = {"test.xor", "test.backwards", "test.second", "test.square_of_xor",
                                                           "test.collatz"};
        static const std::array<const char*, 2> kUnary = {"test.two_lets", "test.calls_twice"};
        if (chance(8)) return call("test.seven", {});
        if (chance(3)) return call(kUnary[below(kUnary.size())], {u()});
        const ExprHandle first = u();
        return call(kBinary[below(kBinary.size())], {first, u()});
      }
      default: {
        const BinOpInfo& row = kBinOps[below(kBinOps.size())];
        if (row.result != DataType::U32) return binary(BinOp::Sub, u(), u());
        const ExprHandle left = value(row.operands[0], depth);
        return binary(row.op, left, value(row.operands[1], depth));
      }
    }
  }

  DataType any_type() {
    static constexpr std::array<DataType, 6> kAny = {DataType::U32,  DataType::U32, DataType::I32,
                                                     DataType::Bool, DataType::U64, DataType::Vec4U32};
    return kAny[below(kAny.size())];
  }
  // Names of the optimiser's own form among them.
  std::string fresh_name() {
    const std::string number = std::to_string(names_++);
    return chance(6) ? "__call" + number + "_t" : "v" + number;
  }

  std::vector<NodeHandle> body(int depth) {
    const std::size_t variables = variables_.size(), pooled = pool_.size();
    std::vector<NodeHandle> inner;
    statements(inner, depth + 1);
    variables_.resize(variables);
    pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(pooled), pool_.end());
    return inner;
  }

  void statements(std::vector<NodeHandle>& out, int depth) {
    for (std::size_t count = 1 + below(5); count > 0 && left_ > 0; --count) {
      --left_;
      statement(out, depth);
    }
  }

  void statement(std::vector<NodeHandle>& out, int depth) {
    const int deep = static_cast<int>(1 + below(4));
    switch (below(depth < 4 ? 14 : 8)) {
      case 0:
      case 1:
      case 2: {
        const DataType type = any_type();
        const std::string name = fresh_name();
        out.push_back(node::let(name, value(type, deep)));
        variables_.push_back({name, type, true});
        return;
      }
      case 3:
      case 4: {
        if (variables_.empty()) return;
        const Variable variable = variables_[below(variables_.size())];
        if (variable.assignable) out.push_back(node::assign(variable.name, value(variable.type, deep)));
        return;
      }
      case 5:
      case 6:
      case 7: {
        static const std::array<std::pair<const char*, DataType>, 7> kTargets = {{{"data", DataType::U32},
                                                                                  {"data", DataType::U32},
                                                                                  {"shared", DataType::U32},
                                                                                  {"flag", DataType::Bool},
                                                                                  {"wide", DataType::U64},
                                                                                  {"signed", DataType::I32},
                                                                                  {"vec", DataType::Vec4U32}}};
        const auto& [name, type] = kTargets[below(kTargets.size())];
        const ExprHandle at = index(deep);
        out.push_back(node::store(name, at, value(type, deep)));
        return;
      }
      case 8:
      case 9: {
        const ExprHandle condition = chance(3) ? u32(number()) : value(chance(2) ? DataType::U32 : DataType::Bool, deep);
        std::vector<NodeHandle> then = chance(6) ? std::vector<NodeHandle>{} : body(depth);
        if (chance(12)) {
          then.push_back(node::return_());
          returned_ = true;
        } else if (loops_ > 0 && chance(4)) {
          then.push_back(node::break_());
        }
        out.push_back(node::if_(condition, std::move(then), chance(2) ? body(depth) : std::vector<NodeHandle>{}));
        return;
      }
      case 10: {
        const std::string name = fresh_name();
        const ExprHandle from = binary(BinOp::BitAnd, value(DataType::U32, deep), u32(3));
        const ExprHandle to = binary(BinOp::BitAnd, value(DataType::U32, deep), u32(7));
        const std::size_t variables = variables_.size();
        // What is pooled inside the loop dies with it; what is outside does not know its variable.
        variables_.push_back({name, DataType::U32, false});
        ++loops_;
        std::vector<NodeHandle> inner = body(depth);
        --loops_;
        variables_.resize(variables);
        out.push_back(node::loop(name, from, to, std::move(inner)));
        return;
      }
      case 11:
        out.push_back(node::block(body(depth)));
        return;
      default:
        if (depth == 0 && !returned_) out.push_back(node::barrier());
        return;
    }
  }

  Choices random_;
  std::size_t left_ = 0;
  std::uint32_t names_ = 0;
  std::uint32_t loops_ = 0;  // around what is being written
  bool returned_ = false;    // perhaps by some invocations only: no barrier may follow
  std::vector<Variable> variables_;
  std::vector<std::pair<DataType, ExprHandle>> pool_;  // what later expressions may share
};

}  // namespace

const OpTable& sample_ops() {
  static const OpTable table = make_sample_ops();
  return table;
}

Program random_valid_program(std::uint64_t seed, std::size_t size) { return random_valid_program(Choices(seed), size); }

Program random_valid_program(Choices choices, std::size_t size) { return Generator(std::move(choices))(size); }

}  // namespace vyre::test
