// Small shaders in SPIR-V assembly, so that the tests of the Vulkan backend need neither lowering nor emitter.
#pragma once

#include <spirv-tools/libspirv.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/prepared.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"
#include "vyre/run/vulkan/vulkan_backend.hpp"

namespace vyre::test {

// A shader with the backend's interface around `body`. The body may use: %buffer<k>, %base_x %base_y %base_z, %length<k> (loaded),
// %group and %local (vectors), constants %c0 %c1 %c2 %c3, types %u32 %bool, pointer %pu32.
inline run::vulkan::Shader assembled(std::uint32_t buffers, bool has_status, std::array<std::uint32_t, 3> size, const std::string& body) {
  run::vulkan::Shader shader;
  shader.buffer_count = buffers;
  shader.has_status = has_status;
  shader.workgroup_size = size;
  shader.writable.assign(buffers, true);
  std::string variables, interface, members, offsets, decorations, loads;
  for (std::uint32_t k = 0; k < buffers + (has_status ? 1 : 0); ++k) {
    const std::string n = std::to_string(k);
    interface += " %buffer" + n;
    decorations += "OpDecorate %buffer" + n + " DescriptorSet 0\nOpDecorate %buffer" + n + " Binding " + n + "\n";
    variables += "%buffer" + n + " = OpVariable %pblock StorageBuffer\n";
  }
  for (std::uint32_t k = 0; k < 3 + buffers; ++k) {
    const std::string n = std::to_string(k);
    members += " %u32";
    offsets += "OpMemberDecorate %push " + n + " Offset " + std::to_string(4 * k) + "\n";
    variables += "%m" + n + " = OpConstant %u32 " + n + "\n";
    const std::string name = k < 3 ? std::string("%base_") + "xyz"[k] : "%length" + std::to_string(k - 3);
    loads += "%pm" + n + " = OpAccessChain %ppush_u32 %constants %m" + n + "\n" + name + " = OpLoad %u32 %pm" + n + "\n";
  }
  const std::string text = R"(
OpCapability Shader
OpCapability VulkanMemoryModel
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %group_id %local_id %constants)" +
                           interface + R"(
OpExecutionMode %main LocalSize )" +
                           std::to_string(size[0]) + " " + std::to_string(size[1]) + " " + std::to_string(size[2]) + R"(
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %push Block
OpDecorate %group_id BuiltIn WorkgroupId
OpDecorate %local_id BuiltIn LocalInvocationId
)" + offsets + decorations +
                           R"(
%void = OpTypeVoid
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%uvec3 = OpTypeVector %u32 3
%func = OpTypeFunction %void
%array = OpTypeRuntimeArray %u32
%block = OpTypeStruct %array
%push = OpTypeStruct)" + members +
                           R"(
%pblock = OpTypePointer StorageBuffer %block
%pu32 = OpTypePointer StorageBuffer %u32
%ppush = OpTypePointer PushConstant %push
%ppush_u32 = OpTypePointer PushConstant %u32
%pin = OpTypePointer Input %uvec3
%group_id = OpVariable %pin Input
%local_id = OpVariable %pin Input
%constants = OpVariable %ppush PushConstant
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c3 = OpConstant %u32 3
%sx = OpConstant %u32 )" + std::to_string(size[0]) +
                           R"(
%sy = OpConstant %u32 )" + std::to_string(size[1]) +
                           R"(
%sz = OpConstant %u32 )" + std::to_string(size[2]) +
                           "\n" + variables + R"(
%scope = OpConstant %u32 5
%sixteen = OpConstant %u32 16
%factor = OpConstant %u32 1664525
%main = OpFunction %void None %func
%entry = OpLabel
%group = OpLoad %uvec3 %group_id
%local = OpLoad %uvec3 %local_id
)" + loads + body + R"(
OpReturn
OpFunctionEnd
)";
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
  std::string problem;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
    problem += std::to_string(at.line) + ": " + message + "\n";
  });
  if (!tools.Assemble(text, &shader.words) || !tools.Validate(shader.words)) throw std::logic_error(problem + text);
  return shader;
}

// %id_x, %id_y, %id_z: the ids of the invocation in the whole grid.
inline std::string invocation_ids() {
  std::string text;
  for (int axis = 0; axis < 3; ++axis) {
    const std::string a(1, "xyz"[axis]);
    const std::string n = std::to_string(axis);
    text += "%g_" + a + " = OpCompositeExtract %u32 %group " + n + "\n%l_" + a + " = OpCompositeExtract %u32 %local " + n + "\n%w_" + a +
            " = OpIAdd %u32 %base_" + a + " %g_" + a + "\n%f_" + a + " = OpIMul %u32 %w_" + a + " %s" + a + "\n%id_" + a +
            " = OpIAdd %u32 %f_" + a + " %l_" + a + "\n";
  }
  return text;
}

// out[i] = a[i] ^ b[i] for each i below the length of out.
inline run::vulkan::Shader xor_shader() {
  auto shader = assembled(3, false, {64, 1, 1}, invocation_ids() + R"(
%inside = OpULessThan %bool %id_x %length2
OpSelectionMerge %done None
OpBranchConditional %inside %store %done
%store = OpLabel
%pa = OpAccessChain %pu32 %buffer0 %c0 %id_x
%a = OpLoad %u32 %pa
%pb = OpAccessChain %pu32 %buffer1 %c0 %id_x
%b = OpLoad %u32 %pb
%x = OpBitwiseXor %u32 %a %b
%po = OpAccessChain %pu32 %buffer2 %c0 %id_x
OpStore %po %x
OpBranch %done
%done = OpLabel)");
  shader.writable = {false, false, true};
  shader.names = {"a", "b", "out"};
  return shader;
}

// data[i] += i + 1 for i = x + 16 y + 256 z, of any grid of up to 16 x 16 x 16 invocations.
inline run::vulkan::Shader count_shader(std::array<std::uint32_t, 3> size) {
  return assembled(1, false, size, invocation_ids() + R"(
%y16 = OpIMul %u32 %id_y %sixteen
%z16 = OpIMul %u32 %id_z %sixteen
%z256 = OpIMul %u32 %z16 %sixteen
%xy = OpIAdd %u32 %id_x %y16
%i = OpIAdd %u32 %xy %z256
%i1 = OpIAdd %u32 %i %c1
%p = OpAccessChain %pu32 %buffer0 %c0 %i
%old = OpAtomicIAdd %u32 %p %scope %c0 %i1)");
}

// data[1] = data[0] steps of a random-number generator. With a status, it is set when fewer were done.
inline run::vulkan::Shader loop_shader(bool has_status) {
  std::string body = R"(
%p0 = OpAccessChain %pu32 %buffer0 %c0 %c0
%turns = OpLoad %u32 %p0
OpBranch %header
%header = OpLabel
%i = OpPhi %u32 %c0 %entry %i1 %continue
%s = OpPhi %u32 %c1 %entry %s1 %continue
OpLoopMerge %merge %continue None
OpBranch %test
%test = OpLabel
%more = OpULessThan %bool %i %turns
OpBranchConditional %more %body %merge
%body = OpLabel
%m = OpIMul %u32 %s %factor
%s1 = OpIAdd %u32 %m %c3
%i1 = OpIAdd %u32 %i %c1
OpBranch %continue
%continue = OpLabel
OpBranch %header
%merge = OpLabel
%p1 = OpAccessChain %pu32 %buffer0 %c0 %c1
OpStore %p1 %s)";
  if (has_status) {
    body += R"(
%cut = OpULessThan %bool %i %turns
OpSelectionMerge %done None
OpBranchConditional %cut %tell %done
%tell = OpLabel
%ps = OpAccessChain %pu32 %buffer1 %c0 %c0
OpStore %ps %c1
OpBranch %done
%done = OpLabel)";
  }
  return assembled(1, has_status, {1, 1, 1}, body);
}

inline std::uint32_t loop_result(std::uint32_t turns) {
  std::uint32_t state = 1;
  for (std::uint32_t turn = 0; turn < turns; ++turn) state = state * 1664525u + 3u;
  return state;
}

// The xor shader, as that of a program.
inline std::unique_ptr<Prepared> prepared_xor(run::vulkan::VulkanBackend& backend, std::size_t device) {
  using namespace sample;
  const auto program = Sample().in("a").in("b").out("out").size(64).add(store("out", gid(0), load("a", gid(0)) ^ load("b", gid(0)))).make();
  return std::make_unique<Prepared>(backend, valid(program), backend.prepare_shader(xor_shader(), device));
}

}  // namespace vyre::test
