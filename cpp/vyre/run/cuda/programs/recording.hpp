// Implements run::Recording: keeps a graph of the driver for each of the sets of arrays that come again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/cuda/calls/calls.hpp"
#include "vyre/run/cuda/programs/graph.hpp"
#include "vyre/run/cuda/programs/kernel_source.hpp"
#include "vyre/run/host/shared_access.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run::cuda {

class CudaRecording final : public Recording {
 public:
  // `ready` has the kernels of each call, and the device. `expected` is as for Backend::record.
  CudaRecording(CallsToRecord calls, std::vector<KernelSource::Ready> ready, std::span<const StorageView> expected);
  ~CudaRecording() override;

  bool usable() const override { return !device_->context().unusable(); }
  // Counts the graphs that were made.
  std::uint64_t times_recorded() const override { return times_recorded_; }

 private:
  void submit_recorded(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options,
                       std::uint64_t times) override;
  // The graph for one set of slots; null if the set came only once so far, or if a graph does not pay.
  struct Kept {
    std::vector<CUdeviceptr> slots;
    std::unique_ptr<Graph> graph = nullptr;
    bool may_pay = true;  // whether a graph is still to be made
  };
  void check_usable(std::span<const StorageView> slots) const;
  void submit_calls(std::span<const StorageView> slots, std::span<const std::byte> words, const Transfers::Used& used,
                    const RunOptions& options);
  // `at_once`: the graph is made even for a set that comes for the first time.
  Graph* graph_for(std::span<const StorageView> slots, bool at_once = false);
  // Gives the calls in the order in which they run.
  std::vector<Bound> bound(std::span<const StorageView> slots, CUdeviceptr words) const;
  void set_words(std::span<const std::byte> words, const RunOptions& options);
  Arrays arrays_of(const CallToRecord& call, std::span<const StorageView> slots, CUdeviceptr words) const;

  const std::shared_ptr<Device> device_;
  std::vector<std::unique_ptr<const Launch>> launches_;  // of each call
  SharedAccess busy_;                                    // guards what follows
  Block words_memory_;
  std::vector<std::byte> words_;
  bool has_words_ = false;  // whether words_memory_ holds words_
  std::vector<Kept> kept_;  // most recently used first
  std::atomic<std::uint64_t> times_recorded_ = 0;
};

}  // namespace vyre::run::cuda
