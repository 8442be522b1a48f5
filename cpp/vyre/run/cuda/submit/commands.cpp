#include "vyre/run/cuda/submit/commands.hpp"

#include <algorithm>

namespace vyre::run::cuda {
namespace {

void pass(Context& context, CUstream stream, const Command& command, const std::byte* data) {
  const Api& api = context.api();
  switch (command.kind) {
    case Command::Kind::Launch: {
      const LaunchCommand& launch = command.launch;
      // The driver copies the parameters and does not change them.
      void* given[] = {const_cast<std::byte*>(data)};
      context.check(api.cuLaunchKernel(launch.function, launch.groups[0], launch.groups[1], launch.groups[2], launch.size[0],
                                       launch.size[1], launch.size[2], launch.shared_bytes, stream, given, nullptr),
                    "cuLaunchKernel");
      return;
    }
    case Command::Kind::Upload:
      context.check(api.cuMemcpyHtoDAsync(command.to, data, command.bytes, stream), "cuMemcpyHtoDAsync");
      return;
    case Command::Kind::Copy:
      context.check(api.cuMemcpyDtoDAsync(command.to, command.from, command.bytes, stream), "cuMemcpyDtoDAsync");
      return;
    case Command::Kind::Clear:
      context.check(api.cuMemsetD8Async(command.to, 0, command.bytes, stream), "cuMemsetD8Async");
      return;
    case Command::Kind::Free:
      static_cast<void>(api.cuMemFreeAsync(command.to, stream));
      return;
    case Command::Kind::Graph:
      context.check(api.cuGraphLaunch(command.graph, stream), "cuGraphLaunch");
      return;
    case Command::Kind::WaitFor:
      context.check(api.cuStreamWaitEvent(stream, command.event, 0), "cuStreamWaitEvent");
      // The driver keeps a destroyed event until the device has passed it.
      static_cast<void>(api.cuEventDestroy(command.event));
      return;
  }
}

}  // namespace

void Batch::cut(std::size_t size) {
  if (size < commands_.size()) data_.resize(commands_[size].data);
  commands_.resize(size);
}

void Batch::add(Command command, std::span<const std::byte> data) {
  constexpr std::size_t kAlignment = 16;
  command.data = data_.size();
  commands_.push_back(command);
  try {
    data_.resize(command.data + (data.size() + kAlignment - 1) / kAlignment * kAlignment);
  } catch (...) {
    commands_.pop_back();
    throw;
  }
  std::ranges::copy(data, data_.begin() + static_cast<std::ptrdiff_t>(command.data));
}

void Batch::pass(Context& context, CUstream stream) const {
  for (std::size_t index = 0; index < commands_.size(); ++index) {
    try {
      cuda::pass(context, stream, commands_[index], data_.data() + commands_[index].data);
    } catch (...) {
      give_back(context, stream, index);
      throw;
    }
  }
}

void Batch::give_back(Context& context, CUstream stream, std::size_t first) const noexcept {
  if (!context.alive()) return;
  for (std::size_t index = first; index < commands_.size(); ++index) {
    const Command& command = commands_[index];
    if (command.kind == Command::Kind::Free) static_cast<void>(context.api().cuMemFreeAsync(command.to, stream));
    if (command.kind == Command::Kind::WaitFor) static_cast<void>(context.api().cuEventDestroy(command.event));
  }
}

void Commands::add(const Command& command, std::span<const std::byte> data) {
  if (batch_ != nullptr) {
    batch_->add(command, data);
  } else {
    pass(*context_, stream_, command, data.data());
  }
}

void Commands::launch(const LaunchCommand& launch, std::span<const std::byte> parameters) {
  add({.kind = Command::Kind::Launch, .launch = launch}, parameters);
}

void Commands::upload(CUdeviceptr to, std::span<const std::byte> from) {
  add({.kind = Command::Kind::Upload, .to = to, .bytes = from.size()}, from);
}

void Commands::copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes) {
  add({.kind = Command::Kind::Copy, .to = to, .from = from, .bytes = bytes});
}

void Commands::clear(CUdeviceptr to, std::uint64_t bytes) { add({.kind = Command::Kind::Clear, .to = to, .bytes = bytes}); }

void Commands::free(CUdeviceptr address) { add({.kind = Command::Kind::Free, .to = address}); }

void Commands::launch(CUgraphExec graph) { add({.kind = Command::Kind::Graph, .graph = graph}); }

void Commands::wait_for(CUevent event) { add({.kind = Command::Kind::WaitFor, .event = event}); }

}  // namespace vyre::run::cuda
