// Calls put into command buffers once, one after the other, and submitted as often as wanted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/vulkan/calls/recorded_call.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

namespace vyre::run::vulkan {

inline VulkanStorage& storage_of(const StorageView& view) { return static_cast<VulkanStorage&>(*view.storage); }

inline const std::function<bool()> kAlways;

// What one submission of a batch works with.
struct Use {
  std::span<const StorageView> views;
  const std::vector<bool>& written;  // a view each
  // Asked in the order of the stream, before anything is submitted: "no" leaves it undone. None agrees.
  const std::function<bool()>& agree;
};

// Calls follow each other as if each had waited for all before it. Those that share nothing that one of them writes may run at once.
class Batch {
 public:
  Batch(std::shared_ptr<Device> device, std::vector<std::shared_ptr<Recording>> calls);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();

  const std::shared_ptr<Device>& device() const { return device_; }
  std::span<const std::shared_ptr<Recording>> calls() const { return calls_; }
  // Whether one submission does all of it, so that nothing comes between its calls; and whether one does for a profile.
  bool whole() const;
  bool timed_as_a_whole() const;
  // So many times in turn, as Plan::submit; how many of them it did before use.agree said no.
  std::uint64_t submit(const Use& use, std::uint64_t times, const RunOptions& options);

 private:
  class Recorded;
  // These give whether use.agree did not say no.
  bool submit_recorded(const Use& use, std::uint64_t times, const Waiting& waiting);
  bool submit_timed(const Use& use, std::uint64_t times, const Waiting& waiting);
  bool submit_checked(const Use& use, std::uint64_t times, const Waiting& waiting);
  void submit_in_turns(Recording& call, const Use& use, const Waiting& waiting);
  // The moment, or 0 where use.agree said no.
  std::uint64_t hand_in(std::span<const VkCommandBuffer> commands, const Use& use, std::span<const VkCommandBuffer> when_done = {});

  const std::shared_ptr<Device> device_;
  const std::vector<std::shared_ptr<Recording>> calls_;
  std::vector<Recording*> different_;  // calls, each once, in the order of their addresses
  std::vector<Recording*> checked_;    // those with a status word, likewise
  std::unique_ptr<Recorded> recorded_;
  std::atomic<std::uint64_t> last_use_ = 0;
};

}  // namespace vyre::run::vulkan
