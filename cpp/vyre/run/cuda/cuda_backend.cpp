#include "vyre/run/cuda/cuda_backend.hpp"

#include <chrono>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/cuda/api/absent.hpp"
#include "vyre/run/cuda/calls/calls.hpp"
#include "vyre/run/cuda/calls/storage.hpp"
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

CudaBackend::CudaBackend(FindLibrary find, Options options) : devices_(std::make_shared<Devices>(std::move(find), std::move(options))) {}

std::vector<std::string> CudaBackend::reasons_unavailable() {
  try {
    devices_->choose();
    return {};
  } catch (const Error& error) {
    return {error.what()};
  }
}

std::vector<DeviceInfo> CudaBackend::devices() {
  try {
    return devices_->infos();
  } catch (const DeviceError&) {
    return {};  // reasons_unavailable() says why
  }
}

void CudaBackend::try_devices() {
  if (reasons_unavailable().empty()) devices_->try_all();
}

std::unique_ptr<Executable> CudaBackend::prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                                 const Optimize& options, const RunOptions& waiting) {
  return std::make_unique<CudaExecutable>(devices_, device ? *device : devices_->choose(), program, options, waiting);
}

std::unique_ptr<Storage> CudaBackend::allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) {
  return std::make_unique<CudaStorage>(devices_->open(device ? *device : devices_->choose()), bytes, zeroed);
}

std::shared_ptr<Recording> CudaBackend::record(CallsToRecord calls, const RunOptions& waiting, std::span<const StorageView> expected) {
  std::vector<KernelSource::Ready> ready;
  for (const CallToRecord& call : calls.calls) ready.push_back(static_cast<CudaExecutable&>(*call.executable).ready(call, waiting));
  return std::make_shared<CudaRecording>(std::move(calls), std::move(ready), expected);
}

std::unique_ptr<CudaStorage> CudaBackend::adopt(std::size_t device, ForeignMemory memory) {
  return std::make_unique<CudaStorage>(devices_->open(device), std::move(memory));
}

void CudaBackend::check_nothing_is_abandoned(std::size_t device) { devices_->open(device)->stream().check_nothing_is_abandoned(); }

void CudaBackend::abandon(std::size_t device) { devices_->open(device)->stream().abandon_all(); }

bool CudaBackend::wait_until_idle(std::size_t device, double seconds) {
  return devices_->open(device)->stream().wait_for_abandoned_work(std::chrono::duration<double>(seconds));
}

}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend() { return std::make_unique<cuda::CudaBackend>(); }

}  // namespace vyre::run
