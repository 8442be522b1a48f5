// Owns an open device: its context and everything that is made from it. Each part knows only the parts that are declared before it; the
// code in calls/ and programs/ makes the parts work together.
#pragma once

#include <memory>

#include "vyre/run/gpu/kept_device.hpp"
#include "vyre/run/vulkan/api/context.hpp"
#include "vyre/run/vulkan/calls/call_slot.hpp"
#include "vyre/run/vulkan/compile/compiler.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/memory/transfer.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {

class Device : public KeptDevice, public std::enable_shared_from_this<Device> {
 public:
  // The backend, executables and storages share an open device.
  static std::shared_ptr<Device> open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options);
  ~Device();

  Context& context() { return context_; }
  const Context& context() const { return context_; }
  const std::string& name() const { return context_.name(); }
  Stream& stream() { return stream_; }
  Heap& heap() { return heap_; }
  Timing& timing() { return timing_; }
  Transfers& transfers() { return transfers_; }
  CallSlots& call_slots() { return call_slots_; }

  // See Compiler::pipeline.
  std::shared_ptr<Pipeline> pipeline(const Shader& shader, bool warm = true, const RunOptions& waiting = {}) {
    return compiler_.pipeline(shader, warm, waiting, shared_from_this());
  }
  // See Compiler::statistics.
  std::vector<DriverFact> statistics(const Shader& shader) { return compiler_.statistics(shader); }

 private:
  Device(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options);

  Context context_;
  Stream stream_;
  Heap heap_;
  Timing timing_;
  Transfers transfers_;
  CallSlots call_slots_;
  Compiler compiler_;
};

}  // namespace vyre::run::vulkan
