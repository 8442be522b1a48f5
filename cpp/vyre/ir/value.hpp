// A value of any type, for what holds values without computing them.
#pragma once

#include <array>
#include <cstdint>

namespace vyre::ir {

// Up to four u32 lanes. I32 is the same 32 bits as U32, Bool is 0 or 1, U64 is (low, high).
struct Value {
  std::array<std::uint32_t, 4> lanes{};
  constexpr bool operator==(const Value&) const = default;
};

constexpr Value scalar(std::uint32_t bits) { return Value{{bits, 0, 0, 0}}; }

}  // namespace vyre::ir
