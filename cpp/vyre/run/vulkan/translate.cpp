#include "vyre/run/vulkan/translate.hpp"

#include <algorithm>

#include "vyre/lower/lower.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::vulkan {
namespace {

Shader shader_of(const lower::Kernel& kernel, const validate::ValidProgram& program, const spirv::Options& emitting) {
  const auto is_loop = [](const lower::Instruction& instruction) { return instruction.op == lower::Opcode::Loop; };

  Shader shader;
  shader.has_status = emitting.check_loops && std::any_of(kernel.code.begin(), kernel.code.end(), is_loop);
  shader.addressed = emitting.addresses;
  const Span span("emit");
  shader.words = spirv::emit(kernel, {.check_loops = shader.has_status, .addresses = shader.addressed});
  shader.workgroup_size = kernel.workgroup_size;
  shader.workgroup_memory_bytes = kernel.shared_bytes();
  shader.buffer_count = static_cast<std::uint32_t>(kernel.buffers.size());
  for (const lower::KernelBuffer& buffer : kernel.buffers) {
    shader.writable.push_back(buffer.writable);
    shader.element_bytes.push_back(4 * buffer.lanes);
  }
  for (const BufferId buffer : program.bound()) shader.names.push_back(program.program().buffers()[buffer.index].name);
  return shader;
}

}  // namespace

Shader translate(const validate::ValidProgram& program, const spirv::Options& emitting, const PrepareOptions& options) {
  const auto lowered = [&] {
    const Span span("lower");
    return lower::lower(program, options);
  };
  return shader_of(lowered(), program, emitting);
}

std::optional<Shader> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const spirv::Options& emitting,
                                          const PrepareOptions& options) {
  const auto lowered = [&] {
    const Span span("lower");
    return lower::lower_coarsened(program, ways, options);
  };
  const std::optional<lower::Kernel> kernel = lowered();
  if (!kernel) return std::nullopt;
  return shader_of(*kernel, program, emitting);
}

}  // namespace vyre::run::vulkan
