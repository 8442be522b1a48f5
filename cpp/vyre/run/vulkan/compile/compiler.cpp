// How it works: known() looks for the shader among the pipelines. A caller that can wait for ever compiles on its own thread. For any
// other, a job compiles on a thread of its own while the caller polls its time-out; callers of the same shader share the job.
#include "vyre/run/vulkan/compile/compiler.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/api/process_end.hpp"
#include "vyre/run/vulkan/api/waiting.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"

namespace vyre::run::vulkan {
namespace {

constexpr std::size_t kMaxPipelines = 256;
// Callers may leave jobs behind, which take memory. When there are as many as this, a caller waits for one to end.
constexpr std::size_t kMaxJobs = 8;
// Drivers' compilers recurse over a program. Only the part of the stack that they use becomes memory. In bytes.
constexpr std::size_t kCompilerStack = std::size_t{256} << 20;

// The objects of a pipeline's first use, which live until the device is done with them.
struct FirstUse final : Retired {
  FirstUse(Context& context, Heap& heap, std::shared_ptr<Pipeline> used)
      : pipeline(std::move(used)),
        commands(context),
        set(context, pipeline->set_layout(), pipeline->shader().binding_count()),
        memory(heap.allocate(kMinBufferBytes)) {}
  const std::shared_ptr<Pipeline> pipeline;
  Commands commands;
  DescriptorSet set;
  const Block memory;
};

}  // namespace

Compiler::Compiler(Context& context, Stream& stream, Heap& heap) : context_(context), stream_(stream), heap_(heap) {}

std::shared_ptr<Pipeline> Compiler::pipeline(const Shader& shader, bool warm, const RunOptions& options, std::shared_ptr<void> owner) {
  std::unique_lock lock(mutex_);
  if (auto pipeline = known(shader)) return pipeline;
  const Span span("compile");
  if (options.interrupted || options.timeout) {
    const std::shared_ptr<Job> job = wait_for_job(lock, shader, warm, options, owner);
    if (job && job->failure) std::rethrow_exception(job->failure);
    if (job) return job->pipeline;
    // Another thread made it while this one waited for room, or there is no thread.
    if (auto pipeline = known(shader)) return pipeline;
  }
  lock.unlock();
  return compile(shader, warm);
}

std::vector<DriverFact> Compiler::statistics(const Shader& shader) {
  const DeviceApi& api = context_.api();
  const bool tells = api.vkGetPipelineExecutablePropertiesKHR != nullptr && api.vkGetPipelineExecutableStatisticsKHR != nullptr;
  if (!context_.physical().pipeline_statistics || !tells) return {};
  return Pipeline(context_, set_layout(shader.binding_count()), shader, Pipeline::Use::Statistics).statistics(context_);
}

std::shared_ptr<Compiler::Job> Compiler::wait_for_job(std::unique_lock<std::mutex>& lock, const Shader& shader, bool warm,
                                                      const RunOptions& options, const std::shared_ptr<void>& owner) {
  const Waiting waiting(options);
  std::shared_ptr<Job> job;
  for (;;) {
    if (!job) {
      if (known(shader)) return nullptr;
      const auto same = std::ranges::find_if(jobs_, [&](const auto& other) { return other->shader == shader; });
      if (same != jobs_.end()) {
        job = *same;
      } else if (jobs_.size() < kMaxJobs) {
        job = start(shader, warm, owner);
        if (!job) return nullptr;
      }
    }
    if (job && job->done) return job;
    job_done_.wait_for(lock, kPollInterval);
    if (job && job->done) return job;
    lock.unlock();
    waiting.stop_compile_if_unwanted(context_.name());
    lock.lock();
  }
}

std::shared_ptr<Pipeline> Compiler::known(const Shader& shader) {
  const auto found = std::ranges::find_if(pipelines_, [&](const auto& pipeline) { return pipeline->shader() == shader; });
  if (found == pipelines_.end()) return nullptr;
  pipelines_.splice(pipelines_.begin(), pipelines_, found);
  return pipelines_.front();
}

std::shared_ptr<Pipeline> Compiler::compile(const Shader& shader, bool warm) {
  // The mutex is not held, so that calls of other shaders go on. If two threads compile the same one, both pipelines work.
  check_limits(context_, shader);
  auto compiled = std::make_shared<Pipeline>(context_, set_layout(shader.binding_count()), shader);
  if (warm) warm_up(compiled);
  const std::lock_guard lock(mutex_);
  pipelines_.push_front(compiled);
  if (pipelines_.size() > kMaxPipelines) pipelines_.pop_back();
  return compiled;
}

void Compiler::warm_up(const std::shared_ptr<Pipeline>& pipeline) {
  stream_.check_nothing_is_abandoned();
  auto use = std::make_unique<FirstUse>(context_, heap_, pipeline);
  const Shader& shader = pipeline->shader();
  use->set.bind(context_,
                std::vector<VkDescriptorBufferInfo>(shader.binding_count(), {use->memory.buffer(), use->memory.offset(), kMinBufferBytes}));
  const std::vector<std::uint32_t> constants(3 + shader.buffer_count, 0);
  use->commands.begin();
  use->commands.bind(pipeline->handle(), pipeline->layout(), use->set.handle());
  use->commands.push(pipeline->layout(), constants);
  // No workgroup is enough for a driver to compile.
  use->commands.dispatch({0, 0, 0});
  use->commands.end();
  const VkCommandBuffer commands = use->commands.handle();
  const TimelineValue value = stream_.submit({.commands = {&commands, 1}});
  // Retired first: a wait that fails leaves the device at work.
  stream_.retire(value, std::move(use));
  stream_.wait(value, Waiting({}));
}

// The state of a job's thread.
struct Compiler::Thread {
  std::shared_ptr<void> owner;
  Compiler& compiler;
  const Shader shader;
  const bool warm;
  std::shared_ptr<Job> job{};

  static void* run(void* given) {
    {
      const std::unique_ptr<Thread> self(static_cast<Thread*>(given));
      Compiler& compiler = self->compiler;
      std::shared_ptr<Pipeline> pipeline;
      std::exception_ptr failure;
      try {
        pipeline = compiler.compile(self->shader, self->warm);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(compiler.mutex_);
      self->job->pipeline = std::move(pipeline);
      self->job->failure = failure;
      self->job->done = true;
      compiler.jobs_.remove(self->job);
      compiler.job_done_.notify_all();
    }
    count_idle();
    return nullptr;
  }
};

std::shared_ptr<Compiler::Job> Compiler::start(const Shader& shader, bool warm, const std::shared_ptr<void>& owner) {
  auto thread = std::make_unique<Thread>(Thread{owner, *this, shader, warm});
  thread->job = std::make_shared<Job>(Job{thread->shader});
  const std::shared_ptr<Job> job = thread->job;
  jobs_.push_back(job);
  // If the process ends meanwhile, the driver's destructors must not run.
  count_busy();
  pthread_attr_t how;
  pthread_attr_init(&how);
  pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&how, kCompilerStack);
  pthread_t made;
  const bool begun = pthread_create(&made, &how, &Thread::run, thread.get()) == 0;
  pthread_attr_destroy(&how);
  if (!begun) {
    count_idle();
    jobs_.remove(job);
    return nullptr;
  }
  static_cast<void>(thread.release());  // the new thread deletes it
  return job;
}

VkDescriptorSetLayout Compiler::set_layout(std::uint32_t binding_count) {
  const std::lock_guard lock(mutex_);
  if (const auto known = set_layouts_.find(binding_count); known != set_layouts_.end()) return *known->second;

  std::vector<VkDescriptorSetLayoutBinding> bindings(binding_count);
  for (std::uint32_t binding = 0; binding < binding_count; ++binding) {
    bindings[binding].binding = binding;
    bindings[binding].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[binding].descriptorCount = 1;
    bindings[binding].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  create.bindingCount = binding_count;
  create.pBindings = bindings.data();
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  context_.check(context_.api().vkCreateDescriptorSetLayout(context_.api().device, &create, nullptr, &layout),
                 "vkCreateDescriptorSetLayout");
  set_layouts_.emplace(binding_count, SetLayoutHandle(context_.api(), layout));
  return layout;
}

}  // namespace vyre::run::vulkan
