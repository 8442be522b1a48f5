// Submits a batch of calls, with variants whose kernels are specialised for the words in Uniform buffers (Specialization). A variant is
// used if the host knows these words from the storages' mirrors, and if the same words come often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "vyre/run/specialization.hpp"
#include "vyre/run/vulkan/calls/batch.hpp"
#include "vyre/run/vulkan/programs/kernel_source.hpp"

namespace vyre::run::vulkan {

class SpecializedBatch {
 public:
  // Where an array of a call lies. `view` is the index of one of the views that submit() takes. The array lies in the storage of that view,
  // but not necessarily within the view.
  struct Location {
    std::size_t view = 0;
    std::uint64_t offset = 0, bytes = 0;  // in the storage
    bool operator==(const Location&) const = default;
  };
  struct Call {
    std::shared_ptr<RecordedCall> recorded;  // runs on kernels for any words
    std::shared_ptr<KernelSource> source;    // gives specialised kernels; null: there are none for this call
    std::vector<Location> locations;         // one for each slot
  };
  // `written` says for each view whether the calls write it.
  SpecializedBatch(std::shared_ptr<Device> device, std::vector<Call> calls, std::span<const StorageView> views, std::vector<bool> written);

  // Does what Recording::submit does, with views of the memory that the batch was made for. The device executes `first` before the calls.
  void submit(std::span<const StorageView> views, std::span<const VkCommandBuffer> first, std::uint64_t times, const RunOptions& options);
  // The last submission that uses the batch or one of its variants.
  TimelineValue last_use();
  // See Batch. The batch must have no variants: no call has a source.
  void record_again() { plain_.record_again(); }

 private:
  const std::shared_ptr<Device>& device() const { return plain_.device(); }
  using Words = Specialization::Words;
  using Choice = std::optional<std::size_t>;

  // A location whose words select kernels (deduplicated).
  struct Watched {
    Location location;
    Specialization::Part part;
    std::size_t first;  // the position of its first word among all watched words
  };
  // The repetitions of one recorded call, as in a loop.
  struct Group {
    std::shared_ptr<RecordedCall> recorded;
    std::shared_ptr<KernelSource> source;
    std::uint64_t calls;
    std::vector<std::size_t> watched;  // indices into watched_
  };
  static constexpr std::size_t kNoGroup = ~std::size_t{0};
  // The batch for one set of words.
  struct Variant {
    Words words;
    std::vector<Choice> choices;  // one for each group
    std::shared_ptr<Batch> batch;
  };

  void watch(std::span<const StorageView> views);
  std::size_t watch(const Location& location, const Specialization::Part& part);

  // Appends the watched words; returns false if the host does not know all of them. Called in the order of the stream.
  bool gather(std::span<const StorageView> views, Words& words) const;
  // Null if the batch must run on the kernels for any words.
  std::shared_ptr<Batch> variant_for(const Words& words, std::uint64_t times, const RunOptions& options);
  // Makes the choices that were not made yet. Returns whether there is a new one.
  bool choose(const Words& words, std::uint64_t times, std::vector<Choice>& choices) const;
  std::shared_ptr<Batch> made_for(const std::vector<Choice>& choices, const RunOptions& options) const;

  const std::vector<Call> calls_;
  const std::vector<bool> written_;
  std::vector<Watched> watched_;
  std::size_t word_count_ = 0;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // one for each call
  Batch plain_;
  std::mutex mutex_;  // guards what follows
  std::vector<Variant> variants_;
};

}  // namespace vyre::run::vulkan
