// Device memory that outlives calls, and calls planned for it: what arrays that stay on their device are made of.
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
#include <vector>

#include "vyre/base/fork.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run {

// A number that no memory had before.
std::uint64_t new_memory_id();

// May be used from several threads, and destroyed while the device still works with it.
class Storage {
 public:
  virtual ~Storage() = default;

  virtual std::uint64_t bytes() const = 0;
  // Identifies the memory behind it. Unique among live storages; a later one may get it again, with the memory.
  virtual std::uint64_t id() const = 0;
  // When it returns, `from` is no longer needed.
  virtual void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) = 0;
  // These wait for the calls before them, and throw what those threw. After a throw `to` may be written in part.
  virtual void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) = 0;
  virtual void wait(const RunOptions& options) = 0;
  // Its bytes, where they lie in the host's own memory for as long as it lives; else null. Calls do not wait for who uses them so.
  virtual std::byte* host_memory() { return nullptr; }

  // A call that was to write this has failed, so its contents are unknown: it gives that error until it is written as a whole.
  void fail(std::exception_ptr error) noexcept;
  void rethrow_failure() const;

 protected:
  void forget_failure() noexcept;

 private:
  std::atomic<bool> failed_ = false;
  mutable ForkSafeMutex mutex_;
  std::exception_ptr failure_;
};

// A part of a storage, for one bound buffer of a call.
struct StorageView {
  Storage* storage = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t length = 0;  // as BufferView's
};

// A call that is checked and recorded for the memory that it was planned with. May be submitted from several threads, as often as wanted.
class Plan {
 public:
  virtual ~Plan() = default;
  // `views` is what it was planned for: the same ids, offsets and sizes. A device that works beside the host makes it return at once; on
  // the host it returns when the call is done. Throws DeviceError and its kinds.
  virtual void submit(std::span<const StorageView> views, const RunOptions& options) = 0;
};

// A call of a sequence, and what it was planned for.
struct Step {
  std::shared_ptr<Plan> plan;
  std::vector<StorageView> views;
};

// Calls one after the other, recorded as one. May be submitted from several threads, as often as wanted.
class Sequence {
 public:
  virtual ~Sequence() = default;
  // So many times in turn. The storages of its steps must live still; otherwise as Plan::submit. An interruption ends it between two
  // turns, or between two of their steps.
  virtual void submit(std::uint64_t times, const RunOptions& options) = 0;
};

}  // namespace vyre::run
