// The text itself, and what a loader is told. tests/py has it assembled, and interprets it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/kernel_builder.hpp"
#include "vyre/emit/ptx/emit.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/ops/standard.hpp"

namespace vyre::ptx {
namespace {

using lower::Kernel;
using lower::Opcode;
using lower::ValueId;
using test::KernelBuilder;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}
std::string text_of(const Kernel& kernel) { return emit(kernel).text; }

TEST(Ptx, is_readable) {
  KernelBuilder kernel({64, 1, 1});
  const std::uint32_t in = kernel.buffer(1, false), out = kernel.buffer(1, true);
  const ValueId i = kernel.leaf(Opcode::InvocationId, 0);
  const ValueId inside = kernel.op(Opcode::Lt, i, kernel.leaf(Opcode::Length, out));
  kernel.if_(inside);
  kernel.store(out, i, kernel.op(Opcode::Add, kernel.load(in, i), kernel.constant(7)));
  kernel.end_if();
  EXPECT_EQ(text_of(kernel.finish()),
            R"(// parameters: the address of buffer k at byte 8 * k, the id of the first workgroup (x, y, z) at byte 16,
// the length of buffer k in elements at byte 28 + 4 * k. Dynamic shared memory: 0 bytes.
.version 7.0
.target sm_75
.address_size 64

.visible .entry main(
  .param .align 8 .b8 parameters[36]
)
.reqntid 64, 1, 1
{
  .reg .pred %p<1>;
  .reg .b32 %r<8>;
  .reg .b64 %a<4>;
  ld.param.u32 %r0, [parameters+16];
  mov.u32 %r1, %ctaid.x;
  add.u32 %r2, %r0, %r1;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r2, 64, %r3;
  ld.param.u32 %r5, [parameters+32];
  ld.param.u64 %a0, [parameters+0];
  cvta.to.global.u64 %a0, %a0;
  ld.param.u64 %a2, [parameters+8];
  cvta.to.global.u64 %a2, %a2;
  setp.lt.u32 %p0, %r4, %r5;
  @!%p0 bra X8;
  mad.wide.u32 %a1, %r4, 4, %a0;
  ld.global.nc.u32 %r6, [%a1];
  add.u32 %r7, %r6, 7;
  mad.wide.u32 %a3, %r4, 4, %a2;
  st.global.u32 [%a3], %r7;
X8:
  ret;
}
)");
}

TEST(Ptx, the_same_kernel_gives_the_same_text_and_a_loader_is_told_the_offsets_in_it) {
  KernelBuilder kernel({4, 2, 1});
  for (int k = 0; k < 3; ++k) kernel.buffer(1, true);
  kernel.leaf(Opcode::Length, 0);
  const Code code = emit(kernel.finish());
  EXPECT_EQ(code.text, text_of(kernel.finish()));
  EXPECT_EQ(code.bindings,
            (Bindings{.workgroup_size = {4, 2, 1}, .counts = 24, .first_group = 24, .first_length = 36, .parameter_bytes = 48}));
}

TEST(Ptx, ids_count_from_the_first_workgroup_of_a_launch_on_every_axis) {
  KernelBuilder kernel({4, 2, 1});
  const std::uint32_t out = kernel.buffer(1, true);
  for (const std::uint32_t axis : {0u, 1u, 2u}) kernel.store(out, kernel.constant(axis), kernel.leaf(Opcode::InvocationId, axis));
  const std::string text = text_of(kernel.finish());
  EXPECT_TRUE(contains(text, R"(  ld.param.u32 %r0, [parameters+8];
  mov.u32 %r1, %ctaid.x;
  add.u32 %r2, %r0, %r1;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r2, 4, %r3;
)")) << text;
  EXPECT_TRUE(contains(text, R"(  ld.param.u32 %r5, [parameters+12];
  mov.u32 %r6, %ctaid.y;
  add.u32 %r7, %r5, %r6;
  mov.u32 %r8, %tid.y;
  mad.lo.u32 %r9, %r7, 2, %r8;
)")) << text;
  EXPECT_TRUE(contains(text, R"(  ld.param.u32 %r10, [parameters+16];
  mov.u32 %r11, %ctaid.z;
  add.u32 %r12, %r10, %r11;
  mad.lo.u32 %r13, %r12, 1, 0;
)")) << text;
}

TEST(Ptx, what_nothing_uses_is_not_loaded) {
  KernelBuilder kernel;
  kernel.leaf(Opcode::Length, kernel.buffer(1, true));
  kernel.leaf(Opcode::LocalId, 0);
  EXPECT_FALSE(contains(text_of(kernel.finish()), "ld.param"));
}

TEST(Ptx, an_access_that_may_be_out_of_range_stands_under_a_predicate_and_gives_zeros_otherwise) {
  KernelBuilder kernel({8, 1, 1});
  const std::uint32_t in = kernel.buffer(2, false), out = kernel.buffer(2, true), cells = kernel.buffer(1, true, true);
  const ValueId i = kernel.leaf(Opcode::LocalId, 0);
  const ValueId value = kernel.add({.op = Opcode::LoadBuffer, .lanes = 2, .bounded = true, .imm = in, .a = i});
  kernel.add({.op = Opcode::StoreBuffer, .bounded = true, .imm = out, .a = i, .b = value});
  kernel.add({.op = Opcode::AtomicAdd, .lanes = 1, .bounded = true, .imm = cells, .a = i, .b = i});
  const std::string text = text_of(kernel.finish());
  EXPECT_TRUE(contains(text, R"(  setp.lt.u32 %p0, %r0, %r1;
  mad.wide.u32 %a1, %r0, 8, %a0;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
  @%p0 ld.global.nc.v2.u32 {%r2, %r3}, [%a1];
  setp.lt.u32 %p1, %r0, %r4;
  mad.wide.u32 %a3, %r0, 8, %a2;
  @%p1 st.global.v2.u32 [%a3], {%r2, %r3};
  setp.lt.u32 %p2, %r0, %r5;
  mad.wide.u32 %a5, %r0, 4, %a4;
  mov.u32 %r6, 0;
  @%p2 atom.relaxed.gpu.global.add.u32 %r6, [%a5], %r0;
)")) << text;
}

TEST(Ptx, atomics_on_workgroup_memory_are_of_the_workgroup) {
  KernelBuilder kernel;
  const std::uint32_t array = kernel.shared(1, 4);
  const ValueId zero = kernel.constant(0), one = kernel.constant(1);
  kernel.add({.op = Opcode::AtomicCompareExchange, .lanes = 1, .shared = true, .imm = array, .a = one, .b = zero, .c = one});
  const std::string text = text_of(kernel.finish());
  EXPECT_TRUE(contains(text, ", [workgroup_memory+4], 0, 1;\n")) << text;
  EXPECT_TRUE(contains(text, "  atom.relaxed.cta.shared.cas.b32 ")) << text;
}

TEST(Ptx, what_an_index_is_loaded_for_is_loaded_once) {
  KernelBuilder kernel;
  const std::uint32_t written = kernel.buffer(1, true), read = kernel.buffer(1, false), array = kernel.shared(1, 4);
  const ValueId zero = kernel.constant(0);
  const ValueId shared = kernel.add({.op = Opcode::LoadShared, .lanes = 1, .imm = array, .a = zero});
  const ValueId index = kernel.load(written, shared);
  const ValueId fixed = kernel.load(read, index);
  kernel.store(written, fixed, kernel.load(written, zero));
  const std::string text = text_of(kernel.finish());
  EXPECT_EQ(count_of(text, "ld.relaxed.cta.shared.u32"), 1u) << text;
  EXPECT_EQ(count_of(text, "ld.relaxed.cta.global.u32"), 1u) << text;
  EXPECT_EQ(count_of(text, "ld.global.nc.u32"), 1u) << text;
  EXPECT_EQ(count_of(text, "ld.global.u32"), 1u) << text;
}

TEST(Ptx, the_body_of_a_short_if_has_its_predicate_and_no_branch) {
  KernelBuilder kernel({64, 1, 1});
  const std::uint32_t out = kernel.buffer(1, true), array = kernel.shared(1, 64), sum = kernel.variable();
  const ValueId local = kernel.leaf(Opcode::LocalId, 0), seven = kernel.constant(7);
  kernel.if_(kernel.op(Opcode::Lt, seven, local));
  const ValueId loaded = kernel.add({.op = Opcode::LoadShared, .lanes = 1, .imm = array, .a = local});
  kernel.add({.op = Opcode::WriteVariable, .imm = sum, .a = kernel.op(Opcode::Add, loaded, seven)});
  kernel.add({.op = Opcode::StoreBuffer, .bounded = true, .imm = out, .a = local, .b = seven});
  kernel.end_if();
  kernel.store(out, seven, kernel.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = sum}));
  const std::string text = text_of(kernel.finish());
  EXPECT_TRUE(contains(text, R"(
  setp.lt.u32 %p1, 7, %r2;
  mad.lo.u32 %r4, %r2, 4, %r1;
  mov.u32 %r5, 0;
  @%p1 ld.shared.u32 %r5, [%r4+0];
  add.u32 %r6, %r5, 7;
  @%p1 mov.u32 %r0, %r6;
  setp.lt.u32 %p2, %r2, %r7;
  and.pred %p3, %p2, %p1;
  mad.wide.u32 %a1, %r2, 4, %a0;
  @%p3 st.global.u32 [%a1], 7;
  mov.u32 )"))
      << text;
  EXPECT_FALSE(contains(text, "bra")) << text;
}

TEST(Ptx, other_bodies_of_an_if_are_branched_around) {
  using Fill = void (*)(KernelBuilder&, ValueId condition);
  const std::pair<std::string_view, Fill> bodies[] = {
      {"a load of a buffer", [](KernelBuilder& k, ValueId c) { k.store(0, c, k.load(0, c)); }},
      {"a division", [](KernelBuilder& k, ValueId c) { k.store(0, c, k.op(Opcode::Div, c, k.constant(3))); }},
      {"a barrier", [](KernelBuilder& k, ValueId) { k.barrier(); }},
      {"a return", [](KernelBuilder& k, ValueId) { k.return_(); }},
      {"a loop",
       [](KernelBuilder& k, ValueId c) {
         k.loop(k.constant(0), c);
         k.end_loop();
       }},
      {"an Else",
       [](KernelBuilder& k, ValueId c) {
         k.store(0, c, c);
         k.else_();
         k.store(0, c, k.constant(5));
       }},
      {"three stores",
       [](KernelBuilder& k, ValueId c) {
         for (int store = 0; store < 3; ++store) k.store(0, c, c);
       }},
      {"much arithmetic",
       [](KernelBuilder& k, ValueId c) {
         ValueId sum = c;
         for (int add = 0; add < 12; ++add) sum = k.op(Opcode::Add, sum, c);
         k.store(0, c, sum);
       }},
  };
  for (const auto& [name, fill] : bodies) {
    KernelBuilder kernel({64, 1, 1});
    kernel.buffer(1, true);
    const ValueId local = kernel.leaf(Opcode::LocalId, 0);
    kernel.if_(kernel.op(Opcode::Lt, local, kernel.constant(7)));
    fill(kernel, local);
    kernel.end_if();
    EXPECT_TRUE(contains(text_of(kernel.finish()), "@!%p")) << name;
  }
}

TEST(Ptx, narrow_elements_are_accessed_as_they_are) {
  KernelBuilder kernel;
  kernel.buffer(1, false);
  kernel.buffer(1, true);
  const ValueId zero = kernel.constant(0);
  kernel.store(1, zero, kernel.load(0, zero));
  kernel.store(1, zero, kernel.constant(0x12345));
  Kernel made = kernel.finish();
  made.buffers[0].narrow = 1;
  made.buffers[0].extend = ir::Extend::Sign;
  made.buffers[1].narrow = 2;
  const std::string text = text_of(made);
  EXPECT_TRUE(contains(text, "ld.global.nc.s8 %r0, [%a0+0];\n")) << text;
  EXPECT_TRUE(contains(text, "st.global.u16 [%a1+0], %r0;\n")) << text;
  EXPECT_TRUE(contains(text, fmt::format("st.global.u16 [%a1+0], {};\n", 0x2345))) << text;
}

// The chunks of 16 bytes that the code zeroes: invocations times the stores that each makes, of which the last may be for some only.
TEST(Ptx, workgroup_memory_is_zeroed_whatever_its_size_before_anybody_uses_it) {
  for (const std::uint32_t words : {1u, 4u, 31u, 32u, 33u, 256u, 257u, 288u, 289u, 4096u}) {
    SCOPED_TRACE(words);
    KernelBuilder kernel({4, 2, 1});
    kernel.shared(1, words);
    const Code code = emit(kernel.finish());
    const std::uint64_t chunks = (words + 3) / 4, rounds = chunks / 8, rest = chunks % 8;
    EXPECT_EQ(code.bindings.shared_bytes, 16 * chunks);
    EXPECT_EQ(count_of(code.text, " st.shared.v4.u32 "), (rounds > 8 ? 1 : rounds) + (rest != 0 ? 1 : 0)) << code.text;
    EXPECT_EQ(count_of(code.text, fmt::format("  setp.lt.u32 %p0, %r5, {};\n", rounds)), rounds > 8 ? 1u : 0u) << code.text;
    if (rest != 0) {
      EXPECT_TRUE(contains(code.text, fmt::format("%p{}, %r3, {};\n  @%p{} st.shared", rounds > 8 ? 1 : 0, rest, rounds > 8 ? 1 : 0)))
          << code.text;
    }
    EXPECT_TRUE(contains(code.text, "  bar.sync 0;\n  ret;\n")) << code.text;
  }
}

TEST(Ptx, arrays_of_the_workgroup_lie_side_by_side_the_widest_first) {
  KernelBuilder kernel;
  const std::uint32_t narrow = kernel.shared(1, 3), pair = kernel.shared(2, 1), wide = kernel.shared(4, 2);
  const ValueId zero = kernel.constant(0);
  for (const std::uint32_t array : {narrow, pair, wide}) {
    const auto lanes = static_cast<std::uint8_t>(array == narrow ? 1 : array == pair ? 2 : 4);
    const ValueId value = kernel.add({.op = Opcode::LoadShared, .lanes = lanes, .imm = array, .a = zero});
    kernel.add({.op = Opcode::StoreShared, .imm = array, .a = zero, .b = value});
  }
  const Kernel made = kernel.finish();
  const Code code = emit(made);
  EXPECT_TRUE(contains(code.text, "[workgroup_memory+40]")) << code.text;
  EXPECT_TRUE(contains(code.text, "}, [workgroup_memory+32]")) << code.text;
  EXPECT_TRUE(contains(code.text, "}, [workgroup_memory+0]")) << code.text;
  EXPECT_EQ(made.shared_bytes(), 52u);
  EXPECT_EQ(code.bindings.shared_bytes, 64u);
}

TEST(Ptx, private_arrays_are_zeroed_by_their_invocation) {
  for (const std::uint32_t count : {3u, 33u}) {
    SCOPED_TRACE(count);
    KernelBuilder kernel;
    Kernel made = kernel.finish();
    made.privates.push_back({.lanes = 4, .count = count});
    const std::string text = text_of(made);
    EXPECT_TRUE(contains(text, fmt::format("  .local .align 16 .b8 private_memory[{}];\n", 16 * count))) << text;
    EXPECT_EQ(count_of(text, " st.local.v4.u32 "), count == 3 ? 3u : 1u) << text;
    EXPECT_EQ(contains(text, "  setp.lt.u32 %p0, %r2, 33;\n  @%p0 bra Zlocal;\n"), count == 33) << text;
  }
}

TEST(Ptx, a_loop_from_a_computed_value_counts_its_turns_from_0) {
  KernelBuilder kernel;
  const std::uint32_t out = kernel.buffer(1, true);
  const ValueId zero = kernel.constant(0), from = kernel.load(out, zero), to = kernel.load(out, kernel.constant(1));
  const ValueId k = kernel.loop(from, to);
  kernel.store(out, zero, k);
  kernel.end_loop();
  const std::string text = text_of(kernel.finish());
  EXPECT_TRUE(contains(text, R"(  setp.lt.u32 %p0, %r0, %r1;
  sub.u32 %r3, %r1, %r0;
  selp.b32 %r4, %r3, 0, %p0;
  mov.u32 %r2, 0;
H4:
  setp.ge.u32 %p1, %r2, %r4;
  @%p1 bra E4;
  add.u32 %r5, %r0, %r2;
  st.global.u32 [%a0+0], %r5;
  add.u32 %r2, %r2, 1;
  bra H4;
E4:
)")) << text;
}

TEST(Ptx, a_break_leaves_the_loop_around_it_alone) {
  KernelBuilder kernel;
  const ValueId zero = kernel.constant(0), ten = kernel.constant(10);
  kernel.loop(zero, ten);
  const ValueId inner = kernel.loop(zero, ten);
  kernel.if_(inner);
  kernel.break_();
  kernel.end_if();
  kernel.end_loop();
  kernel.if_(ten);
  kernel.break_();
  kernel.end_if();
  kernel.end_loop();
  const std::string text = text_of(kernel.finish());
  EXPECT_EQ(count_of(text, "  bra E3;"), 1u) << text;
  EXPECT_EQ(count_of(text, "  bra E2;"), 1u) << text;
}

TEST(Ptx, comparisons_stay_predicates_where_only_conditions_use_them) {
  KernelBuilder kernel({8, 1, 1});
  const std::uint32_t out = kernel.buffer(1, true);
  const ValueId i = kernel.leaf(Opcode::LocalId, 0), three = kernel.constant(3);
  const ValueId a = kernel.op(Opcode::Lt, i, three), b = kernel.op(Opcode::Ne, i, three);
  kernel.if_(kernel.op(Opcode::Xor, a, kernel.op(Opcode::Eq, b, kernel.constant(0))));
  kernel.store(out, i, i);
  kernel.end_if();
  const std::string text = text_of(kernel.finish());
  EXPECT_TRUE(contains(text, "  not.pred %p2, %p1;\n  xor.pred %p3, %p0, %p2;\n")) << text;
  EXPECT_FALSE(contains(text, "selp")) << text;
}

TEST(Ptx, many_parameters_lie_in_memory) {
  KernelBuilder kernel;
  for (int k = 0; k < 340; ++k) kernel.buffer(1, true);
  EXPECT_FALSE(emit(kernel.finish()).bindings.in_memory());
  kernel.buffer(1, true);
  kernel.store(340, kernel.constant(0), kernel.leaf(Opcode::Length, 340));
  const Code code = emit(kernel.finish());
  EXPECT_EQ(code.bindings.parameter_bytes, 341u * 12 + 12);
  EXPECT_TRUE(code.bindings.in_memory());
  EXPECT_TRUE(contains(code.text, ".param .align 8 .b8 parameters[8]\n")) << code.text;
  EXPECT_TRUE(contains(code.text, R"(  ld.param.u64 %a0, [parameters+0];
  cvta.to.global.u64 %a0, %a0;
)")) << code.text;
  EXPECT_TRUE(contains(code.text, "  ld.global.nc.u64 %a1, [%a0+2720];\n")) << code.text;
  EXPECT_TRUE(contains(code.text, fmt::format("  ld.global.nc.u32 %r0, [%a0+{}];\n", 341 * 8 + 12 + 340 * 4))) << code.text;
}

TEST(Ptx, workgroups_beyond_the_counts_in_memory_leave_before_anything_else) {
  KernelBuilder kernel({8, 1, 1});
  kernel.shared(1, 4);
  const std::uint32_t out = kernel.buffer(1, true);
  kernel.store(out, kernel.constant(0), kernel.constant(1));
  const Code code = emit(kernel.finish(), {.counted_grid = true});
  EXPECT_EQ(code.bindings.counts, 8u);
  EXPECT_EQ(code.bindings.first_group, 16u);
  EXPECT_EQ(code.bindings.first_length, 28u);
  EXPECT_EQ(code.bindings.parameter_bytes, 32u);
  EXPECT_EQ(count_of(code.text, " ret;\n"), 4u) << code.text;
  EXPECT_LT(code.text.rfind("@%p2 ret;"), code.text.find("st.shared")) << code.text;
  EXPECT_TRUE(contains(code.text, "ld.param.u64 %a0, [parameters+8];")) << code.text;
}

TEST(Ptx, a_limit_of_registers_follows_the_size_of_a_workgroup) {
  KernelBuilder kernel({8, 4, 2});
  const std::uint32_t out = kernel.buffer(1, true);
  kernel.store(out, kernel.constant(0), kernel.constant(1));
  const std::string text = emit(kernel.finish()).text, size = ".reqntid 8, 4, 2\n";
  const std::size_t after = text.find(size) + size.size();
  ASSERT_LT(after, text.size()) << text;
  EXPECT_EQ(ptx::with_resident(text, 3), text.substr(0, after) + ".minnctapersm 3\n" + text.substr(after));
}

TEST(Ptx, has_no_name_of_a_user) {
  ir::ProgramBuilder builder;
  builder.buffer(ir::BufferDecl::output_of("buffer_of_a_user", 0, ir::DataType::U32));
  builder.let(builder.name("name_of_a_user"), builder.add(ir::GridId{ir::GridIdKind::Invocation, 0}));
  const ir::Program program = builder.finish();
  const validate::Verdict verdict = validate::validate(program, ops::standard_ops());
  EXPECT_FALSE(contains(text_of(lower::lower(verdict.program.value(), {}, lower::kPtxTarget)), "user"));
}

TEST(Ptx, text_grows_with_the_kernel) {
  const auto size = [](std::uint32_t count) {
    KernelBuilder kernel;
    const std::uint32_t out = kernel.buffer(1, true);
    ValueId value = kernel.load(out, kernel.constant(0));
    for (std::uint32_t k = 0; k < count; ++k) value = kernel.op(Opcode::Mul, value, value);
    kernel.store(out, kernel.constant(0), value);
    return text_of(kernel.finish()).size();
  };
  const std::size_t small = size(1'000);
  EXPECT_LT(size(100'000), 140 * small);
}

}  // namespace
}  // namespace vyre::ptx
