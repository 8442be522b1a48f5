// The text itself: what its readers see and what WGSL compilers must not trip over. Running it is the business of tests/py.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "support/kernel_builder.hpp"
#include "support/patience.hpp"
#include "vyre/emit/wgsl/emit.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/ops/standard.hpp"

namespace vyre::wgsl {
namespace {

using lower::Kernel;
using lower::Opcode;
using lower::ValueId;
using test::KernelBuilder;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Kernel kernel_of(const ir::Program& program) {
  const validate::Verdict verdict = validate::validate(program, ops::standard_ops());
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return lower::lower(verdict.program.value());
}

TEST(Wgsl, is_readable) {
  KernelBuilder kernel({64, 1, 1});
  const std::uint32_t in = kernel.buffer(1, false), out = kernel.buffer(1, true);
  const ValueId i = kernel.leaf(Opcode::InvocationId, 0);
  const ValueId inside = kernel.op(Opcode::Lt, i, kernel.leaf(Opcode::Length, out));
  kernel.if_(inside);
  const ValueId loaded = kernel.load(in, i);
  kernel.store(out, i, kernel.op(Opcode::Add, loaded, kernel.constant(7)));
  kernel.end_if();
  EXPECT_EQ(emit(kernel.finish()), R"(// Group 0: binding k is buffer b<k>, of at least 16 bytes; binding 2 is a uniform buffer:
// params[0].xyz is the id of the first workgroup, words 4 on are the lengths of b0, b1, ... in elements.
@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
@group(0) @binding(2) var<uniform> params: array<vec4<u32>, 2>;

@compute @workgroup_size(64, 1, 1)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(local_invocation_id) local_id: vec3<u32>,
) {
  let v0 = (params[0].x + workgroup_id.x) * 64u + local_id.x;
  let v1 = params[1].y;
  let v2 = u32(v0 < v1);
  if (v2 != 0u) {
    let v4 = b0[v0];
    let v5 = 7u;
    let v6 = v4 + v5;
    b1[v0] = v6;
  }
}
)");
}

TEST(Wgsl, zeroes_shared_arrays_itself) {
  KernelBuilder kernel({8, 2, 1});
  kernel.shared(4, 100);
  const std::string text = emit(kernel.finish());
  EXPECT_TRUE(contains(text, "var<workgroup> s0: array<vec4<u32>, 100>;")) << text;
  EXPECT_TRUE(contains(text, "  for (var k = local_index; k < 100u; k += 16u) { s0[k] = vec4<u32>(); }\n  workgroupBarrier();\n")) << text;
}

TEST(Wgsl, hides_a_constant_index_that_naga_would_refuse) {
  KernelBuilder kernel;
  const std::uint32_t array = kernel.shared(1, 4);
  const ValueId three = kernel.constant(3), four = kernel.constant(4);
  for (const ValueId index : {three, four}) kernel.add({.op = Opcode::StoreShared, .imm = array, .a = index, .b = three});
  const std::string text = emit(kernel.finish());
  EXPECT_TRUE(contains(text, "  let v0 = 3u;\n  var v1 = 4u;\n")) << text;
}

TEST(Wgsl, has_a_high_product_only_where_one_is_used) {
  KernelBuilder without;
  EXPECT_FALSE(contains(emit(without.finish()), "mul_high"));
  KernelBuilder with;
  const ValueId one = with.constant(1);
  with.op(Opcode::MulHigh, one, with.constant(2));
  EXPECT_TRUE(contains(emit(with.finish()), "let v2 = mul_high(v0, v1);"));
}

TEST(Wgsl, tries_a_compare_exchange_again_when_it_fails_for_no_reason) {
  KernelBuilder kernel;
  const std::uint32_t slot = kernel.buffer(1, true, true);
  const ValueId zero = kernel.constant(0);
  kernel.add({.op = Opcode::AtomicCompareExchange, .lanes = 1, .imm = slot, .a = zero, .b = zero, .c = kernel.constant(1)});
  kernel.store(slot, zero, kernel.load(slot, zero));
  const std::string text = emit(kernel.finish());
  EXPECT_TRUE(contains(text, R"(  var v2: u32;
  loop {
    let attempt = atomicCompareExchangeWeak(&b0[v0], v0, v1);
    v2 = attempt.old_value;
    if (attempt.exchanged || attempt.old_value != v0) { break; }
  }
  let v3 = atomicLoad(&b0[v0]);
  atomicStore(&b0[v0], v3);
)")) << text;
}

TEST(Wgsl, lengths_are_four_to_a_vector) {
  KernelBuilder kernel;
  for (int k = 0; k < 5; ++k) kernel.buffer(1, false);
  kernel.leaf(Opcode::Length, 4);
  const std::string text = emit(kernel.finish());
  EXPECT_TRUE(contains(text, "array<vec4<u32>, 3>;")) << text;
  EXPECT_TRUE(contains(text, "let v0 = params[2].x;")) << text;
}

TEST(Wgsl, has_no_name_of_a_user) {
  ir::ProgramBuilder builder;
  builder.buffer(ir::BufferDecl::output_of("let", 0, ir::DataType::U32));
  builder.let(builder.name("workgroup_id"), builder.add(ir::GridId{ir::GridIdKind::Invocation, 0}));
  const ExprId x = builder.add(ir::Var{builder.name("workgroup_id")});
  builder.store(builder.name("let"), x, x);
  EXPECT_FALSE(contains(emit(kernel_of(builder.finish())), "b0[workgroup_id]"));
}

TEST(Wgsl, is_linear_in_depth_and_size) {
  ir::ProgramBuilder builder;
  builder.buffer(ir::BufferDecl::output_of("out", 0, ir::DataType::U32));
  ExprId sum = builder.add(ir::GridId{ir::GridIdKind::Invocation, 0});
  for (std::uint32_t k = 0; k < 45'000; ++k) sum = builder.add(ir::Binary{ir::BinOp::Add, sum, builder.add(ir::Literal::u32(k + 1))});
  builder.store(builder.name("out"), builder.add(ir::Literal::u32(0)), sum);
  const Kernel kernel = kernel_of(builder.finish());
  const std::clock_t start = std::clock();
  const std::string text = emit(kernel);
  EXPECT_LT(std::clock() - start, test::patience() * CLOCKS_PER_SEC);
  EXPECT_LT(text.size(), kernel.code.size() * 40);
  EXPECT_EQ(emit(kernel), text);
}

}  // namespace
}  // namespace vyre::wgsl
