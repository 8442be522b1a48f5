// Describes calls of the driver for a stream. They are made at once, or are stored for a thread that makes them later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/gpu/retired.hpp"

namespace vyre::run::cuda {

// Describes a launch without its parameters.
struct LaunchCommand {
  CUfunction function = nullptr;
  std::array<std::uint32_t, 3> groups{}, size{};
  std::uint32_t shared_bytes = 0;
};

// One call of the driver. `kind` decides which of the other members are used.
struct Command {
  enum class Kind : std::uint8_t { Launch, Upload, Copy, Clear, Free, Graph, WaitFor };
  Kind kind = Kind::Launch;
  LaunchCommand launch = {};
  CUdeviceptr to = 0, from = 0;
  std::uint64_t bytes = 0;      // size of a copy, a clear or an upload
  std::size_t data = 0;         // offset in the data of the batch: parameters of a launch, or bytes of an upload
  CUgraphExec graph = nullptr;  // to be launched
  CUevent event = nullptr;      // to be waited for, and destroyed
};

// Commands that wait to be passed to the driver, in their order.
class Batch {
 public:
  // The timeline value of the last submission that has commands in the batch.
  TimelineValue value = 0;

  bool empty() const { return commands_.empty(); }
  void clear() { cut(0); }
  std::size_t size() const { return commands_.size(); }
  // Drops the commands from index `size` on.
  void cut(std::size_t size);
  void add(Command command, std::span<const std::byte> data = {});
  // Passes all commands to the driver. If the driver refuses a command, gives back what this command and all later ones own, and throws.
  void pass(Context& context, CUstream stream) const;
  // Gives back the memory and the events that the commands from index `first` on own.
  void give_back(Context& context, CUstream stream, std::size_t first = 0) const noexcept;

 private:
  std::vector<Command> commands_;
  std::vector<std::byte> data_;
};

// Passes commands to the driver or adds them to a batch. If a function throws, the caller still owns the memory or the event that it
// passed.
class Commands {
 public:
  // Passes commands to the driver at once. The context must be the current one.
  Commands(Context& context, CUstream stream) : context_(&context), stream_(stream) {}
  // Adds commands to the batch.
  explicit Commands(Batch& batch) : batch_(&batch) {}

  void launch(const LaunchCommand& launch, std::span<const std::byte> parameters);
  // Copies bytes of the host, which may change once the function returns.
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
