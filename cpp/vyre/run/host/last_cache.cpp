// Linux describes the caches of processor N in cpuN/cache/index0, index1 and so on: `level`, `type`, `size` ("32768K") and
// `shared_cpu_list` ("0-7,16"). A machine may have several last-level caches, for instance one for each 8 processors of an EPYC.
#include "vyre/run/host/last_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "vyre/run/host/processors.hpp"

namespace vyre::run {
namespace {

struct Cache {
  unsigned level;
  std::uint64_t bytes;
  std::vector<unsigned> processors;
};

// Reads "32768K" or "36M".
std::uint64_t size_in_bytes(const std::string& size) {
  std::istringstream text(size);
  std::uint64_t number = 0;
  char unit = 0;
  text >> number >> unit;
  return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : unit == 'G' ? number << 30 : number;
}

std::optional<Cache> last_cache_of(const std::filesystem::path& processor) {
  std::optional<Cache> last;
  for (unsigned index = 0;; ++index) {
    const std::filesystem::path folder = processor / "cache" / ("index" + std::to_string(index));
    const std::string level = first_line(folder / "level");
    if (level.empty()) return last;
    const auto number = static_cast<unsigned>(level[0] - '0');
    if (first_line(folder / "type") == "Instruction" || (last && last->level >= number)) continue;
    last = {number, size_in_bytes(first_line(folder / "size")), processors_in(first_line(folder / "shared_cpu_list"))};
  }
}

// The sizes are read without a lock: threads that need them first at the same time all read them, with the same result.
std::atomic<std::uint64_t> known = 0;

}  // namespace

std::uint64_t last_cache_bytes(const std::filesystem::path& folder, std::span<const unsigned> processors) {
  std::uint64_t bytes = 0;
  std::set<unsigned> counted;
  for (const unsigned processor : processors) {
    if (counted.contains(processor)) continue;
    const std::optional<Cache> cache = last_cache_of(folder / ("cpu" + std::to_string(processor)));
    if (!cache) continue;
    bytes += cache->bytes;
    counted.insert(processor);
    counted.insert(cache->processors.begin(), cache->processors.end());
  }
  return bytes;
}

std::uint64_t last_cache_bytes() {
  std::uint64_t bytes = known.load(std::memory_order_relaxed);
  if (bytes != 0) return bytes;
  try {
    bytes = last_cache_bytes("/sys/devices/system/cpu", usable_processor_numbers());
  } catch (const std::exception&) {
    return kLeastLastCache;  // no memory at this moment
  }
  if (bytes == 0) bytes = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
  bytes = std::clamp(bytes, kLeastLastCache, kMostLastCache);
  known.store(bytes, std::memory_order_relaxed);
  return bytes;
}

}  // namespace vyre::run
