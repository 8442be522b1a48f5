// When a device did what profiles ask about: timestamps in its command buffers, told once they are there.
//
// A profile only looks on: where it cannot, the call goes on all the same, and the profile says what is missing.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/api/handle.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"

namespace vyre::run::vulkan {

class Device;

// The timestamp of `bits` bits, which wrap, that lies nearest to `near`.
std::uint64_t unwrapped(std::uint64_t timestamp, std::uint64_t near, std::uint32_t bits);

// What one submission of a command buffer does, for the profiles that were open when it was recorded.
class Timestamps {
 public:
  // What is recorded from begin() to end() is `work`, and begins when all before it is done. Intervals do not overlap.
  void begin(Commands& commands, Work work);
  void end(Commands& commands);
  // Commands for the submission that nobody else uses.
  Commands& commands();

 private:
  friend class Timing;
  // Of one pool: two an interval.
  static constexpr std::uint32_t kQueries = 128;

  struct Listener {
    std::shared_ptr<Profile> profile;
    std::size_t device;  // there
  };
  explicit Timestamps(Device& device) : device_(device) {}
  // Of an interval's first or last query. Throws DeviceError where there is no room for one.
  void write(Commands& commands, std::size_t query);
  // All profiles hear why times are missing.
  void note(const std::exception& error) const;

  Device& device_;
  std::optional<Commands> commands_;
  std::vector<QueryPoolHandle> pools_;
  std::vector<Listener> listeners_;
  std::vector<Work> works_;
  bool timed_ = false;
  std::uint64_t thread_ = 0;
  std::int64_t submitted_ = 0;
  std::uint64_t moment_ = 0;
};

// Of one device. Safe from every thread.
class Timing final : public DeviceClock {
 public:
  explicit Timing(Device& device);

  // For the profiles that are open, if any. It may wait for the device, as `options` say, to read its clock for a new one.
  std::unique_ptr<Timestamps> begin(const RunOptions& options);
  // Null while no profile is open.
  std::unique_ptr<Timestamps> begin_if_profiled(const RunOptions& options) { return profiling() ? begin(options) : nullptr; }
  // It is submitted, and done at that moment of the stream.
  void submitted(std::unique_ptr<Timestamps> timestamps, std::uint64_t moment) noexcept;
  // It was submitted at that time of the host, and is done.
  void done(std::unique_ptr<Timestamps> timestamps, std::int64_t submitted) noexcept;

  std::optional<Reading> read(const RunOptions& options) override;
  std::string method() const override;
  void finish(const RunOptions& options) override;

 private:
  bool has_timestamps() const;
  bool calibrated();
  // Timestamp of the device, the host's time, and the error.
  struct Pair {
    std::uint64_t device = 0;
    std::int64_t host = 0, error = 0;
  };
  Pair read_both();
  Pair read_around_a_submission(const RunOptions& options);
  std::int64_t nanoseconds(std::uint64_t timestamp, std::int64_t about);
  std::vector<std::uint64_t> results(const Timestamps& timestamps) const;
  void collect() noexcept;
  void tell(std::unique_ptr<Timestamps> timestamps) noexcept;

  Device& device_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<bool> calibrated_;
  std::optional<Pair> anchor_;  // device time counts from here
  std::deque<std::unique_ptr<Timestamps>> pending_;
  std::vector<std::unique_ptr<Timestamps>> unused_;
  std::uint64_t submissions_ = 0;
};

}  // namespace vyre::run::vulkan
