// Bodies of operations: statements, then one Let that computes the result.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ops {

// Appends the Let that computes the result: see make_body().
void add_result(std::span<const std::string> parameters, std::vector<ir::NodeHandle>& statements, ir::ExprHandle result,
                ir::SourcePlace place = {});

// The program that OpSpec::body wants. The last Let is called `result`, or by the first of result_1, result_2 ... that neither a
// parameter nor a statement uses; `place` is the source's that makes the operation.
ir::Program make_body(std::span<const std::string> parameters, std::vector<ir::NodeHandle> statements, ir::ExprHandle result,
                      ir::SourcePlace place = {});

// Writes a body in order. Its parameters are called a, b, c ...
class Body {
 public:
  using Expr = ir::ExprHandle;

  // k is below 26.
  Expr parameter(std::size_t k) const { return ir::expr::var(parameter_name(k)); }
  // Declares a variable and returns it.
  Expr let(std::string_view name, Expr value);
  void assign(const Expr& variable, Expr value);
  void if_(Expr condition, const std::function<void()>& then);
  // `rounds` times.
  void repeat(std::uint32_t rounds, const std::function<void()>& round);
  // Leaves the innermost repeat() when the condition holds.
  void break_if(Expr condition);

  static std::string parameter_name(std::size_t k) { return std::string(1, static_cast<char>('a' + k)); }
  std::vector<ir::NodeHandle> take() { return std::move(statements_); }

 private:
  std::vector<ir::NodeHandle> inner(const std::function<void()>& write);

  std::vector<ir::NodeHandle> statements_;
  int loops_ = 0;
};

// The facts that an entry of a family states besides its body.
struct Claims {
  std::string id;
  ir::OpSignature signature;
  std::string summary;
  std::vector<ir::OpLaw> laws;
  std::vector<ir::OpExample> examples;  // worked out by hand, or from the sources that the family names
};

// A U32 literal.
inline ir::ExprHandle lit(std::uint32_t value) { return ir::expr::u32(value); }

ir::OpTable::Spec make_op(Claims claims, const std::function<ir::ExprHandle(Body&)>& body);

// Operators as operations: signature, summary and laws are those of ops.def.
ir::OpTable::Spec make_op(std::string id, ir::AnyOp op, std::vector<ir::OpExample> examples);

// Values for examples.
inline constexpr std::int32_t kMinI32 = -2147483647 - 1;
inline constexpr std::int32_t kMaxI32 = 2147483647;
constexpr ir::Value u32(std::uint32_t value) { return ir::scalar(value); }
constexpr ir::Value i32(std::int32_t value) { return ir::scalar(static_cast<std::uint32_t>(value)); }
constexpr ir::Value u64(std::uint64_t value) {
  return {{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32), 0, 0}};
}
constexpr ir::Value vec2(std::uint32_t x, std::uint32_t y) { return {{x, y, 0, 0}}; }
constexpr ir::Value vec4(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) { return {{x, y, z, w}}; }

}  // namespace vyre::ops
