// Counts what operator new hands out, and lets it fail on command. It replaces the global operators: include it in exactly one file of a
// program.
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

// Orders operator new to fail, on this thread, until it is destroyed: the nth time from now on (1: the next) and, if memory is to
// be exhausted, each time after that.
class FailingMemory {
 public:
  enum class Kind { Once, Exhausted };
  FailingMemory(std::ptrdiff_t nth, Kind kind) {
    left = nth;
    exhausts = kind == Kind::Exhausted;
    failed = false;
  }
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory() { left = kNever; }
  static bool has_failed() { return failed; }

  // While foreign code runs that does not survive this, a driver's compiler for one; may be nested.
  static void pause(bool on) { pauses += on ? 1 : -1; }

  static bool fails_now() {
    if (left == kNever || pauses > 0) return false;
    if (left > 0) --left;
    if (left > 0) return false;
    failed = true;
    if (!exhausts) left = kNever;
    return true;
  }

 private:
  static constexpr std::ptrdiff_t kNever = -1;
  static inline thread_local std::ptrdiff_t left = kNever;
  static inline thread_local int pauses = 0;
  static inline thread_local bool exhausts = false;
  static inline thread_local bool failed = false;
};

// Orders it to fail on every other thread, until it is destroyed, from the time on that it has succeeded `allowed` times there.
class FailingMemoryElsewhere {
 public:
  explicit FailingMemoryElsewhere(std::ptrdiff_t allowed) {
    left = allowed;
    here = true;
    failed = false;
    failing = true;
  }
  FailingMemoryElsewhere(const FailingMemoryElsewhere&) = delete;
  FailingMemoryElsewhere& operator=(const FailingMemoryElsewhere&) = delete;
  ~FailingMemoryElsewhere() {
    failing = false;
    here = false;
  }
  static bool has_failed() { return failed; }

  static bool fails_now() {
    if (!failing || here || left.fetch_sub(1) > 0) return false;
    failed = true;
    return true;
  }

 private:
  static inline thread_local bool here = false;
  static inline std::atomic<std::ptrdiff_t> left = 0;
  static inline std::atomic<bool> failing = false, failed = false;
};

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
  if (vyre::test::FailingMemory::fails_now() || vyre::test::FailingMemoryElsewhere::fails_now()) return nullptr;
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
