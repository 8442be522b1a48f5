// Tells a thread that does many pieces, most of them short, when to look at its deadline: about every kPollInterval, without a look at the
// clock after each piece.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "vyre/base/deadline.hpp"

namespace vyre::run::cpu {

class Pace {
 public:
  explicit Pace(Deadline::Clock::time_point start) : start_(start) {}

  // Whether to look after this many pieces.
  bool is_due(std::uint64_t done) const { return done >= next_; }
  // Counts as many pieces to the next look as the interval has room for at the mean time of a piece so far, but no more than have been
  // done: later pieces may take longer.
  void looked(std::uint64_t done, Deadline::Clock::time_point now) {
    const auto passed = std::max<std::int64_t>(std::chrono::nanoseconds(now - start_).count(), 1);
    const double fit =
        static_cast<double>(done) * static_cast<double>(std::chrono::nanoseconds(kPollInterval).count()) / static_cast<double>(passed);
    next_ = done + std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::min(fit, 1e18)), 1, done);
  }

 private:
  Deadline::Clock::time_point start_;
  std::uint64_t next_ = 1;
};

}  // namespace vyre::run::cpu
