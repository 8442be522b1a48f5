// Takes the times of a device's work for profiles: command buffers write timestamps, reported once the device is done.
//
// Profiling never changes results: if a timestamp fails, the call continues, and the profile records a note.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/api/context.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

// Device timestamps have `bits` bits and wrap. Returns the full value nearest to `near` that ends with these bits.
std::uint64_t unwrapped(std::uint64_t timestamp, std::uint64_t near, std::uint32_t bits);

// The timestamps of one submission, for the profiles that were open when it was recorded.
class Timestamps {
 public:
  // Report the commands that are recorded between begin() and end() as `work`. The interval starts when all earlier commands are done;
  // intervals do not overlap.
  void begin(Commands& commands, Work work);
  void end(Commands& commands);
  // A command buffer that belongs to this object, for a submission that exists only for the profile.
  Commands& commands();

 private:
  friend class Timing;
  // The number of queries in one pool; an interval takes two.
  static constexpr std::uint32_t kQueries = 128;

  explicit Timestamps(Context& context) : context_(context) {}
  // Writes the query with this number. Throws DeviceError if a query pool cannot be made.
  void write(Commands& commands, std::size_t query);

  Context& context_;
  std::optional<Commands> commands_;
  std::vector<QueryPoolHandle> pools_;
  Listeners listeners_;
  std::vector<Work> works_;
  bool timed_ = false;
  std::uint64_t thread_ = 0;
  std::int64_t submitted_ = 0;
  TimelineValue value_ = 0;
};

// The clock and the timestamps of one device. Any thread may call any function.
class Timing final : public DeviceClock {
 public:
  Timing(Context& context, Stream& stream);
  // Profiles keep `owner` alive for as long as they use this clock.
  void belongs_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  // Timestamps for the profiles that are open. For a profile that does not know the device yet, this reads the device's clock; it may have
  // to wait for that, for as long as `options` allow.
  std::unique_ptr<Timestamps> begin(const RunOptions& options);
  // Does the same, or returns null if no profile is open.
  std::unique_ptr<Timestamps> begin_if_profiled(const RunOptions& options) { return profiling() ? begin(options) : nullptr; }
  // Reports the timestamps when the device has done the submission with this value.
  void submitted(std::unique_ptr<Timestamps> timestamps, TimelineValue value) noexcept;
  // Reports the timestamps of a submission that is done; `submitted` is the host's time at which it was submitted.
  void done(std::unique_ptr<Timestamps> timestamps, std::int64_t submitted) noexcept;

  std::optional<Reading> read(const RunOptions& options) override;
  std::string method() const override;
  void finish(const RunOptions& options) override;

 private:
  bool has_timestamps() const;
  bool calibrated();
  // The two clocks at one time: a timestamp of the device, and the host's time with its error, in nanoseconds.
  struct Pair {
    std::uint64_t device = 0;
    std::int64_t host = 0, error = 0;
  };
  Pair read_both();
  Pair read_around_a_submission(const RunOptions& options);
  std::int64_t nanoseconds(std::uint64_t timestamp, std::int64_t about);
  std::vector<std::uint64_t> results(const Timestamps& timestamps) const;
  void collect() noexcept;
  void report(std::unique_ptr<Timestamps> timestamps) noexcept;

  Context& context_;
  Stream& stream_;
  std::weak_ptr<void> owner_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<bool> calibrated_;
  std::optional<Pair> anchor_;  // device times are counted from here
  std::deque<std::unique_ptr<Timestamps>> pending_;
  std::vector<std::unique_ptr<Timestamps>> unused_;
  std::uint64_t submissions_ = 0;
};

}  // namespace vyre::run::vulkan
