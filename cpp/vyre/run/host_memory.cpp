#include "vyre/run/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace vyre::run {
namespace {

// From here on the system is asked for pages: it gives zeros, and a table entry for two megabytes in place of 512 of them.
constexpr std::size_t kLarge = std::size_t{4} << 20, kLargePage = std::size_t{2} << 20;

std::size_t mapped_bytes(std::size_t bytes) { return (bytes + kLargePage - 1) / kLargePage * kLargePage; }

// A mapping that begins at a large page; null when there is none.
std::byte* map(std::size_t bytes) {
  const std::size_t wanted = mapped_bytes(bytes);
  if (wanted < bytes || wanted + kLargePage < wanted) return nullptr;
  void* const start = mmap(nullptr, wanted + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t first = (address + kLargePage - 1) / kLargePage * kLargePage;
  if (first != address) munmap(start, first - address);
  if (const std::size_t after = address + kLargePage - first; after != 0) munmap(reinterpret_cast<void*>(first + wanted), after);
  madvise(reinterpret_cast<void*>(first), wanted, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte*>(first);
}

}  // namespace

HostMemory::HostMemory(std::size_t bytes, bool zeroed) : data_(nullptr, Release{0}) {
  if (bytes >= kLarge) {
    data_ = {map(bytes), Release{mapped_bytes(bytes)}};
    return;
  }
  const std::size_t whole = std::max(bytes + kAlignment - 1, kAlignment) / kAlignment * kAlignment;
  data_ = {static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole)), Release{0}};
  if (zeroed && data_) std::memset(data_.get(), 0, whole);
}

void HostMemory::Release::operator()(std::byte* bytes) const {
  if (mapped == 0) {
    std::free(bytes);
  } else {
    munmap(bytes, mapped);
  }
}

}  // namespace vyre::run
