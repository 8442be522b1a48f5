#include "vyre/run/host_copy.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "vyre/run/processors.hpp"

namespace vyre::run {
namespace {

// The fewest bytes for a thread: for fewer, starting it takes longer than it saves.
constexpr std::size_t kLeastPart = std::size_t{2} << 20;
// More threads do not make memory faster.
constexpr std::size_t kMostThreads = 8;

}  // namespace

void host_copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t parts = std::min(kMostThreads, bytes / kLeastPart);
  const std::size_t threads = parts < 2 ? 1 : std::min(parts, std::size_t{usable_processors()});
  if (threads < 2) {
    std::memcpy(to, from, bytes);
    return;
  }
  // Each thread copies whole pages, so that two threads do not take the page fault of the same new page.
  constexpr std::size_t kPage = 4096;
  const std::size_t part = (bytes / threads + kPage - 1) / kPage * kPage;
  const auto copy = [&](std::size_t begin) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, std::min(part, bytes - begin));
  };
  std::vector<std::jthread> helpers;
  std::size_t begin = part;
  try {
    helpers.reserve(threads - 1);
    for (; begin < bytes; begin += part) helpers.emplace_back(copy, begin);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  copy(0);
  // This thread copies the parts for which no thread could be started.
  for (; begin < bytes; begin += part) copy(begin);
}

}  // namespace vyre::run
