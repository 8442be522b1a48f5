// Waits for a device: spins for a while, then sleeps in slices, and checks before each slice whether the call was interrupted or has timed
// out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>

#include "vyre/run/deadline.hpp"

namespace vyre::run {

class Waiting {
 public:
  // The time-out counts from `options.start`, or from now without one. `options` must outlive the object.
  explicit Waiting(const RunOptions& options) : options_(options), deadline_(deadline_of(options)) {}

  const RunOptions& options() const { return options_; }

  // Throws Interrupted, or DispatchTimeoutError with the device's name.
  void stop_if_unwanted(std::string_view device) const { deadline_.check(Awaited::Device, device); }
  // Does the same for a call that waits for the driver's compiler.
  void stop_compile_if_unwanted(std::string_view device) const { deadline_.check(Awaited::Compiler, device); }

  // `poll()` and `sleep(nanoseconds)` return whether the awaited event has happened; `sleep` first waits for the event, at most that long.
  // `spares` says that the device does not use the host's processors, so that spinning takes no time from the device.
  template <class Poll, class Sleep>
  void wait(std::string_view device, bool spares, const Poll& poll, const Sleep& sleep) const {
    const auto start = Deadline::Clock::now();
    for (auto now = start; now - start < kSpin; now = Deadline::Clock::now()) {
      if (poll()) return;
    }
    const auto most = std::min<Deadline::Clock::duration>(kYield, deadline_.until_next_check());
    for (auto now = start; spares && now - start < most; now = Deadline::Clock::now()) {
      if (poll()) return;
      std::this_thread::yield();
    }
    for (;;) {
      stop_if_unwanted(device);
      if (sleep(static_cast<std::uint64_t>(deadline_.until_next_check().count()))) return;
    }
  }

 private:
  // Sleeping costs more time than most small programs take, because waking a thread takes 100 us and more: a call that sums 1 GiB, which
  // takes the device 0.25 ms, returned after 0.40 ms. So a thread first polls for kSpin without a pause, and then, if the device spares the
  // processors, polls for kYield and yields to other threads between two polls.
  static constexpr auto kSpin = std::chrono::microseconds(50);
  static constexpr auto kYield = std::chrono::milliseconds(2);

  const RunOptions& options_;
  const Deadline deadline_;
};

}  // namespace vyre::run
