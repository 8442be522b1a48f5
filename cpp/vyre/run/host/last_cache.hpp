// Finds the size of the last-level caches that the processors of this process share, and which arrays outgrow them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace vyre::run {

// Some virtual machines report the small cache of an old processor, or none. Others report a large cache that they share with other
// machines: on 16 processors of a Xeon that reports 300 MiB, stores past the caches paid from 128 MiB on.
constexpr std::uint64_t kLeastLastCache = std::uint64_t{32} << 20, kMostLastCache = std::uint64_t{128} << 20;

// Returns the bytes of all last-level caches of the processors that sched_getaffinity allows to the main thread, from kLeastLastCache to
// kMostLastCache. The sizes are read once, by the thread that needs them first.
std::uint64_t last_cache_bytes();

// The sum of the last-level caches of these processors; a cache that several of them share counts once. 0 if the folder does not describe
// the caches. `folder` is /sys/devices/system/cpu.
std::uint64_t last_cache_bytes(const std::filesystem::path& folder, std::span<const unsigned> processors);

// Whether a call should store an array past the caches (non-temporal stores). A plain store reads the line that it writes from memory
// first, unless the line is in a cache. So stores past the caches take less time where the arrays of the call do not fit into the caches
// together, and more where they do, or where the next call reads a result that is still in a cache. `bytes` is the size of the written
// array, `all` that of all arrays of the call.
constexpr bool outgrows_caches(std::uint64_t bytes, std::uint64_t all, std::uint64_t caches) {
  constexpr std::uint64_t kPart = 4;  // a smaller part of the caches stays in them, whatever the call reads beside it
  return all >= caches && bytes >= caches / kPart;
}

}  // namespace vyre::run
