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

class CudaRecording final : public Recording, public std::enable_shared_from_this<CudaRecording> {
 public:
  // `ready` has the kernels of each call, and the device.
  CudaRecording(CallsToRecord calls, std::vector<KernelSource::Ready> ready);
  ~CudaRecording() override;

  void submit(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options) override;
  Step step(std::span<const StorageView> slots, std::span<const std::byte> words) override;
  bool usable() const override { return !device_->context().unusable(); }
  // Counts the graphs that were made.
  std::uint64_t times_recorded() const override { return times_recorded_; }

 private:
  // Runs the recording as a step of a sequence.
  class OneStep;
  // The graph for one set of slots; null if the set came only once so far, or if a graph does not pay.
  struct Kept {
    std::vector<CUdeviceptr> slots;
    std::unique_ptr<Graph> graph;
  };
  void submit_calls(std::span<const StorageView> slots, std::span<const std::byte> words, const Transfers::Used& used,
                    const RunOptions& options);
  Graph* graph_for(std::span<const StorageView> slots);
  // Gives the calls in the order in which they run.
  std::vector<Bound> bound(std::span<const StorageView> slots, CUdeviceptr words) const;
  void set_words(std::span<const std::byte> words, const RunOptions& options);
  Arrays arrays_of(const CallToRecord& call, std::span<const StorageView> slots, CUdeviceptr words) const;

  const CallsToRecord calls_;
  const std::vector<bool> written_;
  const std::shared_ptr<Device> device_;
  std::vector<std::unique_ptr<const Launch>> launches_;  // of each call
  SharedAccess busy_;                                    // guards what follows, and keeps the calls of two submissions from interleaving
  Block words_memory_;
  std::vector<std::byte> words_;
  bool has_words_ = false;  // whether words_memory_ holds words_
  std::vector<Kept> kept_;  // most recently used first
  std::atomic<std::uint64_t> times_recorded_ = 0;
};

}  // namespace vyre::run::cuda
