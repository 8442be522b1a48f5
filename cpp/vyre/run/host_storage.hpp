// Storage of the backends that run on the host's processor: the host's own memory.
#pragma once

#include <array>
#include <cstdlib>
#include <memory>

#include "vyre/run/shared_access.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

class HostStorage final : public Storage {
 public:
  // Zeros. Throws DeviceMemoryError.
  explicit HostStorage(std::uint64_t bytes);

  std::uint64_t bytes() const override { return bytes_; }
  std::uint64_t id() const override { return id_; }
  void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) override;
  void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) override;
  void wait(const RunOptions& options) override;
  std::byte* host_memory() override { return data_.get(); }

 private:
  friend class HostPlan;
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };

  // The caller must have access to the bytes.
  void look_for_a_lost_writer() noexcept;

  const std::uint64_t bytes_;
  const std::uint64_t id_;
  std::unique_ptr<std::byte, Free> data_;
  // Held while the bytes are worked with: shared to read them.
  SharedAccess busy_;
};

// Submitting it runs `executable`, which must outlive it, in place. `written` tells of each buffer's view whether the program writes it;
// `workgroup_size` is the program's.
std::unique_ptr<Plan> plan_on_host(Executable& executable, std::span<const StorageView> views, std::vector<bool> written, Grid grid,
                                   const std::array<std::uint32_t, 3>& workgroup_size = {1, 1, 1});
std::unique_ptr<Sequence> sequence_on_host(std::vector<Step> steps);

}  // namespace vyre::run
