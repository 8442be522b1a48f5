// Implements run::Plan, run::Sequence and run::Recording: a single call is enqueued anew for each submission, and several become a graph of
// the driver, which a submission launches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/cuda/calls/calls.hpp"
#include "vyre/run/cuda/programs/graph.hpp"
#include "vyre/run/cuda/programs/kernel_source.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/shared_access.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run::cuda {

// Collects the calls of several plans, with the arrays of each.
struct Calls {
  std::shared_ptr<Device> device;
  std::vector<Bound> calls;
  std::vector<StorageView> views;  // of all arrays
  std::vector<bool> written;       // by view
};

// A plan whose calls can be joined with those of others.
class Joinable : public Plan {
 public:
  virtual void add_to(Calls& calls, std::span<const StorageView> views) const = 0;
};

class CudaPlan final : public Joinable {
 public:
  CudaPlan(KernelSource::Ready ready, std::span<const StorageView> views, Grid grid);

  void submit(std::span<const StorageView> views, const RunOptions& options) override;
  void add_to(Calls& calls, std::span<const StorageView> views) const override;

 private:
  const std::shared_ptr<Device> device_;
  const Launch launch_;
};

class CudaSequence final : public Sequence {
 public:
  explicit CudaSequence(std::vector<Step> steps);
  ~CudaSequence() override;

  void submit(std::uint64_t times, const RunOptions& options) override;

 private:
  void submit_steps(const RunOptions& options);

  const std::vector<Step> steps_;
  Calls calls_;
  std::unique_ptr<Graph> graph_;  // null where a graph does not pay
};

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
