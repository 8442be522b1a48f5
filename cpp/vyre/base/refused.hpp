// The sentences of what is refused in many places: one for each problem, with its place and one plain Fix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vyre/base/error.hpp"

namespace vyre {

// A value of another kind or outside of a range.
std::string must_be(std::string_view where, std::string_view wanted, std::string_view got);

// Throws CapabilityError if more is wanted than the limit of a device or backend allows. `what` names the things that are counted, and
// `advice` says how to stay within the limit.
void check_limit(std::uint64_t wanted, std::uint64_t allowed, std::string_view limit, std::string_view whose, std::string_view what,
                 std::string_view advice);

// Two arrays of a call that share memory; the call writes one of them.
BindingError overlapping(std::string_view one, std::string_view other);

// Memory that the host or a backend does not have.
DeviceMemoryError no_memory(std::string_view whose, std::string_view what);

// The error for something that began before a fork and does not work in the child.
DeviceError forked(std::string_view what);

}  // namespace vyre
