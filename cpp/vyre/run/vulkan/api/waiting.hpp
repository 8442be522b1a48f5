// How a call waits for its device: it spins for a while, then sleeps in slices, and asks between them whether it is still wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "vyre/run/deadline.hpp"

namespace vyre::run::vulkan {

class Waiting {
 public:
  // The time-out counts from here. `options` must outlive it.
  explicit Waiting(const RunOptions& options) : options_(options), deadline_(deadline_of(options)) {}

  const RunOptions& options() const { return options_; }

  // Throws Interrupted, or DispatchTimeoutError with the device's name.
  void stop_if_unwanted(std::string_view device) const { deadline_.check(Awaited::Device, device); }
  // The same for one that waits for the driver's compiler.
  void stop_compile_if_unwanted(std::string_view device) const { deadline_.check(Awaited::Compiler, device); }

  // `poll()` and `sleep(nanoseconds)` tell whether what is waited for has happened; the second waits for it that long at most.
  template <class Poll, class Sleep>
  void wait(std::string_view device, const Poll& poll, const Sleep& sleep) const {
    const auto start = Deadline::Clock::now();
    do {
      if (poll()) return;
    } while (Deadline::Clock::now() - start < kSpin);
    for (;;) {
      stop_if_unwanted(device);
      if (sleep(static_cast<std::uint64_t>(deadline_.until_next_check().count()))) return;
    }
  }

 private:
  // Waiting puts the thread to sleep, which costs more than most small programs take.
  static constexpr auto kSpin = std::chrono::microseconds(50);

  const RunOptions& options_;
  const Deadline deadline_;
};

}  // namespace vyre::run::vulkan
