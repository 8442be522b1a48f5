// Owns an open device: its context and everything that is made from it. Each part knows only the parts that are declared before it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/cuda/compile/kernel.hpp"
#include "vyre/run/cuda/memory/pool.hpp"
#include "vyre/run/cuda/memory/transfer.hpp"
#include "vyre/run/cuda/submit/stream.hpp"
#include "vyre/run/cuda/submit/timing.hpp"
#include "vyre/run/gpu/compile_jobs.hpp"
#include "vyre/run/gpu/kept_device.hpp"

namespace vyre::run::cuda {

class Device : public KeptDevice, public std::enable_shared_from_this<Device> {
 public:
  // The backend, executables and storages share an open device.
  static std::shared_ptr<Device> open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options);
  ~Device();

  Context& context() { return context_; }
  const std::string& name() const { return context_.name(); }
  Stream& stream() { return stream_; }
  Pool& pool() { return pool_; }
  Timing& timing() { return timing_; }
  Transfers& transfers() { return transfers_; }
  // Memory of other libraries that is kept only until the device is done with it, in bytes.
  std::atomic<std::uint64_t>& foreign_bytes() { return foreign_bytes_; }

  std::shared_ptr<Kernel> kernel(const Source& source, const RunOptions& waiting);

 private:
  Device(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options);

  Context context_;
  std::atomic<std::uint64_t> foreign_bytes_ = 0;
  Stream stream_;
  Pool pool_;
  Timing timing_;
  Transfers transfers_;
  CompileJobs<Source, Kernel, &Kernel::source> kernels_;
};

}  // namespace vyre::run::cuda
