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
  // Many drivers compile a pipeline when it is first used. With `warm`, this function uses it once, after the device's earlier submissions,
  // and waits. Without, the first call takes that much longer.
  std::shared_ptr<Pipeline> pipeline(const Shader& shader, bool warm, const RunOptions& waiting, const std::shared_ptr<void>& owner);
  // The driver's statistics of a shader, which must pass check_limits. The driver compiles the shader for this. Empty if the driver gives
  // no statistics.
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
