// What the backends of GPUs have in common: how they choose, list and try devices, and allocate arrays on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

// `Devices` has choose(), infos(), try_all() and open(), and `Array` is the class of its arrays. Where infos() throws an `Absent`, there
// are no devices.
template <class Devices, class Array, class Absent>
class GpuBackend : public Backend {
 public:
  std::vector<std::string> reasons_unavailable() final {
    try {
      devices_->choose();
      return {};
    } catch (const Error& error) {
      std::vector<std::string> reasons;
      try {
        for (const DeviceInfo& device : devices_->infos()) reasons.insert(reasons.end(), device.reasons.begin(), device.reasons.end());
      } catch (const Error&) {
        // Then the first error is reported as the reason.
      }
      if (reasons.empty()) reasons.emplace_back(error.what());
      return reasons;
    }
  }
  std::vector<DeviceInfo> devices() final {
    try {
      return devices_->infos();
    } catch (const Absent&) {
      return {};  // reasons_unavailable() says why
    }
  }
  void try_devices() final {
    if (reasons_unavailable().empty()) devices_->try_all();
  }
  std::size_t default_device() final { return devices_->choose(); }
  std::unique_ptr<Storage> allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) final {
    return std::make_unique<Array>(devices_->open(device ? *device : devices_->choose()), bytes, zeroed);
  }
  void check_nothing_is_abandoned(std::size_t device) final { devices_->open(device)->stream().check_nothing_is_abandoned(); }
  void abandon(std::size_t device) final { devices_->open(device)->stream().abandon_all(); }
  // Waits until the device has done the work of calls that timed out or were interrupted. Returns false if that takes longer than
  // `seconds`.
  bool wait_until_idle(std::size_t device, double seconds) {
    return devices_->open(device)->stream().wait_for_abandoned_work(std::chrono::duration<double>(seconds));
  }

 protected:
  template <class... Given>
  explicit GpuBackend(Given&&... given) : devices_(std::make_shared<Devices>(std::forward<Given>(given)...)) {}

  std::shared_ptr<Devices> devices_;
};

}  // namespace vyre::run
