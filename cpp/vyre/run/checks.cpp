#include "vyre/run/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::run {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

constexpr std::uint64_t kMaxLength = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxUniformBytes = 65'536;
constexpr std::uint64_t kMaxInvocationsPerAxis = std::uint64_t{1} << 32;

std::string elements(std::uint64_t count) { return fmt::format("{} element{}", count, count == 1 ? "" : "s"); }

// Where an array lies: all host arrays in one space, every storage in one of its own.
struct Extent {
  std::uint64_t space = 0, begin = 0, bytes = 0;
  std::uint32_t length = 0;

  std::uint64_t end() const { return begin + bytes; }
};

void check_buffer(const BufferDecl& buffer, const Extent& view) {
  const std::uint32_t length = buffer_length(buffer, view.bytes);
  if (view.length != length) {
    throw BindingError(fmt::format("buffer `{}` is said to have {}, its {} bytes hold {}. Fix: give the length that fits the bytes.",
                                   buffer.name, elements(view.length), view.bytes, length));
  }
  if (buffer.count > 0 && length != buffer.count) {
    throw BindingError(fmt::format("buffer `{}` is declared with exactly {}, got {}. Fix: give an array of {}.", buffer.name,
                                   elements(buffer.count), length, elements(buffer.count)));
  }
  if (buffer.access == BufferAccess::Uniform && view.bytes > kMaxUniformBytes) {
    throw BindingError(fmt::format("uniform buffer `{}` has {} bytes, at most {} are allowed. Fix: declare it with BufferAccess::ReadOnly.",
                                   buffer.name, view.bytes, kMaxUniformBytes));
  }
}

[[noreturn]] void refuse_overlap(const BufferDecl& a, const BufferDecl& b) {
  const auto [first, second] = std::minmax({&a, &b});
  throw BindingError(
      fmt::format("arrays of buffers `{}` and `{}` overlap in memory, and one of them is ReadWrite. Fix: give each its own array, for "
                  "instance a copy.",
                  first->name, second->name));
}

struct Range {
  Extent extent;
  const BufferDecl* buffer;

  bool written() const { return buffer->access == BufferAccess::ReadWrite; }
};

void check_overlaps_in_order(std::span<Range> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::tie(a.extent.space, a.extent.begin) < std::tie(b.extent.space, b.extent.begin);
  });

  // In order of their begins, a range meets an earlier one of its space exactly if it begins before the furthest end so far. Ranges
  // that are only read may overlap each other, so the furthest end is kept for all and for the written ones.
  const Range* furthest = nullptr;
  const Range* furthest_written = nullptr;
  for (const Range& range : ranges) {
    const Range* other = range.written() ? furthest : furthest_written;
    if (other != nullptr && other->extent.space == range.extent.space && range.extent.begin < other->extent.end()) {
      refuse_overlap(*other->buffer, *range.buffer);
    }
    const auto extend = [&](const Range*& so_far) {
      const bool further = so_far == nullptr || so_far->extent.space != range.extent.space || so_far->extent.end() < range.extent.end();
      if (further) so_far = &range;
    };
    extend(furthest);
    if (range.written()) extend(furthest_written);
  }
}

// Two arrays of which one is written may not share a byte: backends differ in what the other one would see.
template <class At>
void check_overlaps(std::size_t count, const At& at) {
  // Most programs have so few that looking at all pairs is quicker than sorting.
  constexpr std::size_t kFew = 8;
  if (count > kFew) {
    std::vector<Range> ranges;
    for (std::size_t slot = 0; slot < count; ++slot) {
      if (at(slot).extent.bytes > 0) ranges.push_back(at(slot));
    }
    return check_overlaps_in_order(ranges);
  }
  for (std::size_t second = 1; second < count; ++second) {
    const Range b = at(second);
    for (std::size_t first = 0; first < second; ++first) {
      const Range a = at(first);
      const bool apart = a.extent.space != b.extent.space || a.extent.end() <= b.extent.begin || b.extent.end() <= a.extent.begin;
      if (apart || a.extent.bytes == 0 || b.extent.bytes == 0 || (!a.written() && !b.written())) continue;
      refuse_overlap(*a.buffer, *b.buffer);
    }
  }
}

// `extent(slot)` is where the array of each bound buffer lies.
template <class ExtentOf>
void check_extents(const validate::ValidProgram& program, std::size_t count, const ExtentOf& extent, Grid grid) {
  const std::vector<BufferId>& bound = program.bound();
  if (count != bound.size()) {
    throw BindingError(fmt::format("the program has {} buffers to bind, got {}. Fix: give one array for each buffer that is not Workgroup.",
                                   bound.size(), count));
  }
  const auto at = [&](std::size_t slot) { return Range{extent(slot), &program.program().buffers()[bound[slot].index]}; };
  for (std::size_t slot = 0; slot < count; ++slot) check_buffer(*at(slot).buffer, at(slot).extent);
  check_overlaps(count, at);

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

}  // namespace

std::uint32_t buffer_length(const BufferDecl& buffer, std::uint64_t bytes) {
  const std::uint64_t length = buffer.element == DataType::Bytes ? bytes / 4 + (bytes % 4 != 0) : bytes / ir::min_bytes(buffer.element);
  if (length > kMaxLength) {
    throw BindingError(fmt::format("buffer `{}` has {}, at most {} are allowed. Fix: split the array over several dispatches.", buffer.name,
                                   elements(length), kMaxLength));
  }
  return static_cast<std::uint32_t>(length);
}

std::vector<BufferId> shared_buffers(const validate::ValidProgram& program) {
  const std::vector<BufferDecl>& buffers = program.program().buffers();
  if (std::ranges::none_of(buffers, [](const BufferDecl& buffer) { return buffer.access == BufferAccess::Workgroup; })) return {};
  std::vector<bool> accessed(buffers.size());
  for (const validate::Step& step : program.facts().steps) {
    if (step.buffer.valid() && !std::holds_alternative<ir::BufLen>(program.program().expr(step.expr))) accessed[step.buffer.index] = true;
  }
  for (std::uint32_t index = 0; index < program.program().nodes().size(); ++index) {
    const BufferId stored = program.facts().statements[NodeId{index}].buffer;
    if (stored.valid()) accessed[stored.index] = true;
  }
  std::vector<BufferId> result;
  for (std::uint32_t index = 0; index < buffers.size(); ++index) {
    if (accessed[index] && buffers[index].access == BufferAccess::Workgroup) result.push_back(BufferId{index});
  }
  return result;
}

void check_host_limits(const validate::ValidProgram& program, std::string_view whose) {
  const ir::WorkgroupSize& size = program.program().workgroup_size();
  // The first two cannot overflow; the third is multiplied only when they are small.
  const std::uint64_t plane = std::uint64_t{size[0]} * size[1];
  if (plane > kMaxHostInvocations || plane * size[2] > kMaxHostInvocations) {
    throw CapabilityError(
        fmt::format("workgroup size {} x {} x {} exceeds the {}'s limit of invocations a workgroup: wanted {} * {} * {}, allowed "
                    "{}. Fix: use a smaller workgroup_size.",
                    size[0], size[1], size[2], whose, size[0], size[1], size[2], kMaxHostInvocations));
  }
  std::uint64_t bytes = 0;  // below 2^36 a buffer, and fewer than 2^28 buffers fit into memory
  for (const BufferId id : shared_buffers(program)) bytes += workgroup_bytes(program.program().buffers()[id.index]);
  if (bytes > kMaxHostWorkgroupBytes) {
    throw CapabilityError(fmt::format(
        "workgroup buffers exceed the {}'s limit of workgroup memory: wanted {} bytes, allowed {}. Fix: declare fewer elements.", whose,
        bytes, kMaxHostWorkgroupBytes));
  }
}

void check_expansion(const validate::ValidProgram& program) { transform::check_expansion(program); }

void check_in_order(const RunOptions& options, std::string_view backend) {
  if (options.schedule == Schedule{}) return;
  throw ArgumentError(fmt::format(
      "backend `{}` has no choice of schedule: its device decides. Fix: leave the schedule out, or run on the reference.", backend));
}

void check_only_device(std::optional<std::size_t> device, std::string_view backend) {
  if (device.value_or(0) == 0) return;
  throw ArgumentError(fmt::format("device {} of backend `{}` does not exist. Fix: use 0, its only device.", *device, backend));
}

std::vector<bool> written(const validate::ValidProgram& program) {
  std::vector<bool> result;
  for (const BufferId id : program.bound()) result.push_back(program.program().buffers()[id.index].access == BufferAccess::ReadWrite);
  return result;
}

std::uint64_t workgroup_bytes(const BufferDecl& buffer) { return std::uint64_t{buffer.count} * ir::min_bytes(buffer.element); }

void check_call(const validate::ValidProgram& program, std::span<const BufferView> buffers, Grid grid) {
  const auto extent = [&](std::size_t slot) {
    const BufferView& buffer = buffers[slot];
    return Extent{0, reinterpret_cast<std::uintptr_t>(buffer.bytes.data()), buffer.bytes.size(), buffer.length};
  };
  check_extents(program, buffers.size(), extent, grid);
}

void check_call(const validate::ValidProgram& program, std::span<const StorageView> buffers, Grid grid) {
  const auto extent = [&](std::size_t slot) {
    const StorageView& buffer = buffers[slot];
    return Extent{buffer.storage->id(), buffer.offset, buffer.bytes, buffer.length};
  };
  check_extents(program, buffers.size(), extent, grid);
}

}  // namespace vyre::run
