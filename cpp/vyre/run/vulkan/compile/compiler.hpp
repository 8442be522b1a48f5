// Compiles shaders for a device, and keeps the pipelines that were used most recently.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

// Any thread may call any function.
class Compiler {
 public:
  Compiler(Context& context, Stream& stream, Heap& heap);

  // The pipeline of a shader. Throws CapabilityError when the shader exceeds a limit of the device.
  //
  // Many drivers compile when a pipeline is first used. With `warm`, it is used here, once the device has done earlier submissions;
  // without, the first call pays for that.
  //
  // A driver's compiler cannot be stopped. So for a caller that can be interrupted or has a time-out, it runs on a thread of its own and
  // goes on when the caller has left; a later call waits for the same thread, or finds its pipeline. The thread keeps `owner` alive.
  std::shared_ptr<Pipeline> pipeline(const Shader& shader, bool warm, const RunOptions& waiting, std::shared_ptr<void> owner);
  // What the driver tells about a shader that passes check_limits, which it compiles for that; empty where it has no such function.
  std::vector<DriverFact> statistics(const Shader& shader);

 private:
  // One run of the driver's compiler on a thread of its own. Guarded by mutex_.
  struct Job {
    const Shader& shader;
    bool done = false;
    std::shared_ptr<Pipeline> pipeline{};
    std::exception_ptr failure{};
  };
  struct Thread;
  // These three are called with the mutex held. The first two return null if there is no such pipeline, or no thread.
  std::shared_ptr<Pipeline> known(const Shader& shader);
  std::shared_ptr<Job> start(const Shader& shader, bool warm, const std::shared_ptr<void>& owner);
  std::shared_ptr<Job> wait_for_job(std::unique_lock<std::mutex>& lock, const Shader& shader, bool warm, const RunOptions& options,
                                    const std::shared_ptr<void>& owner);
  std::shared_ptr<Pipeline> compile(const Shader& shader, bool warm);
  void warm_up(const std::shared_ptr<Pipeline>& pipeline);
  VkDescriptorSetLayout set_layout(std::uint32_t binding_count);

  Context& context_;
  Stream& stream_;
  Heap& heap_;
  std::mutex mutex_;  // guards what follows
  std::map<std::uint32_t, SetLayoutHandle> set_layouts_;
  std::list<std::shared_ptr<Pipeline>> pipelines_;  // most recently used first
  std::list<std::shared_ptr<Job>> jobs_;
  std::condition_variable job_done_;
};

}  // namespace vyre::run::vulkan
