#include "vyre/fuzz/operations.hpp"

#include <string>
#include <utility>

#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/standard.hpp"

namespace vyre::fuzz {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::expr::binary;
using ir::expr::call;
using ir::expr::cast;
using ir::expr::lane;
using ir::expr::pack;
using ir::expr::u32;
using ops::Body;
using Expr = ir::ExprHandle;

constexpr DataType kU32 = DataType::U32;

ir::OpTable::Spec op(std::string name, ir::OpSignature signature, const std::function<Expr(Body&)>& body) {
  return ops::make_op({"fuzz." + std::move(name), std::move(signature), "For generated programs.", {}, {}}, body);
}

std::vector<ir::OpTable::Spec> make() {
  std::vector<ir::OpTable::Spec> result;
  const auto add = [&](ir::OpTable::Spec spec) { result.push_back(std::move(spec)); };
  const auto a = [](Body& body) { return body.parameter(0); };
  const auto b = [](Body& body) { return body.parameter(1); };

  add(op("nine", {{}, kU32}, [](Body&) { return u32(9); }));
  add(op("second", {{kU32, kU32}, kU32}, [&](Body& body) { return b(body); }));
  add(op("backwards", {{kU32, kU32}, kU32}, [&](Body& body) { return binary(BinOp::Sub, b(body), a(body)); }));
  add(op("square", {{kU32}, kU32}, [&](Body& body) {
    const Expr t = body.let("t", binary(BinOp::Add, a(body), u32(3)));
    return binary(BinOp::Mul, t, t);
  }));
  // Assigns a parameter and a local, in a loop with a branch.
  add(op("walk", {{kU32, kU32}, kU32}, [&](Body& body) {
    const Expr t = body.let("t", u32(0));
    body.repeat(5, [&] {
      body.if_(binary(BinOp::BitAnd, a(body), u32(1)), [&] {
        const Expr next = body.let("next", binary(BinOp::Add, binary(BinOp::Mul, a(body), u32(3)), u32(1)));
        body.assign(a(body), next);
      });
      body.if_(binary(BinOp::Lt, t, b(body)), [&] {
        const Expr next = body.let("next", call("fuzz.square", {t}));
        body.assign(t, binary(BinOp::BitXor, next, a(body)));
      });
      body.assign(a(body), binary(BinOp::Shr, a(body), u32(1)));
    });
    return binary(BinOp::Add, a(body), t);
  }));
  // Calls in arguments of calls, and one argument used twice.
  add(op("nested", {{kU32}, kU32}, [&](Body& body) {
    const Expr t = body.let("t", call("fuzz.walk", {a(body), call("fuzz.backwards", {u32(5), a(body)})}));
    body.if_(call("fuzz.square", {a(body)}), [&] { body.assign(t, call("fuzz.second", {t, binary(BinOp::Add, t, u32(1))})); });
    return call("fuzz.backwards", {t, a(body)});
  }));
  add(op("swap", {{DataType::Vec2U32}, DataType::U64}, [&](Body& body) {
    return pack(DataType::U64, {lane(a(body), 1), lane(a(body), 0)});
  }));
  add(op("rotate_lanes", {{DataType::Vec4U32, DataType::Bool}, DataType::Vec4U32}, [&](Body& body) {
    const Expr turned = pack(DataType::Vec4U32, {lane(a(body), 1), lane(a(body), 2), lane(a(body), 3), lane(a(body), 0)});
    return ir::expr::select(b(body), turned, a(body));
  }));
  add(op("same_sign", {{DataType::I32, DataType::I32}, DataType::Bool}, [&](Body& body) {
    const Expr bits = binary(BinOp::BitXor, cast(kU32, a(body)), cast(kU32, b(body)));
    return cast(DataType::Bool, binary(BinOp::SGe, cast(DataType::I32, bits), ir::expr::i32(0)));
  }));
  add(op("flip", {{DataType::Vec2U32, DataType::U64}, DataType::Vec2U32}, [&](Body& body) {
    return pack(DataType::Vec2U32, {binary(BinOp::BitXor, lane(a(body), 1), lane(b(body), 0)), lane(b(body), 1)});
  }));
  add(op("magnitude", {{DataType::I32}, DataType::I32}, [&](Body& body) {
    Expr t = body.let("t", a(body));
    body.if_(binary(BinOp::SLt, t, ir::expr::i32(0)), [&] { body.assign(t, binary(BinOp::SShr, t, u32(1))); });
    return t;
  }));
  // Twelve levels deep.
  for (int level = 0; level < 12; ++level) {
    add(op("deep_" + std::to_string(level), {{kU32}, kU32}, [&](Body& body) {
      const Expr x = body.let("x", binary(BinOp::RotateLeft, a(body), u32(static_cast<std::uint32_t>(level) + 1)));
      return level == 0 ? x : binary(BinOp::Add, x, call("fuzz.deep_" + std::to_string(level - 1), {x}));
    }));
  }
  return result;
}

}  // namespace

const std::vector<ir::OpTable::Spec>& operations() {
  static const std::vector<ir::OpTable::Spec> specs = make();
  return specs;
}

const ir::OpTable& op_table() {
  static const ir::OpTable table = [] {
    ir::OpTable all = ops::standard_ops();
    for (const ir::OpTable::Spec& spec : operations()) all = all.with(spec);
    return all;
  }();
  return table;
}

}  // namespace vyre::fuzz
