#include "vyre/run/host/host_parts.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "vyre/run/host/nodes.hpp"
#include "vyre/run/host/processors.hpp"
#include "vyre/run/host/workers.hpp"

namespace vyre::run {
namespace {

// More threads do not make memory faster.
constexpr std::size_t kMostThreads = 8;

}  // namespace

void in_parts(std::size_t count, std::size_t least, std::size_t granule, const std::function<void(std::size_t, std::size_t)>& work) {
  if (count == 0) return;
  const std::size_t parts = std::min(kMostThreads, count / least);
  const std::size_t threads = parts < 2 ? 1 : std::min(parts, std::size_t{usable_processors()});
  if (threads < 2) return work(0, count);
  const std::size_t part = (count / threads + granule - 1) / granule * granule;
  Shares shares((count - 1) / part + 1, nodes_of_this_process(), static_cast<unsigned>(threads));
  auto take = [&] {
    Shares::Taker taker(shares);
    for (std::optional<std::uint64_t> index; (index = taker.next());) work(*index * part, std::min((*index + 1) * part, count));
  };
  Helpers helpers(take);  // waits for them at its end
  helpers.ask(static_cast<unsigned>(threads - 1));
  take();
}

void host_copy(void* to, const void* from, std::size_t bytes) {
  // Each thread copies whole pages, so that two threads do not take the page fault of the same new page.
  constexpr std::size_t kPage = 4096;
  in_parts(bytes, kLeastPartBytes, kPage, [&](std::size_t begin, std::size_t end) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, end - begin);
  });
}

}  // namespace vyre::run
