#include "vyre/run/host/host_memory.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <type_traits>

#include "vyre/base/fork.hpp"

namespace vyre::run {
namespace {

// Memory of at least kMapped bytes is mapped from the system, which gives zeroed pages, and kept when it is freed: an allocator gives
// memory of this size back to the system, at the latest when two arrays are freed at a time. From kLarge bytes on, one large page of two
// megabytes needs one page table entry in place of 512.
constexpr std::size_t kMapped = std::size_t{512} << 10, kLarge = std::size_t{4} << 20;
constexpr std::size_t kUnit = std::size_t{64} << 10, kLargePage = std::size_t{2} << 20;

std::size_t mapped_bytes(std::size_t bytes) {
  const std::size_t unit = bytes < kLarge ? kUnit : kLargePage;
  return (bytes + unit - 1) / unit * unit;
}

std::byte* map_pages(std::size_t bytes) {
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start);
}

// Returns a mapping, of large memory one that is aligned to large pages, or null if the system gives none.
std::byte* map(std::size_t bytes) {
  const std::size_t wanted = mapped_bytes(bytes);
  if (wanted < kLarge) return map_pages(wanted);
  if (wanted < bytes || wanted + kLargePage < wanted) return nullptr;
  std::byte* const start = map_pages(wanted + kLargePage);
  if (start == nullptr) return nullptr;
  const std::size_t before = (kLargePage - reinterpret_cast<std::uintptr_t>(start) % kLargePage) % kLargePage;
  std::byte* const first = start + before;
  if (before != 0) munmap(start, before);
  munmap(first + wanted, kLargePage - before);
  madvise(first, wanted, MADV_HUGEPAGE);
  return first;
}

// Keeps freed mappings for later allocations of the same size, because a page fault takes longer than most programs take to write the
// page. The system may reclaim the pages when it is short of memory (MADV_FREE).
class Kept {
 public:
  // Null when there is none of this size.
  std::byte* take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t k = count_; k > 0; --k) {
      if (mappings_[k - 1].bytes == bytes) return remove(k - 1).start;
    }
    return nullptr;
  }

  void keep(std::byte* start, std::size_t bytes) {
    if (bytes > kMostBytes || madvise(start, bytes, MADV_FREE) != 0) {
      munmap(start, bytes);
      return;
    }
    std::array<Mapping, kMost> dropped;
    std::size_t drops = 0;
    {
      const std::scoped_lock lock(mutex_);
      while (count_ == kMost || bytes_ + bytes > kMostBytes) dropped[drops++] = remove(0);
      mappings_[count_++] = {start, bytes};
      bytes_ += bytes;
    }
    for (std::size_t k = 0; k < drops; ++k) munmap(dropped[k].start, dropped[k].bytes);
  }

  // Gives all of them to the system.
  void drop() {
    for (;;) {
      Mapping dropped;
      {
        const std::scoped_lock lock(mutex_);
        if (count_ == 0) return;
        dropped = remove(0);
      }
      munmap(dropped.start, dropped.bytes);
    }
  }

 private:
  struct Mapping {
    std::byte* start = nullptr;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kMost = 16, kMostBytes = std::size_t{1} << 30;

  Mapping remove(std::size_t index) {
    const Mapping removed = mappings_[index];
    for (std::size_t k = index + 1; k < count_; ++k) mappings_[k - 1] = mappings_[k];
    --count_;
    bytes_ -= removed.bytes;
    return removed;
  }

  ForkSafeMutex mutex_;
  std::array<Mapping, kMost> mappings_;  // the most recently freed one is the last
  std::size_t count_ = 0, bytes_ = 0;
};

// The object is initialised at compile time: if a thread initialised it at run time, a child that was forked meanwhile would wait for that
// thread for ever. The object is never destroyed, because another thread may free memory while the process ends.
constinit Kept kept;
static_assert(std::is_trivially_destructible_v<Kept>);

}  // namespace

HostMemory::HostMemory(std::size_t bytes, bool zeroed) : data_(nullptr, Release{nullptr, 0}) {
  if (bytes >= kMapped) {
    // Large pages that the system zeroes anew take less time than to write them.
    std::byte* start = zeroed && bytes >= kLarge ? nullptr : kept.take(mapped_bytes(bytes));
    if (start != nullptr && zeroed) std::memset(start, 0, bytes);
    if (start == nullptr) start = map(bytes);
    if (start == nullptr) {
      kept.drop();  // may free what the system lacks
      start = map(bytes);
    }
    data_ = std::unique_ptr<std::byte, Release>(start, Release{nullptr, mapped_bytes(bytes)});
    return;
  }
  // The allocator's own function for aligned memory takes several times as long.
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
    kept.keep(bytes, mapped);
  }
}

void advise_large_pages(std::byte* start, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(start) % kPage) % kPage;
  if (bytes < kLarge) return;
  madvise(start + before, (bytes - before) / kPage * kPage, MADV_HUGEPAGE);
}

}  // namespace vyre::run
