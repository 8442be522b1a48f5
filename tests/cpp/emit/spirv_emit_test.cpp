// Every opcode, every shape of control flow: valid words, the same every time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "glslang/SPIRV/spirv.hpp"
#include "support/kernel_builder.hpp"
#include "support/spirv.hpp"
#include "vyre/lower/target.hpp"

namespace vyre {
namespace {

using lower::Opcode;
using lower::ValueId;
using test::KernelBuilder;
using test::valid_words;

// How often an instruction stands in a module.
std::size_t count(const std::vector<std::uint32_t>& words, spv::Op op) {
  std::size_t found = 0;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> spv::WordCountShift) {
    found += (words[at] & spv::OpCodeMask) == static_cast<std::uint32_t>(op);
  }
  return found;
}

// The words behind the first of each such instruction.
std::vector<std::vector<std::uint32_t>> all(const std::vector<std::uint32_t>& words, spv::Op op) {
  std::vector<std::vector<std::uint32_t>> found;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> spv::WordCountShift) {
    if ((words[at] & spv::OpCodeMask) != static_cast<std::uint32_t>(op)) continue;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
    found.emplace_back(begin + 1, begin + (words[at] >> spv::WordCountShift));
  }
  return found;
}

// What an id of a literal stands for.
std::uint32_t literal(const std::vector<std::uint32_t>& words, std::uint32_t id) {
  for (const std::vector<std::uint32_t>& constant : all(words, spv::OpConstant)) {
    if (constant[1] == id) return constant[2];
  }
  ADD_FAILURE() << "%" << id << " is no literal";
  return 0;
}

// out[gid] = what `make` builds of a[gid] and b[gid].
template <class Make>
lower::Kernel binary_kernel(Make&& make) {
  KernelBuilder k({64, 1, 1});
  const auto a = k.buffer(1, false), b = k.buffer(1, false), out = k.buffer(1, true);
  const ValueId index = k.leaf(Opcode::InvocationId, 0);
  const ValueId in = k.op(Opcode::Lt, index, k.leaf(Opcode::Length, out));
  k.if_(in);
  k.store(out, index, make(k, k.load(a, index), k.load(b, index)));
  k.end_if();
  return k.finish();
}

lower::Kernel xor_kernel() {
  return binary_kernel([](KernelBuilder& k, ValueId a, ValueId b) { return k.op(Opcode::Xor, a, b); });
}

TEST(SpirvEmit, an_empty_kernel_is_valid) { EXPECT_FALSE(valid_words(KernelBuilder().finish()).empty()); }

TEST(SpirvEmit, the_same_kernel_gives_the_same_words) {
  const lower::Kernel kernel = xor_kernel();
  const lower::Kernel copy = kernel;
  EXPECT_EQ(spirv::emit(kernel), spirv::emit(kernel));
  EXPECT_EQ(spirv::emit(kernel), spirv::emit(copy));
  EXPECT_EQ(spirv::emit(kernel), spirv::emit(xor_kernel()));
}

TEST(SpirvEmit, words_hold_no_names_and_no_lines) {
  const std::vector<std::uint32_t> words = valid_words(xor_kernel());
  for (const spv::Op op :
       {spv::OpName, spv::OpMemberName, spv::OpLine, spv::OpNoLine, spv::OpSource, spv::OpString, spv::OpModuleProcessed}) {
    EXPECT_EQ(count(words, op), 0u) << op;
  }
}

TEST(SpirvEmit, loads_of_narrow_elements_keep_the_sign_of_their_type) {
  for (const bool is_signed : {false, true}) {
    for (const std::uint8_t narrow : {1, 2}) {
      lower::Kernel kernel = xor_kernel();
      kernel.buffers[0].narrow = narrow;
      kernel.buffers[0].extend = is_signed ? ir::Extend::Sign : ir::Extend::Zero;
      const std::vector<std::uint32_t> words = spirv::emit(kernel);
      EXPECT_TRUE(test::is_valid_spirv(words));
      EXPECT_EQ(count(words, spv::OpSConvert), is_signed ? 1u : 0u);
      EXPECT_EQ(count(words, spv::OpUConvert), is_signed ? 0u : 1u);
    }
  }
}

TEST(SpirvEmit, only_the_baseline_is_required) {
  const std::vector<std::uint32_t> words = valid_words(xor_kernel());
  std::set<std::uint32_t> capabilities;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> spv::WordCountShift) {
    if ((words[at] & spv::OpCodeMask) == spv::OpCapability) capabilities.insert(words[at + 1]);
  }
  EXPECT_EQ(capabilities, (std::set<std::uint32_t>{spv::CapabilityShader, spv::CapabilityVulkanMemoryModel}));
  EXPECT_EQ(count(words, spv::OpArrayLength), 0u);
  EXPECT_EQ(count(words, spv::OpExtension), 0u);
}

TEST(SpirvEmit, every_operator_is_valid) {
  const auto check = [](Opcode op, bool is_unary) {
    SCOPED_TRACE(name(op));
    valid_words(binary_kernel([&](KernelBuilder& k, ValueId a, ValueId b) { return is_unary ? k.op(op, a) : k.op(op, a, b); }));
  };
#define VYRE_UNARY(op, ...) \
  if (lower::kShaderTarget.has(Opcode::op)) check(Opcode::op, true);
#define VYRE_BINARY(op, ...) \
  if (lower::kShaderTarget.has(Opcode::op)) check(Opcode::op, false);
#include "vyre/lower/opcodes.def"
}

// On an NVIDIA H200, loads from the one moved over stores to the other.
TEST(SpirvEmit, buffers_that_are_only_read_share_no_type_with_others) {
  const std::vector<std::uint32_t> words = valid_words(xor_kernel());
  std::set<std::uint32_t> pointers, read_only;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> spv::WordCountShift) {
    const std::uint32_t op = words[at] & spv::OpCodeMask;
    if (op == spv::OpVariable && words[at + 3] == spv::StorageClassStorageBuffer) pointers.insert(words[at + 1]);
    if (op == spv::OpMemberDecorate && words[at + 3] == spv::DecorationNonWritable) read_only.insert(words[at + 1]);
    EXPECT_FALSE(op == spv::OpDecorate && words[at + 2] == spv::DecorationNonWritable);
  }
  EXPECT_EQ(pointers.size(), 2u);
  EXPECT_EQ(read_only.size(), 1u);
}

// An NVIDIA H200 gave other bytes: Vulkan leaves these undefined for negative operands.
TEST(SpirvEmit, signed_remainders_are_not_left_to_the_driver) {
  const std::vector<std::uint32_t> words =
      valid_words(binary_kernel([](KernelBuilder& k, ValueId a, ValueId b) { return k.op(Opcode::SMod, a, b); }));
  EXPECT_EQ(count(words, spv::OpSRem), 0u);
  EXPECT_EQ(count(words, spv::OpSMod), 0u);
}

TEST(SpirvEmit, comparisons_used_as_conditions_make_no_integers) {
  const lower::Kernel kernel = binary_kernel([](KernelBuilder& k, ValueId a, ValueId b) {
    const ValueId less = k.op(Opcode::Lt, a, b), equal = k.op(Opcode::Eq, a, b);
    const ValueId either = k.op(Opcode::Or, less, equal);
    const ValueId neither = k.op(Opcode::Eq, either, k.constant(0));
    return k.op(Opcode::Select, neither, a, b);
  });
  const std::vector<std::uint32_t> words = valid_words(kernel);
  EXPECT_EQ(count(words, spv::OpSelect), 1u);
  EXPECT_EQ(count(words, spv::OpLogicalOr), 1u);
  EXPECT_EQ(count(words, spv::OpLogicalNot), 1u);
}

TEST(SpirvEmit, a_comparison_used_both_ways_is_made_once) {
  const lower::Kernel kernel = binary_kernel([](KernelBuilder& k, ValueId a, ValueId b) {
    const ValueId less = k.op(Opcode::Lt, a, b);
    return k.op(Opcode::Add, k.op(Opcode::Select, less, a, b), less);
  });
  EXPECT_EQ(count(valid_words(kernel), spv::OpULessThan), 2u);  // one is binary_kernel's own
}

TEST(SpirvEmit, a_mixed_bitwise_operator_works_on_bits) {
  const lower::Kernel kernel = binary_kernel([](KernelBuilder& k, ValueId a, ValueId b) {
    const ValueId less = k.op(Opcode::Lt, a, b);
    return k.op(Opcode::Select, k.op(Opcode::And, less, a), a, b);
  });
  EXPECT_EQ(count(valid_words(kernel), spv::OpBitwiseAnd), 1u);
}

TEST(SpirvEmit, unused_values_are_left_out) {
  const lower::Kernel kernel = binary_kernel([](KernelBuilder& k, ValueId a, ValueId b) {
    k.op(Opcode::Mul, k.op(Opcode::Add, a, b), b);
    return a;
  });
  const std::vector<std::uint32_t> words = valid_words(kernel);
  EXPECT_EQ(count(words, spv::OpIMul), 1u);  // the invocation's id
  EXPECT_EQ(count(words, spv::OpSelect), 0u);
}

TEST(SpirvEmit, vectors_are_loaded_built_selected_and_stored) {
  for (const std::uint32_t lanes : {2u, 4u}) {
    KernelBuilder k({8, 4, 2});
    const auto in = k.buffer(lanes, false), out = k.buffer(lanes, true);
    const auto variable = k.variable(static_cast<std::uint8_t>(lanes));
    const ValueId x = k.leaf(Opcode::InvocationId, 0), y = k.leaf(Opcode::LocalId, 1), z = k.leaf(Opcode::WorkgroupId, 2);
    const ValueId loaded = k.load(in, x);
    const ValueId last = k.add({.op = Opcode::Lane, .lanes = 1, .imm = lanes - 1, .a = loaded});
    const auto width = static_cast<std::uint8_t>(lanes);
    const ValueId packed = lanes == 2 ? k.add({.op = Opcode::Pack, .lanes = width, .a = last, .b = y})
                                      : k.add({.op = Opcode::Pack, .lanes = width, .a = last, .b = y, .c = z, .d = x});
    k.add({.op = Opcode::WriteVariable, .imm = variable, .a = packed});
    const ValueId read = k.add({.op = Opcode::ReadVariable, .lanes = width, .imm = variable});
    k.store(out, x, k.add({.op = Opcode::Select, .lanes = width, .a = y, .b = read, .c = loaded}));
    valid_words(k.finish());
  }
}

TEST(SpirvEmit, every_atomic_is_valid_and_needs_no_device_scope) {
  for (Opcode op = Opcode::AtomicAdd; op <= Opcode::AtomicCompareExchange; op = static_cast<Opcode>(static_cast<int>(op) + 1)) {
    SCOPED_TRACE(name(op));
    KernelBuilder k;
    const auto cells = k.buffer(1, true, true), out = k.buffer(1, true);
    const ValueId zero = k.constant(0), one = k.constant(1);
    lower::Instruction atomic{.op = op, .lanes = 1, .imm = cells, .a = zero, .b = one};
    if (op == Opcode::AtomicCompareExchange) atomic.c = zero;
    k.store(out, zero, k.add(atomic));
    valid_words(k.finish());
  }
}

// Atomics order no other memory, and barriers order storage (docs/semantics.md, Memory, atomics, barriers). No software driver tells when
// one of these is missing.
TEST(SpirvEmit, atomics_are_relaxed_and_of_the_whole_queue) {
  KernelBuilder k;
  const auto cells = k.buffer(1, true, true);
  const ValueId zero = k.constant(0), one = k.constant(1);
  k.add({.op = Opcode::AtomicAdd, .lanes = 1, .imm = cells, .a = zero, .b = one});
  k.add({.op = Opcode::AtomicCompareExchange, .lanes = 1, .imm = cells, .a = zero, .b = one, .c = zero});
  const std::vector<std::uint32_t> words = valid_words(k.finish());
  const auto add = all(words, spv::OpAtomicIAdd), exchange = all(words, spv::OpAtomicCompareExchange);
  ASSERT_EQ(add.size(), 1u);
  ASSERT_EQ(exchange.size(), 1u);
  for (const auto& atomic : {add[0], exchange[0]}) {
    EXPECT_EQ(literal(words, atomic[3]), std::uint32_t{spv::ScopeQueueFamily});
    EXPECT_EQ(literal(words, atomic[4]), 0u);
  }
  EXPECT_EQ(literal(words, exchange[0][5]), 0u);
  EXPECT_EQ(literal(words, exchange[0][6]), 0u) << "the new value";
  EXPECT_EQ(literal(words, exchange[0][7]), 1u) << "the expected one";
}

TEST(SpirvEmit, barriers_order_storage_and_workgroup_memory_for_the_workgroup) {
  KernelBuilder k({64, 1, 1});
  k.barrier();
  const std::vector<std::uint32_t> words = valid_words(k.finish());
  const auto barriers = all(words, spv::OpControlBarrier);
  ASSERT_EQ(barriers.size(), 1u);
  EXPECT_EQ(literal(words, barriers[0][0]), std::uint32_t{spv::ScopeWorkgroup});
  EXPECT_EQ(literal(words, barriers[0][1]), std::uint32_t{spv::ScopeWorkgroup});
  EXPECT_EQ(literal(words, barriers[0][2]),
            std::uint32_t{spv::MemorySemanticsAcquireReleaseMask} | std::uint32_t{spv::MemorySemanticsUniformMemoryMask} |
                std::uint32_t{spv::MemorySemanticsWorkgroupMemoryMask} | std::uint32_t{spv::MemorySemanticsMakeAvailableMask} |
                std::uint32_t{spv::MemorySemanticsMakeVisibleMask});
}

TEST(SpirvEmit, what_several_invocations_may_touch_is_accessed_as_non_private) {
  KernelBuilder k({64, 1, 1});
  const auto out = k.buffer(1, true), array = k.shared(1, 64);
  const ValueId index = k.leaf(Opcode::LocalId, 0);
  const ValueId loaded = k.load(out, index);
  k.add({.op = Opcode::StoreShared, .imm = array, .a = index, .b = loaded});
  k.store(out, index, k.add({.op = Opcode::LoadShared, .lanes = 1, .imm = array, .a = index}));
  const std::vector<std::uint32_t> words = valid_words(k.finish());
  std::set<std::uint32_t> common;  // pointers into storage buffers and workgroup memory
  for (const auto& type : all(words, spv::OpTypePointer)) {
    if (type[1] == spv::StorageClassStorageBuffer || type[1] == spv::StorageClassWorkgroup) common.insert(type[0]);
  }
  std::set<std::uint32_t> elements;
  for (const auto& chain : all(words, spv::OpAccessChain)) {
    if (common.count(chain[0]) != 0) elements.insert(chain[1]);
  }
  std::size_t loads = 0, stores = 0;
  for (const auto& load : all(words, spv::OpLoad)) {
    if (elements.count(load[2]) == 0) continue;
    ++loads;
    EXPECT_TRUE(load.size() == 4 && load[3] == spv::MemoryAccessNonPrivatePointerMask);
  }
  for (const auto& store : all(words, spv::OpStore)) {
    if (elements.count(store[0]) == 0) continue;
    ++stores;
    EXPECT_TRUE(store.size() == 3 && store[2] == spv::MemoryAccessNonPrivatePointerMask);
  }
  EXPECT_EQ(loads, 2u);
  EXPECT_EQ(stores, 3u);  // one is the zero that workgroup memory begins with
}

TEST(SpirvEmit, nobody_uses_workgroup_memory_before_all_of_it_is_zero) {
  KernelBuilder k({64, 1, 1});
  const auto out = k.buffer(1, true), array = k.shared(1, 64);
  const ValueId index = k.leaf(Opcode::LocalId, 0);
  k.store(out, index, k.add({.op = Opcode::LoadShared, .lanes = 1, .imm = array, .a = index}));
  EXPECT_EQ(count(valid_words(k.finish()), spv::OpControlBarrier), 1u);
}

TEST(SpirvEmit, loop_bounds_are_unsigned) {
  KernelBuilder k;
  k.loop(k.constant(0x7FFFFFFF), k.constant(0x80000001));
  k.end_loop();
  const lower::Kernel kernel = k.finish();
  for (const bool check : {false, true}) {
    const std::vector<std::uint32_t> words = spirv::emit(kernel, {.check_loops = check});
    EXPECT_EQ(count(words, spv::OpULessThan), check ? 2u : 1u);
    EXPECT_EQ(count(words, spv::OpSLessThan), 0u);
  }
}

TEST(SpirvEmit, a_loop_from_a_computed_value_counts_its_turns_from_0) {
  KernelBuilder k;
  const ValueId first = k.leaf(Opcode::LocalId, 2);
  k.loop(first, k.constant(9));
  k.end_loop();
  const std::vector<std::uint32_t> words = valid_words(k.finish());
  const auto variables = all(words, spv::OpPhi), constants = all(words, spv::OpConstant), turns = all(words, spv::OpSelect);
  ASSERT_EQ(variables.size(), 1u);
  ASSERT_EQ(turns.size(), 1u);
  const auto zero = std::find_if(constants.begin(), constants.end(), [](const auto& each) { return each[2] == 0; });
  ASSERT_NE(zero, constants.end());
  EXPECT_EQ(variables[0][2], (*zero)[1]);
  const auto compares = all(words, spv::OpULessThan);
  EXPECT_EQ(compares.back()[3], turns[0][1]);
}

TEST(SpirvEmit, only_buffers_that_are_not_written_are_marked_so) {
  for (const bool writable : {false, true}) {
    KernelBuilder k;
    k.buffer(1, writable);
    std::size_t marks = 0;
    for (const auto& decoration : all(valid_words(k.finish()), spv::OpMemberDecorate)) marks += decoration[2] == spv::DecorationNonWritable;
    EXPECT_EQ(marks, writable ? 0u : 1u);
  }
}

TEST(SpirvEmit, workgroup_memory_is_zeroed_whatever_its_size) {
  for (const std::uint32_t count : {1u, 31u, 32u, 33u, 512u, 513u, 8192u, 12'000u}) {
    for (const std::uint32_t lanes : {1u, 2u, 4u}) {
      KernelBuilder k({32, 1, 1});
      const auto out = k.buffer(lanes, true);
      const auto array = k.shared(lanes, count);
      const ValueId index = k.leaf(Opcode::LocalId, 0), zero = k.constant(0);
      const auto width = static_cast<std::uint8_t>(lanes);
      const ValueId value = k.add({.op = Opcode::LoadShared, .lanes = width, .imm = array, .a = zero});
      k.barrier();
      k.add({.op = Opcode::StoreShared, .imm = array, .a = zero, .b = value});
      k.store(out, index, value);
      valid_words(k.finish());
    }
  }
}

TEST(SpirvEmit, loops_and_branches_nest) {
  KernelBuilder k;
  const auto out = k.buffer(1, true);
  const auto sum = k.variable();
  const ValueId zero = k.constant(0), ten = k.constant(10);
  k.add({.op = Opcode::WriteVariable, .imm = sum, .a = zero});
  const ValueId i = k.loop(zero, ten);
  const ValueId j = k.loop(i, ten);
  k.if_(k.op(Opcode::Lt, i, j));
  const ValueId before = k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = sum});
  k.add({.op = Opcode::WriteVariable, .imm = sum, .a = k.op(Opcode::Add, before, j)});
  k.else_();
  k.if_(j);
  k.end_if();
  k.end_if();
  k.end_loop();
  k.end_loop();
  k.store(out, zero, k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = sum}));
  valid_words(k.finish());
}

TEST(SpirvEmit, a_return_may_end_any_block) {
  // What each of the two branches of an If does, in and outside of a loop, with a statement after it.
  for (int shape = 0; shape < 32; ++shape) {
    SCOPED_TRACE(shape);
    const bool in_loop = (shape & 1) != 0, then_returns = (shape & 2) != 0, has_else = (shape & 4) != 0, else_returns = (shape & 8) != 0,
               dead_code = (shape & 16) != 0;
    KernelBuilder k;
    const auto out = k.buffer(1, true);
    const ValueId zero = k.constant(0), ten = k.constant(10), id = k.leaf(Opcode::InvocationId, 0);
    if (in_loop) k.loop(zero, ten);
    k.if_(id);
    k.store(out, zero, ten);
    if (then_returns) k.return_();
    if (has_else) {
      k.else_();
      if (else_returns) k.return_();
      if (dead_code) {
        const ValueId j = k.loop(zero, ten);
        k.if_(j);
        k.else_();
        k.return_();
        k.end_if();
        k.store(out, zero, j);
        k.end_loop();
      }
    }
    k.end_if();
    if (dead_code) k.store(out, zero, zero);
    if (in_loop) k.end_loop();
    k.store(out, zero, id);
    valid_words(k.finish());
  }
}

TEST(SpirvEmit, a_loop_may_return_in_its_first_turn) {
  KernelBuilder k;
  const ValueId zero = k.constant(0);
  k.loop(zero, k.leaf(Opcode::WorkgroupId, 0));
  k.loop(zero, k.leaf(Opcode::WorkgroupId, 1));
  k.return_();
  k.end_loop();
  k.return_();
  k.end_loop();
  k.return_();
  valid_words(k.finish());
}

TEST(SpirvEmit, tested_loops_report_to_the_binding_after_the_last) {
  KernelBuilder k;
  k.buffer(1, true);
  const ValueId zero = k.constant(0);
  k.loop(zero, k.constant(9));
  k.end_loop();
  const lower::Kernel kernel = k.finish();
  EXPECT_EQ(count(spirv::emit(kernel), spv::OpAtomicOr), 0u);
  EXPECT_EQ(count(spirv::emit(kernel, {.check_loops = true}), spv::OpAtomicOr), 1u);
  EXPECT_NE(spirv::disassemble(spirv::emit(kernel, {.check_loops = true})).find("Binding 1"), std::string::npos);
}

// What an instruction computes, of the few that an address is made of; `known` has the ids that are given.
std::uint64_t evaluated(const std::vector<std::uint32_t>& words, std::uint32_t wanted, std::map<std::uint32_t, std::uint64_t> known) {
  for (const std::vector<std::uint32_t>& constant : all(words, spv::OpConstant)) known.emplace(constant[1], constant[2]);
  for (std::size_t at = 5; at < words.size(); at += words[at] >> spv::WordCountShift) {
    const std::uint32_t* const it = &words[at];
    if ((it[0] >> spv::WordCountShift) < 4 || known.count(it[2]) != 0) continue;
    const auto value = [&](std::size_t operand) { return known.at(it[3 + operand]); };
    const auto low = [](std::uint64_t all) { return static_cast<std::uint32_t>(all); };
    switch (it[0] & spv::OpCodeMask) {
      case spv::OpShiftLeftLogical:
        known[it[2]] = low(value(0) << value(1));
        break;
      case spv::OpShiftRightLogical:
        known[it[2]] = value(0) >> value(1);
        break;
      case spv::OpIAddCarry:  // low in the low half, carry in the high one
        known[it[2]] = value(0) + value(1);
        break;
      case spv::OpIAdd:
        known[it[2]] = low(value(0) + value(1));
        break;
      case spv::OpCompositeExtract:
        known[it[2]] = low(value(0) >> (32 * it[4]));
        break;
      case spv::OpCompositeConstruct:
        known[it[2]] = value(0) | value(1) << 32;
        break;
      case spv::OpBitcast:
        known[it[2]] = value(0);
        break;
      default:
        break;
    }
  }
  return known.at(wanted);
}

TEST(SpirvEmit, an_address_is_where_the_array_begins_and_the_bytes_before_the_element) {
  for (const std::uint32_t lanes : {1u, 2u, 4u}) {
    KernelBuilder k;
    const auto in = k.buffer(1, false), out = k.buffer(lanes, true);
    const ValueId index = k.load(in, k.constant(0));
    k.store(out, index, k.load(out, index));
    const std::vector<std::uint32_t> words = spirv::emit(k.finish(), {.addresses = true});
    // The addresses of the two buffers, then what is loaded of the first and of the second.
    const auto loads = all(words, spv::OpLoad);
    ASSERT_EQ(loads.size(), 4u);
    for (const std::uint64_t begin : {0x10ull, 0x1'FFFF'FFF0ull, 0x7F12'3456'7890ull}) {
      for (const std::uint32_t at : {0u, 1u, 0x0FFF'FFFFu, 0x1000'0000u, 0x3FFF'FFFFu, 0x4000'0000u, 0x8000'0001u, 0xFFFF'FFFEu}) {
        const std::map<std::uint32_t, std::uint64_t> known = {{loads[0][1], 0}, {loads[1][1], begin}, {loads[2][1], at}};
        EXPECT_EQ(evaluated(words, loads[3][2], known), begin + std::uint64_t{at} * 4 * lanes);
        EXPECT_EQ(evaluated(words, all(words, spv::OpStore)[0][0], known), begin + std::uint64_t{at} * 4 * lanes);
      }
    }
    EXPECT_EQ(loads[3][4], 4 * lanes) << "aligned to the element";
  }
}

// Behind an address nothing but the comparison holds an access to its array.
TEST(SpirvEmit, what_an_index_is_loaded_for_is_loaded_once_where_arrays_have_addresses) {
  const auto build = [](bool addresses) {
    KernelBuilder k({64, 1, 1});
    const auto read = k.buffer(1, false), data = k.buffer(1, true);
    const auto shared = k.shared(1, 64);
    const std::uint32_t variable = k.variable(1);
    const ValueId zero = k.constant(0);
    const ValueId from_read = k.load(read, zero);  // it is never written
    const ValueId direct = k.load(data, zero);     // an index, after arithmetic
    const ValueId through_variable = k.load(data, from_read);
    k.add({.op = Opcode::WriteVariable, .imm = variable, .a = through_variable});
    const ValueId from_shared = k.add({.op = Opcode::LoadShared, .lanes = 1, .imm = shared, .a = zero});
    const ValueId read_variable = k.leaf(Opcode::ReadVariable, variable);
    const ValueId value = k.load(data, k.op(Opcode::Min, k.op(Opcode::Add, direct, from_shared), read_variable));
    k.store(data, zero, value);
    return spirv::emit(k.finish(), {.addresses = addresses});
  };
  std::vector<bool> once;
  const std::vector<std::uint32_t> words = build(true);
  for (const std::vector<std::uint32_t>& load : all(words, spv::OpLoad)) {
    if (load.size() > 3) once.push_back((load[3] & spv::MemoryAccessVolatileMask) != 0);
  }
  EXPECT_EQ(once, (std::vector<bool>{false, true, true, true, false}));
  for (const std::vector<std::uint32_t>& load : all(build(false), spv::OpLoad)) {
    EXPECT_EQ(load.size() > 3 ? load[3] & spv::MemoryAccessVolatileMask : 0, 0u);
  }
}

TEST(SpirvEmit, arrays_with_addresses_need_one_binding_and_no_integers_of_64_bits) {
  const std::vector<std::uint32_t> words = spirv::emit(xor_kernel(), {.check_loops = true, .addresses = true});
  std::set<std::uint32_t> capabilities;
  for (const std::vector<std::uint32_t>& capability : all(words, spv::OpCapability)) capabilities.insert(capability[0]);
  EXPECT_EQ(capabilities, (std::set<std::uint32_t>{spv::CapabilityShader, spv::CapabilityVulkanMemoryModel,
                                                   spv::CapabilityPhysicalStorageBufferAddresses}));
  const std::string listing = spirv::disassemble(words);
  EXPECT_NE(listing.find("Binding 1"), std::string::npos) << "the status";
  EXPECT_EQ(listing.find("Binding 2"), std::string::npos);
}

TEST(SpirvEmit, a_literal_is_declared_once) {
  KernelBuilder k;
  const auto out = k.buffer(1, true);
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t literal = 0; literal < 50; ++literal) k.store(out, k.constant(literal), k.constant(1000 + literal));
  }
  EXPECT_LE(count(valid_words(k.finish()), spv::OpConstant), 110u);
}

// Words a thing must not depend on how many things there are.
template <class Make>
void grows_linearly(Make&& make) {
  const std::size_t small = spirv::emit(make(1'000)).size(), large = spirv::emit(make(50'000)).size();
  EXPECT_LE(large, small * 51);
}

TEST(SpirvEmit, words_grow_with_the_kernel) {
  grows_linearly([](std::uint32_t n) {
    KernelBuilder k;
    const ValueId id = k.leaf(Opcode::InvocationId, 0);
    for (std::uint32_t round = 0; round < n; ++round) {
      k.if_(id);
      k.end_if();
    }
    return k.finish();
  });
  grows_linearly([](std::uint32_t n) {
    KernelBuilder k;
    const auto out = k.buffer(1, true);
    ValueId sum = k.leaf(Opcode::InvocationId, 0);
    for (std::uint32_t round = 0; round < n; ++round) sum = k.op(Opcode::Add, sum, k.constant(77 * round));
    k.store(out, k.constant(0), sum);
    return k.finish();
  });
  grows_linearly([](std::uint32_t n) {
    KernelBuilder k;
    const ValueId id = k.leaf(Opcode::InvocationId, 0);
    for (std::uint32_t round = 0; round < n; ++round) k.if_(id);
    for (std::uint32_t round = 0; round < n; ++round) k.end_if();
    return k.finish();
  });
}

}  // namespace
}  // namespace vyre
