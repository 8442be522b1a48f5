// How a call waits for its device: it spins for a while, then sleeps in slices, and asks between them whether it is still wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vyre/run/backend.hpp"

namespace vyre::run::vulkan {

class Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  // The time-out counts from here.
  explicit Waiting(const RunOptions& options);

  const RunOptions& options() const { return options_; }

  // Throws Interrupted, or DispatchTimeoutError with the device's name.
  void stop_if_unwanted(std::string_view device) const;
  // The same for one that waits for the driver's compiler.
  void stop_compile_if_unwanted(std::string_view device) const;

  // `poll()` and `sleep(nanoseconds)` tell whether what is waited for has happened; the second waits for it that long at most.
  template <class Poll, class Sleep>
  void wait(std::string_view device, const Poll& poll, const Sleep& sleep) const {
    const auto start = Clock::now();
    do {
      if (poll()) return;
    } while (Clock::now() - start < kSpin);
    for (;;) {
      stop_if_unwanted(device);
      if (sleep(slice())) return;
    }
  }

 private:
  // Waiting puts the thread to sleep, which costs more than most small programs take.
  static constexpr auto kSpin = std::chrono::microseconds(50);

  // In nanoseconds.
  std::uint64_t slice() const;
  // Throws Interrupted; whether the time is over.
  bool over() const;

  const RunOptions& options_;
  const std::optional<Clock::time_point> deadline_;
};

}  // namespace vyre::run::vulkan
