// A batch of calls, and the same once more on kernels that are made for the words in their Uniform buffers, where the host knows these
// words and they come often (Specialization).
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
  // Where an array of a call lies: in which of the views that are given to submit(), or beside it in the same storage.
  struct Place {
    std::size_t view = 0;
    std::uint64_t offset = 0, bytes = 0;  // in the storage
    bool operator==(const Place&) const = default;
  };
  struct Call {
    std::shared_ptr<Recording> recording;  // on kernels for any words
    std::shared_ptr<KernelSource> source;  // of others; null where there are none
    std::vector<Place> places;             // one a slot
  };
  // `written` tells of each view whether the calls write it.
  SpecializedBatch(std::shared_ptr<Device> device, std::vector<Call> calls, std::span<const StorageView> views, std::vector<bool> written);

  const std::shared_ptr<Device>& device() const { return plain_.device(); }
  std::span<const Call> calls() const { return calls_; }
  const std::vector<bool>& written() const { return written_; }
  // As Plan::submit and Sequence::submit; views of the memory that it was made for.
  void submit(std::span<const StorageView> views, std::uint64_t times, const RunOptions& options);

 private:
  using Words = Specialization::Words;
  using Choice = std::optional<std::size_t>;

  // Where words lie on which kernels depend, each place once.
  struct Watched {
    Place place;
    Specialization::Part part;
    std::size_t first;  // among all words
  };
  // Calls that are the same one, as those of a loop are.
  struct Group {
    std::shared_ptr<Recording> recording;
    std::shared_ptr<KernelSource> source;
    std::uint64_t calls;
    std::vector<std::size_t> watched;
  };
  static constexpr std::size_t kNoGroup = ~std::size_t{0};
  struct Special {
    Words words;
    std::vector<Choice> choices;  // a group each
    std::shared_ptr<Batch> batch;
  };

  void watch(std::span<const StorageView> views);
  std::size_t watch(const Place& place, const Specialization::Part& part);

  // Appends the watched words, in stream order; false when the host does not know all of them.
  bool gather(std::span<const StorageView> views, Words& words) const;
  std::shared_ptr<Batch> special_for(const Words& words, std::uint64_t times, const RunOptions& options);
  // Chooses what was not chosen yet; whether that changed anything.
  bool choose(const Words& words, std::uint64_t times, std::vector<Choice>& choices) const;
  std::shared_ptr<Batch> made_for(const std::vector<Choice>& choices, const RunOptions& options) const;

  const std::vector<Call> calls_;
  const std::vector<bool> written_;
  std::vector<Watched> watched_;
  std::size_t word_count_ = 0;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // a call each
  Batch plain_;
  std::mutex mutex_;
  std::vector<Special> specials_;
};

}  // namespace vyre::run::vulkan
