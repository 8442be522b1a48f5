// The checks before a backend runs (semantics, sections 5, 6 and 9), the same for all of them. The caller of an executable makes them: who
// has the arrays knows what to say about them, and a call that is repeated is checked once. Backends check only what is theirs, such as
// the limits of a device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vyre/ir/program.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {

// Takes one view for each bound buffer, in the order of ValidProgram::bound(). Throws BindingError for arrays that do not fit the program
// or each other, ArgumentError for a grid beyond 2^32 invocations on an axis.
void check_call(const validate::ValidProgram& program, std::span<const BufferView> buffers, Grid grid);
void check_call(const validate::ValidProgram& program, std::span<const StorageView> buffers, Grid grid);

// Where an array lies: all host arrays in space 0, each storage in a space of its own. An extent of no bytes lies nowhere.
struct Extent {
  std::uint64_t space = 0, begin = 0, bytes = 0;

  std::uint64_t end() const { return begin + bytes; }
};
inline Extent host_extent(const void* data, std::uint64_t bytes) { return {0, reinterpret_cast<std::uintptr_t>(data), bytes}; }

// For arrays that a call copies before it runs. Two arrays of which one is written may not share a byte: backends would differ in what the
// other one sees. Throws BindingError.
void check_overlaps(const validate::ValidProgram& program, std::span<const Extent> extents);

// Semantics 9: of the backends that run on the host's processor.
inline constexpr std::uint64_t kMaxHostInvocations = std::uint64_t{1} << 16;       // a workgroup
inline constexpr std::uint64_t kMaxHostWorkgroupBytes = std::uint64_t{256} << 20;  // of workgroup memory
// Throws CapabilityError, which names `whose` limit it is.
void check_host_limits(const validate::ValidProgram& program, std::string_view whose);

// The Workgroup buffers that some statement loads from or stores to, by rising id. The others have a length and no memory.
std::vector<BufferId> shared_buffers(const validate::ValidProgram& program);

// For backends that expand no calls. Throws the LoweringError of those that do, found by counting.
void check_expansion(const validate::ValidProgram& program);

// For backends that cannot choose the order of invocations: throws ArgumentError unless none was asked for.
void check_in_order(const RunOptions& options, std::string_view backend);

// For backends of one device: throws ArgumentError for any other.
void check_only_device(std::optional<std::size_t> device, std::string_view backend);

// Says for each bound buffer whether the program writes it.
std::vector<bool> written(const validate::ValidProgram& program);

// BufLen of a host array: whole elements, or the u32 words that `bytes` fill when padded for Bytes. Throws BindingError when there
// are more than 2^32 - 1. The array of a buffer with a count is as long as that, whatever was given: see check_call.
std::uint32_t buffer_length(const ir::BufferDecl& buffer, std::uint64_t bytes);

// The size of the static array behind a Workgroup buffer that something accesses.
std::uint64_t workgroup_bytes(const ir::BufferDecl& buffer);

}  // namespace vyre::run
