// A shader compiled for a device.
#pragma once

#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

class Pipeline {
 public:
  // Throws CapabilityError when the shader exceeds a limit of the device.
  Pipeline(Device& device, const Shader& shader);

  VkPipeline handle() const { return *pipeline_; }
  VkPipelineLayout layout() const { return *layout_; }
  const Shader& shader() const { return shader_; }

 private:
  Shader shader_;
  PipelineLayoutHandle layout_;
  PipelineHandle pipeline_;
};

// What one call runs on: each part of its grid (see parts.hpp) on the one or the other. Both take the same bindings and constants.
struct Kernels {
  std::shared_ptr<Pipeline> plain;
  std::shared_ptr<Pipeline> coarse;   // nothing: all of the grid is the plain one's
  ProfiledProgram program = nullptr;  // nothing: it came as a shader

  const Pipeline& of(bool coarse_part) const { return coarse_part ? *coarse : *plain; }
};

}  // namespace vyre::run::vulkan
