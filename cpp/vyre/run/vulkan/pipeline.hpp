// A shader compiled for a device.
#pragma once

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

}  // namespace vyre::run::vulkan
