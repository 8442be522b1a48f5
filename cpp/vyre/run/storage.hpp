// Defines storages, which are device memory that outlives calls. Arrays that stay on their device are built on them, and calls with such
// arrays are recordings (recording.hpp).
//
// Everything about one device happens in the order in which it was asked for, whichever thread asked: a read sees what the calls
// before it wrote.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "vyre/base/fork.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run {

// Returns an id that no memory has had before.
std::uint64_t new_memory_id();

// May be used from several threads, and destroyed while the device still works with it.
class Storage {
 public:
  virtual ~Storage() = default;

  virtual std::uint64_t bytes() const = 0;
  // Identifies the memory behind the storage. Unique among live storages; a later storage may reuse the memory and then has its id.
  virtual std::uint64_t id() const = 0;
  // When it returns, `from` is no longer needed.
  virtual void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) = 0;
  // These wait for the calls before them, and throw what those threw. After a throw `to` may be written in part.
  virtual void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) = 0;
  virtual void wait(const RunOptions& options) = 0;
  // Whether wait() would return at once and throw nothing. False where finding out may take long.
  virtual bool is_ready() { return false; }
  // Points to the bytes if they lie in the host's own memory for as long as the storage lives, else null. Calls do not wait for code that
  // uses this pointer.
  virtual std::byte* host_memory() { return nullptr; }

  // Reports that a call that was to write this storage failed, so that its contents are unknown. Reads then throw `error` until the whole
  // storage is written.
  void fail(std::exception_ptr error) noexcept;
  void rethrow_failure() const;
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }

  // Reports that a call is submitted that uses this storage and has these loops (long_loops), or that all such calls are done.
  void used_in(std::shared_ptr<const std::string> loops) noexcept;

 protected:
  void forget_failure() noexcept;
  // Calls `wait`, which returns once the calls before it are done. If that takes too long, the error names the loops of the last one.
  template <class Wait>
  void wait_for_calls(const Wait& wait) {
    try {
      wait();
    } catch (const DispatchTimeoutError& error) {
      tell_loops(error);
    }
    if (in_loops_) used_in(nullptr);
  }

 private:
  [[noreturn]] void tell_loops(const DispatchTimeoutError& error) const;

  std::atomic<bool> failed_ = false, in_loops_ = false;
  mutable ForkSafeMutex mutex_;  // guards what follows
  std::exception_ptr failure_;
  std::shared_ptr<const std::string> loops_;
};

// A part of a storage, for one bound buffer of a call, or for its grid: see data_grid.hpp.
struct StorageView {
  enum class Role : std::uint8_t {
    Buffer,
    Workgroups,   // three words, the counts of workgroups along x, y, z
    Invocations,  // three words, the counts of invocations along x, y, z; rounded up to whole workgroups
  };
  Storage* storage = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t length = 0;  // as BufferView's
  Role role = Role::Buffer;
};

}  // namespace vyre::run
