// Defines the facts about a call, besides its program, that notes may use.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace vyre::advise {

// The call that the notes are about, as far as it is known.
struct NotedCall {
  std::map<std::string, std::uint32_t, std::less<>> lengths;  // elements, by the name of the buffer
  std::optional<std::array<std::uint32_t, 3>> workgroups;
  std::optional<std::array<std::uint32_t, 3>> invocations;  // the invocations that the user asked for; the workgroups may have more
};

}  // namespace vyre::advise
