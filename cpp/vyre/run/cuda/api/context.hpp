// Describes the GPUs that the driver reports, and holds the primary context of a GPU. The CUDA runtime and libraries such as PyTorch and
// CuPy use the same context.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/base/fork.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/api/library.hpp"

namespace vyre::run::cuda {

// There is no driver, or it has no device.
class NoCudaError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

inline constexpr const char* kNoGpu =
    "the CUDA driver finds no GPU. Fix: give the container or the process one, for example with `docker run --gpus all`.";

// Settings for tests and tools. Users always get the defaults.
struct Options {
  // Lowers the device's limit of workgroups in one launch, by axis.
  std::optional<std::array<std::uint32_t, 3>> max_group_count = std::nullopt;
  // True: the submission thread of the stream passes all submissions to the driver. False: the calling thread does. Without a value, the
  // calling thread passes the first few after a wait or after the submission thread fell asleep, and the submission thread the others.
  std::optional<bool> submission_thread = std::nullopt;
  // Compiled code is kept in this directory in place of the user's cache directory.
  std::optional<std::filesystem::path> cache_directory = std::nullopt;
};

struct PhysicalDevice {
  CUdevice handle = 0;
  DeviceInfo info;
  std::string key;  // names the driver and the instruction set that compiled code is for
  std::array<std::uint32_t, 3> max_group_size{};
  std::array<std::uint32_t, 3> max_group_count{};
  std::uint32_t max_invocations = 0;   // in a workgroup
  std::uint32_t max_resident = 0;      // invocations at once on a multiprocessor
  std::uint32_t registers = 0;         // of a multiprocessor
  std::uint64_t shared_bytes = 0;      // of a workgroup
  std::uint64_t all_shared_bytes = 0;  // of a multiprocessor
  std::uint64_t memory_bytes = 0;
};

// The driver and its devices. Never changes once it is made.
class Instance {
 public:
  // Throws NoCudaError where there is no driver, DeviceError when it does not work.
  explicit Instance(const Library& library);

  const Api& api() const { return api_; }
  const std::vector<PhysicalDevice>& devices() const { return devices_; }
  pid_t process() const { return process_; }

 private:
  Api api_;
  std::vector<PhysicalDevice> devices_;
  pid_t process_;
};

class Context {
 public:
  // Throws DeviceError or a type derived from it.
  Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, Options options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { release(); }

  const Api& api() const { return instance_->api(); }
  const PhysicalDevice& physical() const { return physical_; }
  const Options& options() const { return options_; }
  const std::string& name() const { return physical_.info.name; }
  // Returns the position of the device in Instance::devices().
  std::size_t index() const { return static_cast<std::size_t>(&physical_ - instance_->devices().data()); }
  std::array<std::uint32_t, 3> max_group_count() const;

  // Throws a typed error if a call of the driver failed; a result that says that the context is lost also makes the device unusable.
  void check(CUresult result, const char* call) {
    if (result != CUDA_SUCCESS) failed(result, call);
  }
  // Whether the device was lost, or the submission thread failed to pass a submission to the driver, so that the contents of arrays are
  // unknown. The next call opens the device anew.
  bool unusable() const { return unusable_; }
  void mark_unusable() { unusable_ = true; }
  // Whether the driver takes no more calls for the context.
  bool lost() const { return lost_; }
  // Gives the driver's context back. No call may be made for the context afterwards.
  void release() noexcept;

  // Whether this process was forked from the one that opened the device. Nothing of the device can be used or freed in such a process.
  bool forked() const { return forks_ != forks_before(); }
  // Throws DeviceError in a forked process.
  void check_process() const {
    if (forked()) cuda::check_process(instance_->process());
  }
  // Whether the driver still takes calls for what belongs to this context, so that it can be freed.
  bool alive() const { return !lost_ && !forked(); }

 private:
  friend class Current;
  [[noreturn]] void failed(CUresult result, const char* call);

  const std::shared_ptr<Instance> instance_;
  const PhysicalDevice& physical_;  // held by instance_
  const Options options_;
  const std::uint64_t forks_ = forks_before();
  std::atomic<CUcontext> context_ = nullptr;
  std::atomic<bool> unusable_ = false;
  std::atomic<bool> lost_ = false;
};

// Makes the context the current one of the calling thread for as long as the object lives. The destructor restores the context that was
// current before, which may be another library's. A thread without a context keeps that of the first device: other libraries choose the
// same for such a thread, and the next call then need not change it.
class Current {
 public:
  explicit Current(Context& context);
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current();

 private:
  const Api& api_;
  bool pushed_ = false;
};

// Runs `free`, which frees what belongs to the context, with the context as the current one. Does nothing if the driver takes no more calls
// for it; if the context is lost meanwhile, what belonged to it is lost with it.
template <class Free>
void free_in(Context& context, const Free& free) noexcept {
  if (!context.alive()) return;
  try {
    const Current current(context);
    free(context.api());
  } catch (const std::exception&) {
  }
}

}  // namespace vyre::run::cuda
