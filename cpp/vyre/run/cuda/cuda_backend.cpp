#include "vyre/run/cuda/cuda_backend.hpp"

#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/cuda/calls/calls.hpp"
#include "vyre/run/cuda/programs/kernel_source.hpp"
#include "vyre/run/cuda/programs/recording.hpp"

namespace vyre::run {
namespace cuda {
namespace {

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(std::shared_ptr<Devices> devices, std::size_t index, const validate::ValidProgram& program, const Optimize& options,
                 const RunOptions& waiting)
      : devices_(devices), source_(std::move(devices), index, program, options, waiting) {}

  void run(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) override {
    devices_->check_process();
    check_in_order(options, "cuda");
    const KernelSource::Ready now = source_.ready(grid, source_.choose(buffers, grid), options);
    run_host_call(*now.device, now.kernels, buffers, grid, options);
  }

  // Returns the kernels of a call that is to be recorded.
  KernelSource::Ready ready(const CallToRecord& call, const RunOptions& waiting) {
    devices_->check_process();
    if (const RecordedArray* counts = call.counts()) return source_.ready_counted(counts->role, waiting);
    return source_.ready(call.grid, std::nullopt, waiting);
  }

  std::vector<DriverFact> driver_facts(const RunOptions& waiting) override {
    devices_->check_process();
    return source_.ready({1, 1, 1}, std::nullopt, waiting).kernels.plain->facts();
  }

 private:
  const std::shared_ptr<Devices> devices_;
  KernelSource source_;
};

}  // namespace

std::unique_ptr<Executable> CudaBackend::prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                                 const Optimize& options, const RunOptions& waiting) {
  return std::make_unique<CudaExecutable>(devices_, device ? *device : devices_->choose(), program, options, waiting);
}

std::shared_ptr<Recording> CudaBackend::record(CallsToRecord calls, const RunOptions& waiting, std::span<const StorageView> expected) {
  std::vector<KernelSource::Ready> ready;
  for (const CallToRecord& call : calls.calls) ready.push_back(static_cast<CudaExecutable&>(*call.executable).ready(call, waiting));
  return std::make_shared<CudaRecording>(std::move(calls), std::move(ready), expected);
}

}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend() { return std::make_unique<cuda::CudaBackend>(); }

}  // namespace vyre::run
