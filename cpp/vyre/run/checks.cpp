#include "vyre/run/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "vyre/base/error.hpp"

namespace vyre::run {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

constexpr std::uint64_t kMaxLength = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxUniformBytes = 65'536;
constexpr std::uint64_t kMaxInvocationsPerAxis = std::uint64_t{1} << 32;

std::string elements(std::uint64_t count) { return fmt::format("{} element{}", count, count == 1 ? "" : "s"); }

void check_buffer(const BufferDecl& buffer, const BufferView& view) {
  const std::uint32_t length = buffer_length(buffer, view.bytes.size());
  if (view.length != length) {
    throw BindingError(fmt::format("buffer `{}` is said to have {}, its {} bytes hold {}. Fix: give the length that fits the bytes.",
                                   buffer.name, elements(view.length), view.bytes.size(), length));
  }
  if (buffer.count > 0 && length != buffer.count) {
    throw BindingError(fmt::format("buffer `{}` is declared with exactly {}, got {}. Fix: give an array of {}.", buffer.name,
                                   elements(buffer.count), length, elements(buffer.count)));
  }
  if (buffer.access == BufferAccess::Uniform && view.bytes.size() > kMaxUniformBytes) {
    throw BindingError(fmt::format("uniform buffer `{}` has {} bytes, at most {} are allowed. Fix: declare it with BufferAccess::ReadOnly.",
                                   buffer.name, view.bytes.size(), kMaxUniformBytes));
  }
}

// Two arrays of which one is written may not share a byte: backends differ in what the other one would see.
void check_overlaps(const validate::ValidProgram& program, std::span<const BufferView> buffers) {
  struct Range {
    const std::byte* begin;
    const std::byte* end;
    const BufferDecl* buffer;
  };
  std::vector<Range> ranges;
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    const std::span<const std::byte> bytes = buffers[slot].bytes;
    if (bytes.empty()) continue;
    ranges.push_back({bytes.data(), bytes.data() + bytes.size(), &program.program().buffers()[program.bound()[slot].index]});
  }
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return std::less<>()(a.begin, b.begin); });

  // In order of their begins, a range meets an earlier one exactly if it begins before the furthest end so far. Ranges that are
  // only read may overlap each other, so the furthest end is kept for all and for the written ones.
  const Range* furthest = nullptr;
  const Range* furthest_written = nullptr;
  for (const Range& range : ranges) {
    const bool written = range.buffer->access == BufferAccess::ReadWrite;
    const Range* other = written ? furthest : furthest_written;
    if (other != nullptr && std::less<>()(range.begin, other->end)) {
      const auto& [first, second] = std::minmax(other->buffer, range.buffer);
      throw BindingError(
          fmt::format("arrays of buffers `{}` and `{}` overlap in memory, and one of them is ReadWrite. Fix: give each its own array, for "
                      "instance a copy.",
                      first->name, second->name));
    }
    auto extend = [&](const Range*& furthest_end) {
      if (furthest_end == nullptr || std::less<>()(furthest_end->end, range.end)) furthest_end = &range;
    };
    extend(furthest);
    if (written) extend(furthest_written);
  }
}

}  // namespace

std::uint32_t buffer_length(const BufferDecl& buffer, std::uint64_t bytes) {
  const std::uint64_t length = buffer.element == DataType::Bytes ? bytes / 4 + (bytes % 4 != 0) : bytes / ir::min_bytes(buffer.element);
  if (length > kMaxLength) {
    throw BindingError(fmt::format("buffer `{}` has {}, at most {} are allowed. Fix: split the array over several dispatches.", buffer.name,
                                   elements(length), kMaxLength));
  }
  return static_cast<std::uint32_t>(length);
}

void check_host_limits(const ir::Program& program, std::string_view whose) {
  const ir::WorkgroupSize& size = program.workgroup_size();
  // The first two cannot overflow; the third is multiplied only when they are small.
  const std::uint64_t plane = std::uint64_t{size[0]} * size[1];
  if (plane > kMaxHostInvocations || plane * size[2] > kMaxHostInvocations) {
    throw CapabilityError(
        fmt::format("workgroup size {} x {} x {} exceeds the {}'s limit of invocations a workgroup: wanted {} * {} * {}, allowed "
                    "{}. Fix: use a smaller workgroup_size.",
                    size[0], size[1], size[2], whose, size[0], size[1], size[2], kMaxHostInvocations));
  }
  std::uint64_t bytes = 0;  // below 2^36 a buffer, and fewer than 2^28 buffers fit into memory
  for (const BufferDecl& buffer : program.buffers()) {
    if (buffer.access == ir::BufferAccess::Workgroup) bytes += workgroup_bytes(buffer);
  }
  if (bytes > kMaxHostWorkgroupBytes) {
    throw CapabilityError(fmt::format(
        "workgroup buffers exceed the {}'s limit of workgroup memory: wanted {} bytes, allowed {}. Fix: declare fewer elements.", whose,
        bytes, kMaxHostWorkgroupBytes));
  }
}

void check_in_order(const RunOptions& options, std::string_view backend) {
  if (options.schedule == Schedule{}) return;
  throw ArgumentError(fmt::format(
      "backend `{}` has no choice of schedule: its device decides. Fix: leave the schedule out, or run on the reference.", backend));
}

std::uint64_t workgroup_bytes(const BufferDecl& buffer) {
  // Bytes has a length in words and no element.
  return std::uint64_t{buffer.count} * std::max(ir::min_bytes(buffer.element), 4u);
}

void check_call(const validate::ValidProgram& program, std::span<const BufferView> buffers, Grid grid) {
  const std::vector<BufferId>& bound = program.bound();
  if (buffers.size() != bound.size()) {
    throw BindingError(fmt::format("the program has {} buffers to bind, got {}. Fix: give one array for each buffer that is not Workgroup.",
                                   bound.size(), buffers.size()));
  }
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) check_buffer(program.program().buffers()[bound[slot].index], buffers[slot]);
  check_overlaps(program, buffers);

  const std::array<std::uint32_t, 3> counts{grid.x, grid.y, grid.z};
  const ir::WorkgroupSize& size = program.program().workgroup_size();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (std::uint64_t{counts[axis]} * size[axis] > kMaxInvocationsPerAxis) {
      throw ArgumentError(fmt::format(
          "{} workgroups of size {} on axis {} are {} invocations, at most 2^32 are allowed. Fix: use at most {} workgroups on this axis.",
          counts[axis], size[axis], axis, std::uint64_t{counts[axis]} * size[axis], kMaxInvocationsPerAxis / size[axis]));
    }
  }
}

}  // namespace vyre::run
