// Storage of the backends that run on the host's processor: the host's own memory.
#pragma once

#include <exception>
#include <span>
#include <vector>

#include "vyre/base/few.hpp"
#include "vyre/run/host/host_memory.hpp"
#include "vyre/run/host/shared_access.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

class HostStorage final : public Storage {
 public:
  // The contents are zeros, or unspecified if `zeroed` is false. Throws DeviceMemoryError.
  explicit HostStorage(std::uint64_t bytes, bool zeroed = true);

  std::uint64_t bytes() const override { return bytes_; }
  std::uint64_t id() const override { return id_; }
  void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) override;
  void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) override;
  void wait(const RunOptions& options) override;
  bool is_ready() override;
  std::byte* host_memory() override { return data_.data(); }

 private:
  friend class HostAccess;

  // Whether no error is pending: no lost writer, and no failed call. The caller must have access to the bytes.
  bool is_sound() { return !busy_.has_lost_writer() && !has_failed(); }
  // Makes the storage report an error if a thread of the parent process was writing it at the fork. The caller must have access.
  void look_for_a_lost_writer() noexcept;

  const std::uint64_t bytes_;
  const std::uint64_t id_;
  HostMemory data_;
  // Held while the bytes are accessed: shared to read them, exclusively to write them.
  SharedAccess busy_;
};

// Holds access to the storages of a call until the object is destroyed: exclusive access to those that the call writes, shared access to
// the others.
class HostAccess {
 public:
  // Throws Interrupted, DispatchTimeoutError, and the error of an earlier call that failed to write one of the storages.
  HostAccess(std::span<const StorageView> views, const std::vector<bool>& written, const RunOptions& options)
      : HostAccess(views, written, &options) {}
  // Does not wait: holds() says whether the object has access to all storages, and none of them has a pending error.
  HostAccess(std::span<const StorageView> views, const std::vector<bool>& written) : HostAccess(views, written, nullptr) {}

  bool holds() const { return held_.all; }

  // Reports to the written storages that the call failed.
  void fail(const std::exception_ptr& error) const noexcept;
  static std::byte* memory_of(const StorageView& view) { return static_cast<HostStorage*>(view.storage)->data_.data() + view.offset; }

 private:
  // One storage of the call; `written` is true if the call writes one of its views. `uses` has each storage once, by rising id, so that all
  // threads acquire access in the same order.
  struct Use {
    HostStorage* storage;
    bool written;
  };
  // Does not wait if `options` is null.
  HostAccess(std::span<const StorageView> views, const std::vector<bool>& written, const RunOptions* options);

  // Its destructor releases the access to the first `held` storages.
  struct Held {
    explicit Held(std::size_t count) : uses(count) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held();
    Few<Use> uses;
    std::size_t held = 0;
    bool all = false;
  };
  Held held_;
};

}  // namespace vyre::run
