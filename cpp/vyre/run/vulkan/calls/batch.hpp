// Calls of resident arrays that are submitted together, as often as wanted.
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
  // Commands to be executed before the calls, each time that the batch is submitted.
  std::span<const VkCommandBuffer> first = {};
};
inline const std::function<bool()> kAlwaysValid;

// The calls give the same bytes as if each had waited for all before it. Calls without a hazard between them may overlap.
class Batch {
 public:
  Batch(std::shared_ptr<Device> device, std::vector<std::shared_ptr<RecordedCall>> calls);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();

  const std::shared_ptr<Device>& device() const { return device_; }
  // Whether one submission does the whole batch, so that nothing comes between its calls; and the same while a profile is open.
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
  // A call of more dispatches than one submission takes is recorded anew each time, piece by piece.
  void submit_in_pieces(RecordedCall& call, const BatchUse& use, const Waiting& waiting);
  // Returns the timeline value of the submission, or 0 if `still_valid` cancelled it.
  TimelineValue submit_once(std::span<const VkCommandBuffer> commands, const BatchUse& use,
                            std::span<const VkCommandBuffer> when_idle = {});

  const std::shared_ptr<Device> device_;
  const std::vector<std::shared_ptr<RecordedCall>> calls_;
  std::vector<RecordedCall*> different_;  // the calls without repetitions, by address
  std::vector<RecordedCall*> checked_;    // those of them with a status word
  std::unique_ptr<CommandBuffers> recorded_;
  std::atomic<TimelineValue> last_use_ = 0;
};

}  // namespace vyre::run::vulkan
