// How programs access memory: the access modes of buffers, and what becomes of a narrow element in a lane.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vyre::ir {

enum class BufferAccess : std::uint8_t { ReadOnly, ReadWrite, Uniform, Workgroup, Private };

struct AccessInfo {
  BufferAccess access;
  std::string_view name;  // "ReadOnly"
  std::string_view text;  // "read", as the text form spells it
};

inline constexpr std::array kAccesses = {
    AccessInfo{BufferAccess::ReadOnly, "ReadOnly", "read"},  AccessInfo{BufferAccess::ReadWrite, "ReadWrite", "read_write"},
    AccessInfo{BufferAccess::Uniform, "Uniform", "uniform"}, AccessInfo{BufferAccess::Workgroup, "Workgroup", "workgroup"},
    AccessInfo{BufferAccess::Private, "Private", "private"},
};
constexpr const AccessInfo& info(BufferAccess access) { return kAccesses[static_cast<std::size_t>(access)]; }
// Whether it is an array of the host's, with a binding: Workgroup and Private memory is not.
constexpr bool is_bound(BufferAccess access) { return access != BufferAccess::Workgroup && access != BufferAccess::Private; }
constexpr bool writable(BufferAccess access) { return access == BufferAccess::ReadWrite || !is_bound(access); }

// What fills the bits of a lane above a narrow element that is loaded, see types.def.
enum class Extend : std::uint8_t { Zero, Sign };

}  // namespace vyre::ir
