// Compiles shaders for a device, and keeps the pipelines that were used most recently.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/compile_jobs.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

// Any thread may call any function.
class Compiler {
 public:
  Compiler(Context& context, Stream& stream, Heap& heap);

  // The pipeline of a shader. Throws CapabilityError when the shader exceeds a limit of the device. `owner` is as for CompileJobs.
  //
  // Many drivers compile when a pipeline is first used. With `warm`, it is used here, once the device has done earlier submissions;
  // without, the first call pays for that.
  std::shared_ptr<Pipeline> pipeline(const Shader& shader, bool warm, const RunOptions& waiting, const std::shared_ptr<void>& owner);
  // What the driver tells about a shader that passes check_limits, which it compiles for that; empty where it has no such function.
  std::vector<DriverFact> statistics(const Shader& shader);

 private:
  std::shared_ptr<Pipeline> compile(const Shader& shader, bool warm);
  void warm_up(const std::shared_ptr<Pipeline>& pipeline);
  VkDescriptorSetLayout set_layout(std::uint32_t binding_count);

  Context& context_;
  Stream& stream_;
  Heap& heap_;
  std::mutex mutex_;  // guards set_layouts_
  std::map<std::uint32_t, SetLayoutHandle> set_layouts_;
  CompileJobs<Shader, Pipeline, &Pipeline::shader> pipelines_;
};

}  // namespace vyre::run::vulkan
