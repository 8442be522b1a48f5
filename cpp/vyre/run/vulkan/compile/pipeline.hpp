// Compiles a shader for a device, and owns the result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/kept_file.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/api/context.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"

namespace vyre::run::vulkan {

// Throws CapabilityError when the shader exceeds a limit of the device.
void check_limits(const Context& context, const Shader& shader);

class Pipeline {
 public:
  // Whether the pipeline is made for calls, or only for the driver's statistics.
  enum class Use : std::uint8_t { Calls, Statistics };

  // The shader must pass check_limits, and `set_layout` must be the layout of its bindings.
  Pipeline(Context& context, VkDescriptorSetLayout set_layout, const Shader& shader, Use use = Use::Calls);

  VkPipeline handle() const { return *pipeline_; }
  VkPipelineLayout layout() const { return *layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  const Shader& shader() const { return shader_; }
  // The driver's statistics. The pipeline must be made with Use::Statistics, on a device with PhysicalDevice::pipeline_statistics.
  std::vector<DriverFact> statistics(Context& context) const;

 private:
  void make_layout(Context& context);
  void compile(Context& context);

  const Use use_;
  const Shader shader_;
  VkDescriptorSetLayout set_layout_;
  PipelineLayoutHandle layout_;
  PipelineHandle pipeline_;
};

// The pipelines of one call: each part of its grid (run/gpu/grid_parts.hpp) runs on one of the two. Both have the same bindings and push
// constants.
struct Kernels {
  std::shared_ptr<Pipeline> plain;
  std::shared_ptr<Pipeline> coarse;   // null: the plain one runs the whole grid
  ProfiledProgram program = nullptr;  // null: the caller gave a shader, not a program

  const Pipeline& of(bool coarse_part) const { return coarse_part ? *coarse : *plain; }
};

// `device_key` is PhysicalDevice::key.
KeptFile pipeline_file(const Options& options, const std::string& device_key, const Shader& shader);

}  // namespace vyre::run::vulkan
