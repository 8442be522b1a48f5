// The interface of backends: prepare a valid program once, run it on byte spans as often as wanted.
//
// Buffers cross this interface as bytes in the layout that types.def says (little-endian u32 lanes), so that no backend
// knows about numpy and no binding knows about devices.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/run/optimize.hpp"

namespace vyre::validate {
class ValidProgram;
}

namespace vyre::run {

// The host array of one bound buffer, which is neither Workgroup nor Private. A call has them in the order of ValidProgram::bound().
struct BufferView {
  // ReadOnly and Uniform buffers are only read. ReadWrite buffers are read, and written back after success only.
  std::span<std::byte> bytes;
  // The number of whole elements; for Bytes buffers, the number of u32 words, rounded up.
  std::uint32_t length = 0;
  // Whether all bytes are known to be zero, so that they need not be copied.
  bool zeros = false;
};

// Workgroups along x, y, z. A zero anywhere is legal and runs nothing.
struct Grid {
  std::uint32_t x = 1, y = 1, z = 1;
};

// The order in which the reference runs invocations. A program without races and without order-dependent atomics gives the same bytes in
// every order. Hardware has an order of its own.
struct Schedule {
  enum class Order : std::uint8_t {
    InOrder,   // workgroups and invocations by rising id
    Reversed,  // by falling id
    Random,    // interleaved at random, between workgroups too; the seed decides
  };
  Order order = Order::InOrder;
  std::uint64_t seed = 0;  // of Random
  bool operator==(const Schedule&) const = default;
};

struct RunOptions {
  // The wall-clock limit of the call, counted from the end of its preparation; without a value the call may take for ever. If a driver
  // compiles for the call, the wait for each compilation has the same limit of its own. The driver goes on compiling after that limit, and
  // a later call uses the result.
  std::optional<std::chrono::duration<double>> timeout;
  // In a call of several steps, the limit counts from this time.
  std::optional<std::chrono::steady_clock::time_point> start = std::nullopt;
  // Polled from time to time while waiting or interpreting; true ends the call with Interrupted (Ctrl-C).
  std::function<bool()> interrupted;
  // Only the reference can choose an order. The other backends accept only the default and throw ArgumentError for any other schedule.
  Schedule schedule;
  // Whether the program may work on the ReadWrite buffers in place. If the call throws, their contents are then unspecified.
  bool in_place = false;
};

// A fact that a device's driver tells about a program that it has compiled, such as its count of registers.
struct DriverFact {
  std::string part;  // of the program, as the driver names it
  std::string name;
  std::string description;
  std::string value;
};

struct CallsToRecord;
class Recording;
class Storage;
struct StorageView;

// A program made ready for one backend (and one device of it). May be run from several threads.
class Executable {
 public:
  virtual ~Executable() = default;
  // Takes what check_call (checks.hpp) has accepted. Throws DeviceError or a type derived from it, CapabilityError, DispatchTimeoutError,
  // Interrupted. On a throw no byte of `buffers` has changed, unless `options.in_place` allows it.
  virtual void run(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) = 0;
  // Whether a run of this grid ends within some microseconds, on the caller's own thread, without waiting for anything, so that the caller
  // may keep a lock meanwhile. Such a run is never interrupted.
  virtual bool is_short(Grid /*grid*/) const { return false; }
  // Asks the driver for what it knows about the compiled program, which may compile the program once more. Returns an empty list if there
  // is no driver, or if it tells nothing.
  virtual std::vector<DriverFact> driver_facts(const RunOptions& /*waiting*/ = {}) { return {}; }
};

// A device that a backend can use, as `vyre.devices()` shows it.
struct DeviceInfo {
  std::string name;
  std::string driver;
  std::string kind;     // "discrete gpu", "integrated gpu", "software gpu", "cpu"
  bool usable = false;  // whether it fits, and could be opened the last time
  // Whether calls that name no device run on this one, except those that the `default_for` of another device describes.
  bool is_default = false;
  // Describes which calls that name no device run on this one; empty if none do.
  std::string default_for;
  std::vector<std::string> reasons;                           // why it is not usable, empty otherwise
  std::vector<std::pair<std::string, std::uint64_t>> limits;  // by Vulkan's names; CUDA adds `memory`, in bytes
  std::vector<std::pair<std::string, std::string>> probes;    // what the driver really does, e.g. {"loop_budget", "65535"}
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Whether the backend runs on the host's processor and keeps arrays in its memory. There is no
  // device to choose then.
  virtual bool is_host() const { return false; }
  // Opens the default device. Returns why the backend does not work here, one sentence for each
  // reason, or nothing if it works.
  virtual std::vector<std::string> reasons_unavailable() = 0;
  // Lists the devices and opens none. What only opening shows is told of the devices that were opened
  // before.
  virtual std::vector<DeviceInfo> devices() = 0;
  // The versions of ir::Convention that it takes. Planning a procedure refuses any other one (procedure.hpp).
  virtual std::vector<std::size_t> conventions() const { return {1, 2, 3}; }
  // Opens each device once, so that devices() knows all about them.
  virtual void try_devices() {}
  // Opens the device for calls that name none, and returns its index, which stays the same. Throws
  // DeviceError if no device can be opened.
  virtual std::size_t default_device() { return 0; }
  // `device` is an index into devices(). Throws CapabilityError when a limit of the device is exceeded, LoweringError when
  // the program cannot be lowered; and DispatchTimeoutError or Interrupted as `waiting` says, while a driver compiles. The reference
  // lowers nothing and ignores `optimize`: see with_passes (backends.hpp).
  virtual std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                              const Optimize& optimize = {}, const RunOptions& waiting = {}) = 0;
  // Allocates `bytes` bytes on a device. They are zeros if `zeroed`, otherwise they have any values. Throws DeviceMemoryError,
  // CapabilityError.
  virtual std::unique_ptr<Storage> allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) = 0;
  // Records calls of executables of this backend and of one device. Each submission of the recording names the arrays. If `expected` is not
  // empty, it has the slots of the first submission, and what depends on them is made at once. `waiting` is as for prepare. See
  // recording.hpp.
  virtual std::shared_ptr<Recording> record(CallsToRecord calls, const RunOptions& waiting = {},
                                            std::span<const StorageView> expected = {}) = 0;
  // A run that ends early leaves work to the device, and other runs are refused until it is done. Executable::run does both by itself;
  // these two do the same for a call of host arrays that its caller copies. The first throws DeviceError while the device still works on a
  // call that timed out or was interrupted; the second says that the caller has given up what was submitted so far.
  virtual void check_nothing_is_abandoned(std::size_t /*device*/) {}
  virtual void abandon(std::size_t /*device*/) {}
};

// Waits for a call of host arrays that its caller copies: `wait` waits for its arrays. A wait that ends early abandons the call.
template <class Wait>
void wait_or_abandon(Backend& backend, std::size_t device, const Wait& wait) {
  try {
    wait();
  } catch (const DispatchTimeoutError&) {
    backend.abandon(device);
    throw;
  } catch (const Interrupted&) {
    backend.abandon(device);
    throw;
  }
}

}  // namespace vyre::run
