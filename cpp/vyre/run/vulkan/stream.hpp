// What was submitted to a device and is not waited for at once: in one order, counted by a timeline semaphore.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "vyre/run/vulkan/handle.hpp"
#include "vyre/run/vulkan/waiting.hpp"

namespace vyre::run::vulkan {

class Device;

// Moments only grow, whichever thread is last.
inline void raise(std::atomic<std::uint64_t>& moment, std::uint64_t to) {
  std::uint64_t before = moment;
  while (before < to && !moment.compare_exchange_weak(before, to)) {
  }
}

// What the device may still be working with, so that it must live on until then.
class Retired {
 public:
  Retired() = default;
  Retired(const Retired&) = delete;
  Retired& operator=(const Retired&) = delete;
  virtual ~Retired() = default;

 private:
  friend class Stream;
  std::uint64_t until_ = 0;
  std::unique_ptr<Retired> next_;
};

// Safe from every thread.
class Stream {
 public:
  explicit Stream(Device& device);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // The device is idle.
  ~Stream();

  // Waits while so much is submitted already that more would only take memory. Calls do so first, while they can still be interrupted.
  void make_room(const Waiting& waiting);
  // The moment at which the device will be done with `commands` and all before them.
  std::uint64_t submit(std::span<const VkCommandBuffer> commands);
  // Whether that moment is past. Throws DeviceLostError.
  bool done(std::uint64_t moment);
  void wait(std::uint64_t moment, const Waiting& waiting);

  // Destroys it when that moment is past; at once if it is. In a forked child it stays: nothing of the device can be freed there.
  void retire(std::uint64_t moment, std::unique_ptr<Retired> thing) noexcept;
  // Destroys what is due; whether the device has nothing to do.
  bool collect() noexcept;
  // Waits for that; false when the time was not enough.
  bool idle_within(std::chrono::duration<double> time) noexcept;

 private:
  std::uint64_t last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  void poll();

  Device& device_;
  SemaphoreHandle timeline_;
  std::atomic<std::uint64_t> past_ = 0;
  std::mutex mutex_;  // guards what follows
  std::uint64_t last_ = 0;
  bool busy_ = false;  // what process_end.hpp was told
  std::unique_ptr<Retired> retired_;
};

}  // namespace vyre::run::vulkan
