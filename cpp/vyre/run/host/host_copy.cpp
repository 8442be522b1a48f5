#include "vyre/run/host/host_copy.hpp"

#include <cstring>

#include "vyre/run/host/host_parts.hpp"

namespace vyre::run {

void host_copy(void* to, const void* from, std::size_t bytes) {
  // Each thread copies whole pages, so that two threads do not take the page fault of the same new page.
  constexpr std::size_t kPage = 4096;
  in_parts(bytes, kLeastPartBytes, kPage, [&](std::size_t begin, std::size_t end) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, end - begin);
  });
}

}  // namespace vyre::run
