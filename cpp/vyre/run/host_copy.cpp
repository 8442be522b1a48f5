#include "vyre/run/host_copy.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "vyre/run/nodes.hpp"
#include "vyre/run/processors.hpp"
#include "vyre/run/workers.hpp"

namespace vyre::run {
namespace {

// The fewest bytes for one thread: with fewer, waking the thread takes longer than it saves.
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
  Shares shares((bytes - 1) / part + 1, nodes_of_this_process(), static_cast<unsigned>(threads));
  auto copy = [&] {
    Shares::Taker taker(shares);
    for (std::optional<std::uint64_t> index; (index = taker.next());) {
      const std::size_t begin = *index * part;
      std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, std::min(part, bytes - begin));
    }
  };
  Helpers helpers(copy);  // waits for them at its end
  helpers.ask(static_cast<unsigned>(threads - 1));
  copy();
}

}  // namespace vyre::run
