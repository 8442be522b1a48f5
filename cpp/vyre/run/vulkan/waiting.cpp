#include "vyre/run/vulkan/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/error.hpp"

namespace vyre::run::vulkan {
namespace {

// How often a waiting call asks whether it is still wanted.
constexpr auto kSlice = std::chrono::milliseconds(20);

std::optional<Waiting::Clock::time_point> deadline_of(const RunOptions& options) {
  // A century is for ever, and does not overflow the clock.
  constexpr double kForEver = 3e9;
  if (!options.timeout || !(options.timeout->count() < kForEver)) return std::nullopt;
  return options.start.value_or(Waiting::Clock::now()) +
         std::chrono::duration_cast<Waiting::Clock::duration>(std::max(*options.timeout, std::chrono::duration<double>(0)));
}

}  // namespace

Waiting::Waiting(const RunOptions& options) : options_(options), deadline_(deadline_of(options)) {}

bool Waiting::over() const {
  if (options_.interrupted && options_.interrupted()) throw Interrupted();
  return deadline_ && Clock::now() >= *deadline_;
}

void Waiting::stop_if_unwanted(std::string_view device) const {
  if (!over()) return;
  throw DispatchTimeoutError(
      fmt::format("the call did not end within {} s on device `{}`. Fix: raise the time-out, or give each "
                  "dispatch less work.",
                  options_.timeout->count(), device));
}

void Waiting::stop_compile_if_unwanted(std::string_view device) const {
  if (!over()) return;
  throw DispatchTimeoutError(
      fmt::format("the driver of device `{}` did not compile the program within {} s, and goes on. Fix: raise the time-out, or call again "
                  "later, which uses what it has made by then.",
                  device, options_.timeout->count()));
}

std::uint64_t Waiting::slice() const {
  std::chrono::nanoseconds slice = options_.interrupted ? std::chrono::nanoseconds(kSlice) : std::chrono::nanoseconds::max();
  if (deadline_) slice = std::min<std::chrono::nanoseconds>(slice, std::max(*deadline_ - Clock::now(), Clock::duration(0)));
  return static_cast<std::uint64_t>(slice.count());
}

}  // namespace vyre::run::vulkan
