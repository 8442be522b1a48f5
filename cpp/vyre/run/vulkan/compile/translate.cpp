#include "vyre/run/vulkan/compile/translate.hpp"

#include "vyre/emit/spirv/emit.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/lower/rounds.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::run::vulkan {
namespace {

// Whether the loops of the kernel are proven to stay within the budget. The loop that zeroes workgroup memory uses up rounds of the same
// budget, but a kernel without loops of its own always fits.
bool fits(std::uint32_t loop_budget, const lower::Kernel& kernel) {
  const std::uint64_t rounds = lower::most_rounds(kernel), zeroing = spirv::zeroing_rounds(kernel);
  return rounds == 0 || (zeroing <= loop_budget && rounds <= loop_budget - zeroing);
}

lower::Target lowering_target(const Target& target) {
  return lower::shader_target(target.accesses_8_bits, target.accesses_16_bits, target.integers_64_bits);
}

// NVIDIA's compiler (driver 580) may crash where a branch has a constant for its condition, which the optimiser would have removed.
validate::ValidProgram without_decided_branches(const validate::ValidProgram& program, const Optimize& options) {
  if (options.passes) return program;
  return transform::remove_unused(transform::fold_constants(transform::inline_calls(program, transform::Kept::Divisions)));
}

Shader shader_of(const lower::Kernel& kernel, const validate::ValidProgram& program, const Target& target) {
  Shader shader;
  shader.has_status = target.loop_budget && !fits(*target.loop_budget, kernel);
  shader.addressed = target.addresses;
  const Span span("emit");
  shader.words = spirv::emit(kernel, {.check_loops = shader.has_status, .addresses = shader.addressed});
  shader.workgroup_size = kernel.workgroup_size;
  shader.workgroup_memory_bytes = kernel.shared_bytes();
  shader.private_memory_bytes = kernel.private_bytes();
  shader.buffer_count = static_cast<std::uint32_t>(kernel.buffers.size());
  for (const lower::KernelBuffer& buffer : kernel.buffers) {
    shader.writable.push_back(buffer.writable);
    shader.element_bytes.push_back(buffer.bytes());
  }
  for (const BufferId buffer : program.bound()) shader.names.push_back(program.program().buffers()[buffer.index].name);
  return shader;
}

}  // namespace

Shader translate(const validate::ValidProgram& program, const Target& target, const Optimize& options) {
  const auto lowered = [&] {
    const Span span("lower");
    return lower::lower(without_decided_branches(program, options), options, lowering_target(target));
  };
  return shader_of(lowered(), program, target);
}

bool proven_within(std::uint32_t loop_budget, const validate::ValidProgram& program, const Optimize& options) {
  const Span span("lower");
  return fits(loop_budget, lower::lower(program, options));
}

std::optional<Shader> translate_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Target& target,
                                          const Optimize& options) {
  const auto lowered = [&] {
    const Span span("lower");
    return lower::lower_coarsened(without_decided_branches(program, options), ways, options, lowering_target(target));
  };
  const std::optional<lower::Kernel> kernel = lowered();
  if (!kernel) return std::nullopt;
  Shader shader = shader_of(*kernel, program, target);
  // If the driver may end the loops of an invocation early, one invocation must not do the loop rounds of several.
  if (shader.has_status) return std::nullopt;
  return shader;
}

}  // namespace vyre::run::vulkan
