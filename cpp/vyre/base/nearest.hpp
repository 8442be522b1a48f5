// The name that was probably meant: "did you mean" in hints and errors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vyre {

// The known name that differs least from `name`: in a few letters (one in four, three at the most, so that `gpu` is no slip for `cpu`; two
// that changed places count as one), in upper and lower case, or by what stands before a dot. The first of several; nothing when all differ
// more. Bounded: names of more than 100 bytes are like no other.
std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> known);

// For the end of a Fix: " (did you mean `left`?)", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace vyre
