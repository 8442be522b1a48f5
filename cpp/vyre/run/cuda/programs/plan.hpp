// Implements run::Plan and run::Sequence: a single call is enqueued anew for each submission, and several become a graph of the driver,
// which a submission launches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/cuda/calls/calls.hpp"
#include "vyre/run/cuda/programs/graph.hpp"
#include "vyre/run/cuda/programs/kernel_source.hpp"
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

}  // namespace vyre::run::cuda
