#include "vyre/run/host/ascending.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "vyre/run/host/host_parts.hpp"

namespace vyre::run {
namespace {

// Elements that are compared without a branch. The compiler makes vectors of a loop whose length it knows.
constexpr std::size_t kBlock = 1024;

// Whether one of kBlock elements is less than the one before it; values[0] has one before it.
template <class T>
bool any_descent(const T* values) {
  unsigned found = 0;
  for (std::size_t k = 0; k < kBlock; ++k) found |= static_cast<unsigned>(values[k] < values[k - 1]);
  return found != 0;
}

// Finds the first descent as first_descent does, at the indices from `begin`, which is not 0, to `end`. Returns `end` if there is none.
template <class T>
std::size_t descent_between(const T* values, std::size_t begin, std::size_t end) {
  std::size_t k = begin;
  while (end - k >= kBlock && !any_descent(values + k)) k += kBlock;
  while (k < end && values[k] >= values[k - 1]) ++k;
  return k;
}

}  // namespace

template <class T>
std::optional<std::size_t> first_descent(std::span<const T> values) {
  if (values.size() < 2) return std::nullopt;
  std::atomic<std::size_t> first = values.size();
  in_parts(values.size(), kLeastPartBytes / sizeof(T), kBlock, [&](std::size_t begin, std::size_t end) {
    if (begin > first.load(std::memory_order_relaxed)) return;
    const std::size_t at = descent_between(values.data(), std::max<std::size_t>(begin, 1), end);
    if (at == end) return;
    std::size_t known = first.load(std::memory_order_relaxed);
    while (at < known && !first.compare_exchange_weak(known, at, std::memory_order_relaxed)) {
    }
  });
  return first == values.size() ? std::nullopt : std::optional(first.load());
}

template std::optional<std::size_t> first_descent(std::span<const std::uint8_t>);
template std::optional<std::size_t> first_descent(std::span<const std::int8_t>);
template std::optional<std::size_t> first_descent(std::span<const std::uint16_t>);
template std::optional<std::size_t> first_descent(std::span<const std::int16_t>);
template std::optional<std::size_t> first_descent(std::span<const std::uint32_t>);
template std::optional<std::size_t> first_descent(std::span<const std::int32_t>);
template std::optional<std::size_t> first_descent(std::span<const std::uint64_t>);

Spans spans_of(std::span<const std::uint32_t> offsets, std::uint32_t* lengths) {
  const std::size_t count = offsets.size() - 1;
  if (count == 0) return {};
  Spans all{0, std::numeric_limits<std::uint32_t>::max(), 0};
  std::mutex mutex;
  in_parts(count, kLeastPartBytes / sizeof(std::uint32_t), kBlock, [&](std::size_t begin, std::size_t end) {
    Spans some{0, std::numeric_limits<std::uint32_t>::max(), 0};
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t length = offsets[k + 1] - offsets[k];
      if (lengths != nullptr) lengths[k] = length;
      some.starts |= offsets[k];
      some.shortest = std::min(some.shortest, length);
      some.longest = std::max(some.longest, length);
    }
    const std::scoped_lock lock(mutex);
    all = {all.starts | some.starts, std::min(all.shortest, some.shortest), std::max(all.longest, some.longest)};
  });
  return all;
}

}  // namespace vyre::run
