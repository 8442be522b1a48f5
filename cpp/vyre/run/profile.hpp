// Records spans of the host's work and what devices did, on one time line, for vyre.profile.
//
// While no profile is open, a span costs the reading of one flag. An open profile records every thread and every device of the process;
// several may be open, and each records the work that began while it was open.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {

// Nanoseconds of the steady clock: on Linux CLOCK_MONOTONIC, which is also Python's time.perf_counter_ns().
std::int64_t host_now();

// The program that a profile names. The caller that runs it keeps it.
using ProfiledProgram = std::shared_ptr<const validate::ValidProgram>;

// A device as profiles show it. Two labels name the same device if their backends and indices are equal.
struct DeviceLabel {
  std::string backend;
  std::size_t index = 0;
  std::string name;
};

// A device's clock, if it has one, and the events that it has not added to profiles yet.
class DeviceClock {
 public:
  // Both clocks at one moment, and the error of the pair, in nanoseconds.
  struct Reading {
    std::int64_t host = 0, device = 0, error = 0;
    // By how much the device's time may be wrong because of rounding since its clock began. It never decreases.
    std::int64_t rounding = 0;
  };

  virtual ~DeviceClock() = default;
  // Gives nothing for a device without timestamps. May wait for the device.
  virtual std::optional<Reading> read(const RunOptions& options) = 0;
  // Describes for people how read() does it.
  virtual std::string method() const = 0;
  // Waits for the work that was submitted until now, and reports it to the profiles.
  virtual void finish(const RunOptions& options) = 0;
};

// Maps a device's clock to the host's between two readings.
struct ClockFit {
  std::int64_t host = 0, device = 0;  // of one moment
  double scale = 1;                   // host nanoseconds per device nanosecond
  std::int64_t error = 0;             // of a time that is converted

  std::int64_t to_host(std::int64_t device_time) const;
};
// If one offset fits both readings within their errors, the scale is 1; otherwise the drift between the readings gives the scale. Rounding
// between the readings counts as an error of the last one.
ClockFit fit(const DeviceClock::Reading& first, const std::optional<DeviceClock::Reading>& last);

// A piece of work of the host or of a device.
struct Work {
  const char* name = nullptr;  // a literal: "submit", "dispatch"
  ProfiledProgram program;     // of a dispatch, and of what is done for one program
  Grid grid{0, 0, 0};          // of a dispatch
  std::uint64_t bytes = 0;     // bound by a dispatch, or copied
};

struct ProfileEvent {
  static constexpr std::size_t kHost = ~std::size_t{0};

  Work work;
  std::size_t device = kHost;  // index into ProfileReport::devices
  std::uint64_t thread = 0;    // the system's id of the thread that did the work or submitted it
  std::int64_t submitted = 0;  // of a device's work: when it was submitted
  std::int64_t start = 0;      // of the host's clock
  std::int64_t duration = 0;
  bool observed = false;  // whether a device gave no times: the event then lasts from the submission until the host saw the end
};

struct ProfileReport {
  struct Device {
    DeviceLabel label;
    std::string clock;                  // empty: the host's own
    std::optional<std::int64_t> error;  // of the alignment of its clock
  };
  // Counts the events of a kind, including those that were not kept.
  struct Row {
    std::string name;
    std::size_t device = ProfileEvent::kHost;
    ProfiledProgram program;  // of dispatches
    bool observed = false;
    std::uint64_t calls = 0;
    std::int64_t total = 0, min = 0, max = 0;
  };
  bool open = false;
  std::int64_t began = 0, ended = 0;
  std::vector<Device> devices;
  std::vector<Row> rows;
  std::vector<ProfileEvent> events;  // in the order in which they became known
  std::uint64_t left_out = 0;        // events beyond what is kept
  std::vector<std::string> notes;    // remarks about the numbers, for example why times are missing
};

// Records events from its beginning to its end. Any thread may call any function.
class Profile : public std::enable_shared_from_this<Profile> {
 public:
  // Opens a profile. It keeps the first `most_events` events; its rows count all of them.
  static std::shared_ptr<Profile> begin(std::size_t most_events);
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Closes the profile and waits for the events of devices. Throws only Interrupted; other errors become notes.
  void end(const RunOptions& options);
  // Closes the profile without waiting for anything.
  void abandon() noexcept;
  ProfileReport report() const;

  // The index of a device for ProfileEvent::device, and whether the device has times of its own.
  struct Listed {
    std::size_t index = 0;
    bool timed = false;
  };
  // Called by code that records events. For a device that the profile does not know yet, this reads its clock.
  Listed device(const DeviceLabel& label, const std::shared_ptr<DeviceClock>& clock, const RunOptions& options);
  void add(const ProfileEvent& event) noexcept;
  // Adds a note, unless the profile has it already.
  void note(const std::string& text) noexcept;
  bool began_before(std::int64_t time) const { return began_ <= time; }

 private:
  struct Used {
    DeviceLabel label;
    std::shared_ptr<DeviceClock> clock;  // until the end
    std::string method;
    std::optional<DeviceClock::Reading> first, last;
  };
  explicit Profile(std::size_t most_events);
  bool close() noexcept;
  std::optional<Listed> find(const DeviceLabel& label, const DeviceClock* clock) const;

  const std::size_t most_events_;
  const std::uint64_t forks_;
  const std::int64_t began_;
  mutable std::mutex mutex_;  // guards what follows
  std::int64_t ended_ = 0;
  std::vector<Used> devices_;
  std::vector<ProfileReport::Row> rows_;
  std::vector<ProfileEvent> events_;  // events of a device that has a clock have times of that clock
  std::uint64_t left_out_ = 0;
  std::vector<std::string> notes_;
};

namespace detail {
inline std::atomic<int> open_profiles = 0;
}

inline bool profiling() noexcept { return detail::open_profiles.load(std::memory_order_relaxed) != 0; }
// The profiles that are open now.
std::vector<std::shared_ptr<Profile>> open_profiles();
// Closes all profiles at the end of the process, without waiting for anything.
void abandon_profiles() noexcept;

// The open profiles that are told about one piece of work of a device.
class Listeners {
 public:
  // Has no profile.
  Listeners() = default;
  // Has all profiles that are open now. A profile that does not know the device yet reads its clock, which may wait as `options` say.
  Listeners(const DeviceLabel& label, const std::shared_ptr<DeviceClock>& clock, const RunOptions& options);

  // Whether there is a profile, and each can place the device's own times.
  bool timed() const { return timed_; }
  void add(ProfileEvent event) const noexcept;
  // Notes why the work has no times of its own.
  void note(const std::exception& error) const;

 private:
  struct Listener {
    std::shared_ptr<Profile> profile;
    std::size_t device;  // the index of the device in the profile
  };
  std::vector<Listener> all_;
  bool timed_ = false;
};

// The operating system's id of this thread.
std::uint64_t thread_id();

// While an object of this class lives, spans of this thread are not recorded, because the profile's own work is not part of the program's.
class Unprofiled {
 public:
  Unprofiled() { ++depth; }
  Unprofiled(const Unprofiled&) = delete;
  Unprofiled& operator=(const Unprofiled&) = delete;
  ~Unprofiled() { --depth; }
  static thread_local int depth;
};

// Records the host's work between the construction and the destruction of the span. The spans of a thread are nested.
class Span {
 public:
  explicit Span(const char* name) {
    if (profiling()) begin(name);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (open_) end();
  }

  // Whether a profile listens, so that the fields below are worth filling.
  explicit operator bool() const { return open_.has_value(); }
  Work& work() { return open_->work; }
  // Counts the span as work of this device, whose clock is the host's. The label must outlive the span.
  void on(const DeviceLabel& device) { open_->device = &device; }

 private:
  struct Open {
    Work work;
    const DeviceLabel* device = nullptr;
    std::int64_t start = 0;
  };
  void begin(const char* name);
  void end() noexcept;

  std::optional<Open> open_;
};

// A span of a dispatch on the host's processor.
class DispatchSpan {
 public:
  DispatchSpan(const DeviceLabel& device, const ProfiledProgram& program, Grid grid, std::span<const BufferView> buffers)
      : span_("dispatch") {
    if (span_) describe(device, program, grid, buffers);
  }

 private:
  void describe(const DeviceLabel& device, const ProfiledProgram& program, Grid grid, std::span<const BufferView> buffers);

  Span span_;
};

}  // namespace vyre::run
