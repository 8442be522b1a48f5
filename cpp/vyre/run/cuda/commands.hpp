// Calls of the driver for a stream, which are made at once, or kept by value for a thread that makes them later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/gpu/retired.hpp"

namespace vyre::run::cuda {

// Says what a launch runs, but for its parameters.
struct LaunchCommand {
  CUfunction function = nullptr;
  std::array<std::uint32_t, 3> groups{}, size{};
  std::uint32_t shared_bytes = 0;
};

// One call of the driver. Which members it has is a matter of its kind.
struct Command {
  enum class Kind : std::uint8_t { Launch, Upload, Copy, Clear, Free, Graph, WaitFor };
  Kind kind = Kind::Launch;
  LaunchCommand launch = {};
  CUdeviceptr to = 0, from = 0;
  std::uint64_t bytes = 0;      // to copy or clear, or of the data
  std::size_t data = 0;         // where the parameters of a launch or the bytes of an upload lie in the batch
  CUgraphExec graph = nullptr;  // to be launched
  CUevent event = nullptr;      // to be waited for, and destroyed
};

// Commands that wait to be passed to the driver, in their order.
class Batch {
 public:
  // This is the last submission of which the batch has a part.
  TimelineValue value = 0;

  bool empty() const { return commands_.empty(); }
  void clear() { cut(0); }
  std::size_t size() const { return commands_.size(); }
  // Drops the commands from that one on.
  void cut(std::size_t size);
  void add(Command command, std::span<const std::byte> data = {});
  // Passes all. When the driver refuses one, it throws, and what that one and those after it own is given back.
  void pass(Context& context, CUstream stream) const;
  // Gives back what the commands own, from that one on.
  void give_back(Context& context, CUstream stream, std::size_t first = 0) const noexcept;

 private:
  std::vector<Command> commands_;
  std::vector<std::byte> data_;
};

// Takes commands. When a function throws, the caller still owns what the command was to own.
class Commands {
 public:
  // Passes commands to the driver at once. The context must be the current one.
  Commands(Context& context, CUstream stream) : context_(&context), stream_(stream) {}
  // Adds commands to the batch.
  explicit Commands(Batch& batch) : batch_(&batch) {}

  void launch(const LaunchCommand& launch, std::span<const std::byte> parameters);
  // Copies bytes of the host, which need not stay.
  void upload(CUdeviceptr to, std::span<const std::byte> from);
  void copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes);
  // Fills memory with zeros.
  void clear(CUdeviceptr to, std::uint64_t bytes);
  void free(CUdeviceptr address);
  void launch(CUgraphExec graph);
  // Makes the stream wait for the event, and then destroys the event.
  void wait_for(CUevent event);

 private:
  void add(const Command& command, std::span<const std::byte> data = {});

  Context* context_ = nullptr;
  CUstream stream_ = nullptr;
  Batch* batch_ = nullptr;
};

}  // namespace vyre::run::cuda
