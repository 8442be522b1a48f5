#include "vyre/run/checks/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/run/data_grid.hpp"
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

void check_buffer(const BufferDecl& buffer, std::uint64_t bytes, std::uint32_t given_length) {
  const std::uint32_t length = buffer_length(buffer, bytes);
  if (given_length != length) {
    throw BindingError(fmt::format("buffer `{}` is said to have {}, its {} bytes hold {}. Fix: give the length that fits the bytes.",
                                   buffer.name, elements(given_length), bytes, length));
  }
  if (buffer.count > 0 && length != buffer.count) {
    throw BindingError(fmt::format("buffer `{}` is declared with exactly {}, got {}. Fix: give an array of {}.", buffer.name,
                                   elements(buffer.count), length, elements(buffer.count)));
  }
  if (buffer.access == BufferAccess::Uniform && bytes > kMaxUniformBytes) {
    throw BindingError(fmt::format("uniform buffer `{}` has {} bytes, at most {} are allowed. Fix: declare it with BufferAccess::ReadOnly.",
                                   buffer.name, bytes, kMaxUniformBytes));
  }
}

[[noreturn]] void refuse_overlap(const BufferDecl& a, const BufferDecl& b) {
  const auto [first, second] = std::minmax({&a, &b});
  throw overlapping(first->name, second->name);
}

struct AccessedRange {
  Extent extent;
  const BufferDecl* buffer = nullptr;

  bool written() const { return buffer->access == BufferAccess::ReadWrite; }
  bool begins_before(const AccessedRange& other) const {
    return std::tie(extent.space, extent.begin, buffer) < std::tie(other.extent.space, other.extent.begin, other.buffer);
  }
  bool meets_earlier(const AccessedRange& other) const { return other.extent.space == extent.space && extent.begin < other.extent.end(); }
  bool ends_before(const AccessedRange& other) const { return extent.space != other.extent.space || extent.end() < other.extent.end(); }
};

// The ranges are sorted by where they begin, so a range overlaps some earlier range if and only if it overlaps the earlier one that ends
// last. Ranges that are only read may overlap each other. So the loop keeps two ranges: the one that ends last of all, and the one that
// ends last of those that are written.
void check_overlaps_of(std::span<AccessedRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const AccessedRange& a, const AccessedRange& b) { return a.begins_before(b); });
  const AccessedRange* last = nullptr;
  const AccessedRange* last_written = nullptr;
  for (const AccessedRange& range : ranges) {
    const AccessedRange* const other = range.written() ? last : last_written;
    if (other != nullptr && range.meets_earlier(*other)) refuse_overlap(*other->buffer, *range.buffer);
    if (last == nullptr || last->ends_before(range)) last = &range;
    if (range.written() && (last_written == nullptr || last_written->ends_before(range))) last_written = &range;
  }
}

// `extent_of(slot)` is where the array of a bound buffer lies.
template <class ExtentOf>
void check_overlaps_between(const validate::ValidProgram& program, const ExtentOf& extent_of) {
  // Up to eight arrays need no heap memory.
  std::array<AccessedRange, 8> few;
  std::vector<AccessedRange> many;
  const std::size_t count = program.bound().size();
  if (count > few.size()) many.resize(count);
  const std::span<AccessedRange> ranges = count > few.size() ? std::span(many) : std::span(few);
  std::size_t used = 0;
  for (std::size_t slot = 0; slot < count; ++slot) {
    const Extent extent = extent_of(slot);
    if (extent.bytes > 0) ranges[used++] = {extent, &program.program().buffers()[program.bound()[slot].index]};
  }
  check_overlaps_of(ranges.first(used));
}

void check_grid(const validate::ValidProgram& program, Grid grid) {
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

std::uint64_t view_bytes(const BufferView& view) { return view.bytes.size(); }
std::uint64_t view_bytes(const StorageView& view) { return view.bytes; }
std::uint64_t view_bytes(const RecordedArray& array) { return array.bytes; }
// The bytes of a workgroup or private buffer, where a narrow element takes a word.
std::uint64_t counted_bytes(const BufferDecl& buffer) { return std::uint64_t{buffer.count} * std::max(ir::min_bytes(buffer.element), 4u); }
Extent extent_of(const BufferView& view) { return host_extent(view.bytes.data(), view.bytes.size()); }
Extent extent_of(const StorageView& view) { return {view.storage->id(), view.offset, view.bytes}; }
// Each slot and each kept storage is an address space of its own.
Extent extent_of(const RecordedArray& array) {
  return {array.index * RecordedArray::kPlaces + static_cast<std::uint64_t>(array.in), array.offset, array.bytes};
}

template <class View>
void check_views(const validate::ValidProgram& program, std::span<const View> views, Grid grid) {
  const std::vector<BufferId>& bound = program.bound();
  if (views.size() != bound.size()) {
    throw BindingError(fmt::format(
        "the program has {} buffers to bind, got {}. Fix: give one array for each buffer that is neither Workgroup nor Private.",
        bound.size(), views.size()));
  }
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    check_buffer(program.program().buffers()[bound[slot].index], view_bytes(views[slot]), views[slot].length);
  }
  check_overlaps_between(program, [&](std::size_t slot) { return extent_of(views[slot]); });
  check_grid(program, grid);
}

// The last view may be the array of counts that the grid is read from.
template <class View>
void check_with_counts(const validate::ValidProgram& program, std::span<const View> views, Grid grid) {
  const View* const counts = views.empty() || views.back().role == StorageView::Role::Buffer ? nullptr : &views.back();
  const std::span<const View> buffers = views.first(views.size() - (counts == nullptr ? 0 : 1));
  check_views(program, buffers, grid);
  if (counts == nullptr) return;
  VYRE_ASSERT(counts->bytes == kCountsBytes);
  const Extent read = extent_of(*counts);
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    const BufferDecl& decl = program.program().buffers()[program.bound()[slot].index];
    const Extent array = extent_of(buffers[slot]);
    if (decl.access != BufferAccess::ReadWrite || array.bytes == 0 || array.space != read.space) continue;
    if (array.begin >= read.end() || read.begin >= array.end()) continue;
    throw overlapping("grid", decl.name);
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

std::vector<BufferId> accessed_buffers(const validate::ValidProgram& program, BufferAccess access) {
  const std::vector<BufferDecl>& buffers = program.program().buffers();
  if (std::ranges::none_of(buffers, [&](const BufferDecl& buffer) { return buffer.access == access; })) return {};
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
    if (accessed[index] && buffers[index].access == access) result.push_back(BufferId{index});
  }
  return result;
}

void check_host_limits(const validate::ValidProgram& program, std::string_view whose) {
  const ir::WorkgroupSize& size = program.program().workgroup_size();
  // The product of the first two sizes cannot overflow, and the third is multiplied only if that product is small.
  const std::uint64_t plane = std::uint64_t{size[0]} * size[1];
  const char* const smaller = "use a smaller workgroup_size";
  check_limit(plane > kMaxHostInvocations ? plane : plane * size[2], kMaxHostInvocations, "the limit of invocations", whose,
              "invocations a workgroup", smaller);
  std::uint64_t bytes = 0;  // cannot overflow: a buffer has fewer than 2^36 bytes, and memory holds fewer than 2^28 buffers
  for (const BufferId id : accessed_buffers(program, BufferAccess::Workgroup))
    bytes += counted_bytes(program.program().buffers()[id.index]);
  check_limit(bytes, kMaxHostWorkgroupBytes, "the limit of workgroup memory", whose, "bytes of workgroup memory",
              "declare smaller workgroup buffers");
  std::uint64_t each = 0;  // at most 16,384 (V037)
  for (const BufferId id : accessed_buffers(program, BufferAccess::Private)) each += counted_bytes(program.program().buffers()[id.index]);
  check_limit(plane * size[2] * each, kMaxHostWorkgroupBytes, "the limit of private memory", whose, "bytes of private memory a workgroup",
              smaller);
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

std::uint64_t bytes_of(const BufferDecl& buffer) { return std::uint64_t{buffer.count} * ir::min_bytes(buffer.element); }

void check_call(const validate::ValidProgram& program, std::span<const BufferView> buffers, Grid grid) {
  check_views(program, buffers, grid);
}

void check_call(const validate::ValidProgram& program, std::span<const StorageView> views, Grid grid) {
  check_with_counts(program, views, grid);
}

void check_call(const validate::ValidProgram& program, std::span<const RecordedArray> arrays, Grid grid) {
  check_with_counts(program, arrays, grid);
}

void check_overlaps(const validate::ValidProgram& program, std::span<const Extent> extents) {
  check_overlaps_between(program, [&](std::size_t slot) { return extents[slot]; });
}

void check_slots(const Recording& recording, std::span<const StorageView> slots) {
  const CallsToRecord& calls = recording.calls();
  const std::vector<bool>& written = recording.written();
  VYRE_ASSERT(slots.size() == calls.slots.size());
  for (std::size_t slot = 0; slot < slots.size(); ++slot) VYRE_ASSERT(slots[slot].bytes == calls.slots[slot].bytes);
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::tuple(slots[a].storage->id(), slots[a].offset, a) < std::tuple(slots[b].storage->id(), slots[b].offset, b);
  };
  std::vector<std::size_t> sorted(slots.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::erase_if(sorted, [&](std::size_t slot) { return slots[slot].bytes == 0; });
  std::sort(sorted.begin(), sorted.end(), before);
  // Among the slots seen so far: the slot that ends last, and the written slot that ends last.
  const std::size_t none = slots.size();
  std::size_t last = none, last_written = none;
  const auto end = [&](std::size_t slot) { return slots[slot].offset + slots[slot].bytes; };
  const auto extends = [&](std::size_t slot, std::size_t than) {
    return than == none || slots[slot].storage->id() != slots[than].storage->id() || end(slot) > end(than);
  };
  for (const std::size_t slot : sorted) {
    const std::size_t other = written[slot] ? last : last_written;
    if (other != none && slots[other].storage->id() == slots[slot].storage->id() && slots[slot].offset < end(other)) {
      const auto [first, second] = std::minmax(slot, other);
      throw overlapping(calls.slots[first].name, calls.slots[second].name);
    }
    if (extends(slot, last)) last = slot;
    if (written[slot] && extends(slot, last_written)) last_written = slot;
  }
}

}  // namespace vyre::run
