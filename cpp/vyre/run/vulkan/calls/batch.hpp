// Records a batch of calls on arrays that stay on the device, and submits them together, as often as wanted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/calls/recorded_call.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

// One submission of a batch.
struct BatchUse {
  // The storages that the calls work with.
  std::span<const StorageView> views;
  // Which of the views the calls write.
  const std::vector<bool>& written;
  // Called under the stream's lock just before submitting; returning false cancels the submission. Empty: always submit.
  const std::function<bool()>& still_valid;
  // Command buffers that the device executes before the calls.
  std::span<const VkCommandBuffer> first = {};
};
inline const std::function<bool()> kAlwaysValid;

// The results are the same as if each call had waited for all calls before it. Calls without a hazard between them may overlap.
class Batch {
 public:
  Batch(std::shared_ptr<Device> device, std::vector<std::shared_ptr<RecordedCall>> calls);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();

  const std::shared_ptr<Device>& device() const { return device_; }
  // Whether one submission runs the whole batch, so that no other work comes between its calls. The second function tells whether that is
  // also so while a profile is open.
  bool is_one_submission() const;
  bool is_one_timed_submission() const;
  // The last submission that uses the batch.
  TimelineValue last_use() const { return last_use_; }
  // Records the commands anew, after RecordedCall::rebind. The device must not be
  // executing the batch.
  void record_again();
  // Submits the batch `times` times. Returns how many were submitted before `still_valid` returned false.
  std::uint64_t submit(const BatchUse& use, std::uint64_t times, const RunOptions& options);

 private:
  class CommandBuffers;
  class TimedSubmissions;
  // These return false if `still_valid` cancelled the submission.
  bool submit_recorded(const BatchUse& use, std::uint64_t times, const Waiting& waiting);
  bool submit_timed(const BatchUse& use, std::uint64_t times, const Waiting& waiting);
  bool submit_checked(const BatchUse& use, std::uint64_t times, const Waiting& waiting);
  // Submits a call with more dispatches than one submission may have. The call is recorded piece by piece, anew each time.
  void submit_in_pieces(RecordedCall& call, const BatchUse& use, const Waiting& waiting);
  // Returns the timeline value of the submission, or 0 if `still_valid` cancelled it.
  TimelineValue submit_once(std::span<const VkCommandBuffer> commands, const BatchUse& use,
                            std::span<const VkCommandBuffer> when_idle = {});

  const std::shared_ptr<Device> device_;
  const std::vector<std::shared_ptr<RecordedCall>> calls_;
  std::vector<RecordedCall*> different_;  // each call once, sorted by address
  std::vector<RecordedCall*> checked_;    // the calls of different_ that report a status
  std::unique_ptr<CommandBuffers> recorded_;
  std::atomic<TimelineValue> last_use_ = 0;
};

}  // namespace vyre::run::vulkan
