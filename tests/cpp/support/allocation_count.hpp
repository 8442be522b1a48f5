// Counts what operator new hands out. It replaces the global operators: include it in exactly one file of a program.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace vyre::test {

struct Allocations {
  std::atomic<std::ptrdiff_t> live{0};
  std::atomic<std::ptrdiff_t> peak{0};

  void add(std::ptrdiff_t bytes) {
    const std::ptrdiff_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::ptrdiff_t seen = peak.load(std::memory_order_relaxed);
    while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }
};
inline Allocations allocations;

// The most bytes that were live at once while `work` ran, above those that were live before.
template <class Work>
std::ptrdiff_t peak_bytes(Work&& work) {
  const std::ptrdiff_t before = allocations.live.load();
  allocations.peak.store(before);
  work();
  return allocations.peak.load() - before;
}

// The bound of the readers of foreign programs.
inline std::ptrdiff_t allowed_bytes(std::size_t input) { return static_cast<std::ptrdiff_t>(64 * input + (std::size_t{1} << 20)); }

}  // namespace vyre::test

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(std::max<std::size_t>(size, 1));
  if (memory != nullptr) vyre::test::allocations.add(static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
  return memory;
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& nothrow) noexcept { return operator new(size, nothrow); }
void operator delete(void* memory) noexcept {
  if (memory != nullptr) vyre::test::allocations.add(-static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
