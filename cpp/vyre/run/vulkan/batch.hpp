// Calls put into command buffers once, one after the other, and submitted as often as wanted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/vulkan/recording.hpp"
#include "vyre/run/vulkan/storage.hpp"

namespace vyre::run::vulkan {

inline VulkanStorage& storage_of(const StorageView& view) { return static_cast<VulkanStorage&>(*view.storage); }

// Calls follow each other as if each had waited for all before it. Those that share nothing that one of them writes may run at once.
class Batch {
 public:
  Batch(std::shared_ptr<Device> device, std::vector<std::shared_ptr<Recording>> calls);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();

  const std::shared_ptr<Device>& device() const { return device_; }
  std::span<const std::shared_ptr<Recording>> calls() const { return calls_; }
  // `views` are what the calls work with, and `written` those that they write. As Plan::submit.
  void submit(std::span<const StorageView> views, const std::vector<bool>& written, std::uint64_t times, const RunOptions& options);

 private:
  class Recorded;
  void submit_recorded(std::span<const StorageView> views, std::uint64_t times, const Waiting& waiting);
  void submit_timed(std::span<const StorageView> views, std::uint64_t times, const Waiting& waiting);
  void submit_checked(std::span<const StorageView> views, std::uint64_t times, const Waiting& waiting);
  void submit_in_turns(Recording& call, std::span<const StorageView> views, const Waiting& waiting);
  void used(std::span<const StorageView> views, std::uint64_t moment);

  const std::shared_ptr<Device> device_;
  const std::vector<std::shared_ptr<Recording>> calls_;
  std::vector<Recording*> different_;  // calls, each once, in the order of their addresses
  std::vector<Recording*> checked_;    // those with a status word, likewise
  std::unique_ptr<Recorded> recorded_;
  std::atomic<std::uint64_t> last_use_ = 0;
};

}  // namespace vyre::run::vulkan
