// The ids that an invocation reads, as a table. The numbers of the kinds are those of the binary form.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vyre::ir {

enum class GridIdKind : std::uint8_t { Invocation, Workgroup, Local };

struct GridIdInfo {
  GridIdKind kind;
  std::string_view name;        // "workgroup_id": in Python, with the axis as an argument
  std::string_view short_name;  // "workgroup": in Python, before "_x"
  std::string_view text;        // "wid": in the text form
  std::string_view meaning;
};

inline constexpr std::array kGridIds = {
    GridIdInfo{GridIdKind::Invocation, "invocation_id", "gid", "gid",
               "The index of this invocation in the whole grid, U32: workgroup_id * workgroup_size + local_id."},
    GridIdInfo{GridIdKind::Workgroup, "workgroup_id", "workgroup", "wid", "The index of this workgroup in the grid, U32."},
    GridIdInfo{GridIdKind::Local, "local_id", "local", "lid", "The index of this invocation in its workgroup, U32."},
};
// info() takes the kind as an index.
static_assert(kGridIds[0].kind == GridIdKind{0} && kGridIds[1].kind == GridIdKind{1} && kGridIds[2].kind == GridIdKind{2});

constexpr const GridIdInfo& info(GridIdKind kind) { return kGridIds[static_cast<std::size_t>(kind)]; }

}  // namespace vyre::ir
