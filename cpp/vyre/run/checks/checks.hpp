// Checks a call before a backend runs it (docs/semantics.md, Limits and The host), in the same way for all backends. The caller of an
// executable makes these checks, because its messages can describe the arrays, and because it can check a repeated call once. Backends
// check only limits of their own, such as those of a device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vyre/ir/program.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {

struct RecordedArray;

// Takes one view for each bound buffer, in the order of ValidProgram::bound(). Throws BindingError for arrays that do not fit the program
// or each other, ArgumentError for a grid beyond 2^32 invocations on an axis.
void check_call(const validate::ValidProgram& program, std::span<const BufferView> buffers, Grid grid);
// The last view may be that of the counts of a grid from data (data_grid.hpp). The program may not write the array with these counts.
void check_call(const validate::ValidProgram& program, std::span<const StorageView> views, Grid grid);
// Checks arrays of a recording (recording.hpp). Arrays in different slots count as disjoint here; each submission checks the slots
// themselves.
void check_call(const validate::ValidProgram& program, std::span<const RecordedArray> arrays, Grid grid);

// Where an array lies. All host arrays are in address space 0, and each storage is an address space of its own. An extent of 0 bytes
// overlaps nothing.
struct Extent {
  std::uint64_t space = 0, begin = 0, bytes = 0;

  std::uint64_t end() const { return begin + bytes; }
};
inline Extent host_extent(const void* data, std::uint64_t bytes) { return {0, reinterpret_cast<std::uintptr_t>(data), bytes}; }

// Checks only for overlaps, for arrays that a call copies before it runs. An array that is written may not share a byte with another array,
// because backends would differ in what the other array then contains. Throws BindingError.
void check_overlaps(const validate::ValidProgram& program, std::span<const Extent> extents);

// The limits of backends that run on the host's processor.
inline constexpr std::uint64_t kMaxHostInvocations = std::uint64_t{1} << 16;       // in a workgroup
inline constexpr std::uint64_t kMaxHostWorkgroupBytes = std::uint64_t{256} << 20;  // of workgroup memory, and of private memory
// Throws CapabilityError, which names `whose` limit it is.
void check_host_limits(const validate::ValidProgram& program, std::string_view whose);

// Returns the buffers with this access that some statement loads from, stores to or changes atomically, by rising id. Workgroup and Private
// buffers that no statement accesses have a length but no memory.
std::vector<BufferId> accessed_buffers(const validate::ValidProgram& program, ir::BufferAccess access);

// For backends that run calls without expanding them. Expands the calls and drops the result, to throw the same LoweringError as the other
// backends.
void check_expansion(const validate::ValidProgram& program);

// For backends that cannot choose the order of invocations: throws ArgumentError for any schedule but the default.
void check_in_order(const RunOptions& options, std::string_view backend);

// For backends of one device: throws ArgumentError for any other.
void check_only_device(std::optional<std::size_t> device, std::string_view backend);

// Says for each bound buffer whether the program writes it.
std::vector<bool> written(const validate::ValidProgram& program);

// BufLen of a host array: its number of whole elements; for Bytes, its number of u32 words after padding. Throws BindingError when there
// are more than 2^32 - 1. For a buffer with a count, check_call accepts only an array of that length.
std::uint32_t buffer_length(const ir::BufferDecl& buffer, std::uint64_t bytes);

// The size in bytes of the static array of a Workgroup or Private buffer that some statement accesses.
std::uint64_t bytes_of(const ir::BufferDecl& buffer);

// Throws BindingError for slots that overlap while a call writes one of them.
void check_slots(const Recording& recording, std::span<const StorageView> slots);

}  // namespace vyre::run
