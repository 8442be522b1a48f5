// Storage of the backends that run on the host's processor: the host's own memory.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/host_memory.hpp"
#include "vyre/run/shared_access.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

class HostStorage final : public Storage {
 public:
  // Zeros, or anything when `zeroed` is false. Throws DeviceMemoryError.
  explicit HostStorage(std::uint64_t bytes, bool zeroed = true);

  std::uint64_t bytes() const override { return bytes_; }
  std::uint64_t id() const override { return id_; }
  void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) override;
  void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) override;
  void wait(const RunOptions& options) override;
  std::byte* host_memory() override { return data_.data(); }

 private:
  friend class HostAccess;

  // The caller must have access to the bytes.
  void look_for_a_lost_writer() noexcept;

  const std::uint64_t bytes_;
  const std::uint64_t id_;
  HostMemory data_;
  // Held while the bytes are worked with: shared to read them.
  SharedAccess busy_;
};

// Access to the storages of a call until it is destroyed: exclusive to those that the call writes, shared to the others.
class HostAccess {
 public:
  // Throws Interrupted, DispatchTimeoutError, and what an earlier call left in a storage.
  HostAccess(std::span<const StorageView> views, const std::vector<bool>& written, const RunOptions& options);

  // Reports to the written storages that the call failed.
  void fail(const std::exception_ptr& error) const noexcept;
  static std::byte* memory_of(const StorageView& view) { return static_cast<HostStorage*>(view.storage)->data_.data() + view.offset; }

 private:
  // Each storage once, written if one of its views is, and in an order that all threads keep.
  struct Use {
    HostStorage* storage;
    bool written;
  };
  std::vector<Use> uses_;
  std::vector<SharedAccess::Writing> exclusive_;
  std::vector<SharedAccess::Reading> shared_;
};

// Submitting it runs `executable`, which must outlive it, in place. `written` tells of each buffer's view whether the program writes it;
// `workgroup_size` is the program's.
std::unique_ptr<Plan> plan_on_host(Executable& executable, std::span<const StorageView> views, std::vector<bool> written, Grid grid,
                                   const std::array<std::uint32_t, 3>& workgroup_size = {1, 1, 1});
std::unique_ptr<Sequence> sequence_on_host(std::vector<Step> steps);

}  // namespace vyre::run
