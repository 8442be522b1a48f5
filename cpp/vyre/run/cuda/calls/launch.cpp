#include "vyre/run/cuda/calls/launch.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "vyre/run/data_grid.hpp"

namespace vyre::run::cuda {
namespace {

// For parameters that lie in device memory: the number of launches that the memory has room for, and the alignment of each launch's block
// in bytes.
constexpr std::uint64_t kBlocksInMemory = 16, kBlockAlignment = 16;
// The bytes at the start of the extra memory that hold the counts of workgroups.
constexpr std::uint64_t kCountsSpace = 16;

std::uint64_t spaced(std::uint64_t bytes) { return (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment; }

void set(std::span<std::byte> block, std::uint64_t offset, const void* from, std::size_t bytes) {
  std::memcpy(block.data() + offset, from, bytes);
}

}  // namespace

Launch::Launch(const Context& context, Kernels kernels, Grid grid, std::span<const std::uint32_t> lengths)
    : kernels_(std::move(kernels)), grid_(grid), parts_(grid, context.max_group_count(), kernels_.coarse != nullptr) {
  const ptx::Bindings& bindings = kernels_.plain->source().code.bindings;
  block_.resize(bindings.parameter_bytes);
  set(block_, bindings.first_length, lengths.data(), lengths.size_bytes());
}

std::uint64_t Launch::extra_bytes() const {
  const std::uint64_t blocks = in_memory() ? spaced(block_.size()) * std::min(parts_.count(), kBlocksInMemory) : 0;
  return blocks + (kernels_.counts ? kCountsSpace : 0);
}

std::uint64_t Launch::enqueue(Commands& commands, std::span<const CUdeviceptr> addresses, CUdeviceptr counts, CUdeviceptr extra,
                              std::uint64_t first, std::uint64_t most) const {
  const auto launch = [&](const Kernel& kernel, const std::array<std::uint32_t, 3>& groups, std::span<const std::byte> parameters) {
    const ptx::Bindings& bindings = kernel.source().code.bindings;
    commands.launch({kernel.function(), groups, bindings.workgroup_size, static_cast<std::uint32_t>(bindings.shared_bytes)}, parameters);
  };
  const ptx::Bindings& bindings = kernels_.plain->source().code.bindings;
  // A small block is built on the stack, to save time in every call.
  std::array<std::byte, 512> small;
  std::vector<std::byte> large(block_.size() <= small.size() ? 0 : block_.size());
  const std::span<std::byte> block = large.empty() ? std::span(small).first(block_.size()) : std::span(large);
  std::copy(block_.begin(), block_.end(), block.begin());
  set(block, 0, addresses.data(), addresses.size_bytes());
  if (kernels_.plain->source().counted_grid) {
    CUdeviceptr groups = counts;
    if (kernels_.counts) {
      groups = extra;
      const std::array<CUdeviceptr, 2> both = {counts, groups};
      if (first == 0) launch(*kernels_.counts, {1, 1, 1}, std::as_bytes(std::span(both)));
    }
    set(block, bindings.counts, &groups, sizeof(groups));
  }
  const CUdeviceptr blocks = extra + (kernels_.counts ? kCountsSpace : 0);
  const std::uint64_t end = std::min(parts_.count(), first + std::min(most, in_memory() ? kBlocksInMemory : most));
  for (std::uint64_t index = first; index < end; ++index) {
    const GridPart part = parts_[index];
    set(block, bindings.first_group, part.first.data(), sizeof(part.first));
    if (in_memory()) {
      const CUdeviceptr at = blocks + (index - first) * spaced(block.size());
      commands.upload(at, block);
      launch(kernels_.of(part.coarse), part.groups, std::as_bytes(std::span(&at, 1)));
    } else {
      launch(kernels_.of(part.coarse), part.groups, block);
    }
  }
  return end;
}

Source counts_source(const std::array<std::uint32_t, 3>& size) {
  Source source;
  source.code.bindings.workgroup_size = {1, 1, 1};
  source.code.bindings.parameter_bytes = 16;
  std::string& text = source.code.text;
  text =
      "// parameters: the address of three counts of invocations, and that of three counts of workgroups\n"
      ".version 7.0\n.target sm_75\n.address_size 64\n\n"
      ".visible .entry main(\n  .param .align 8 .b8 parameters[16]\n)\n.reqntid 1, 1, 1\n{\n"
      "  .reg .pred %p<1>;\n  .reg .b32 %r<4>;\n  .reg .b64 %a<2>;\n"
      "  ld.param.u64 %a0, [parameters];\n  ld.param.u64 %a1, [parameters+8];\n"
      "  cvta.to.global.u64 %a0, %a0;\n  cvta.to.global.u64 %a1, %a1;\n";
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t at = 4 * axis;
    // Rounds up: the quotient, plus one workgroup if there is a remainder. Adding size - 1 to the count first could overflow.
    fmt::format_to(std::back_inserter(text),
                   "  ld.global.u32 %r0, [%a0+{}];\n  div.u32 %r1, %r0, {};\n  mul.lo.u32 %r2, %r1, {};\n  setp.ne.u32 %p0, %r2, %r0;\n"
                   "  selp.u32 %r3, 1, 0, %p0;\n  add.u32 %r1, %r1, %r3;\n  st.global.u32 [%a1+{}], %r1;\n",
                   at, size[axis], size[axis], at);
  }
  text += "  ret;\n}\n";
  return source;
}

}  // namespace vyre::run::cuda
