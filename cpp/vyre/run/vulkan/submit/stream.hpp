// What was submitted to a device and is not waited for at once: in one order, counted by a timeline semaphore.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "vyre/run/vulkan/api/handle.hpp"
#include "vyre/run/vulkan/api/waiting.hpp"

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
  //
  // An idle device gets them at once. While it works, and when several have come without anybody waiting, they are left to a thread of the
  // stream's own, which submits what has come together meanwhile: a submission costs the caller more than all else of a small call. Should
  // one fail there, the device is condemned, and whoever submits or waits hears of it.
  struct Submission {
    std::span<const VkCommandBuffer> commands;
    // The same for a device that has done everything before, for all that the host knows; empty where that makes no difference.
    std::span<const VkCommandBuffer> when_done = {};
    // Both are called between the submissions before and after, and must be quick. Asked first: after "no" nothing is submitted.
    std::function<bool()> agree = {};
    // Told the moment once it is submitted.
    std::function<void(std::uint64_t)> then = {};
  };
  // 0 where it did not agree.
  std::uint64_t submit(const Submission& submission);
  // Does something quick between two submissions.
  template <class Work>
  auto in_order(const Work& work) {
    const std::lock_guard lock(mutex_);
    return work();
  }
  // Throws what a submission of the stream's own thread threw.
  void rethrow_failure();
  // Whether that moment is known to be past, without asking the device.
  bool is_past(std::uint64_t moment) const { return past_ >= moment; }
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
  void hand_to_driver(std::span<const VkCommandBuffer> commands, std::uint64_t moment);
  // With the mutex held: whether the stream's own thread should do it, which then runs.
  bool wants_submitter();
  void submit_what_comes();

  Device& device_;
  SemaphoreHandle timeline_;
  std::atomic<std::uint64_t> past_ = 0;
  std::atomic<std::uint64_t> waited_for_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // guards what follows
  std::uint64_t last_ = 0;
  bool busy_ = false;  // what process_end.hpp was told
  std::unique_ptr<Retired> retired_;
  std::exception_ptr failure_;

  std::atomic<bool> beside_;  // whether there may be a submitter
  bool submitting_ = false;   // whether it has taken what came
  bool asleep_ = false;       // and must be woken
  bool ended_ = false;
  std::vector<VkCommandBuffer> left_;   // for the submitter, up to last_
  std::atomic<bool> any_left_ = false;  // the same, for one that spins
  std::condition_variable wake_;
  std::thread submitter_;
};

}  // namespace vyre::run::vulkan
