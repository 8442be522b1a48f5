#include "vyre/run/host_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

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

HostMemory::HostMemory(std::size_t bytes, bool zeroed) : data_(nullptr, Release{nullptr, 0}) {
  if (bytes >= kLarge) {
    data_ = std::unique_ptr<std::byte, Release>(map(bytes), Release{nullptr, mapped_bytes(bytes)});
    return;
  }
  // An allocator that aligns by itself takes several times as long.
  auto* const start = static_cast<std::byte*>(::operator new(bytes + kAlignment, std::nothrow));
  if (start == nullptr) return;
  if (zeroed) std::memset(start, 0, bytes + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  data_ = std::unique_ptr<std::byte, Release>(start + (kAlignment - address % kAlignment) % kAlignment, Release{start, 0});
}

void HostMemory::Release::operator()(std::byte* bytes) const {
  if (mapped == 0) {
    ::operator delete(start);
  } else {
    munmap(bytes, mapped);
  }
}

}  // namespace vyre::run
