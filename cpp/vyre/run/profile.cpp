// How it works: the process has a list of the open profiles, and each profile a list of events and of the devices that it has seen. Spans
// and devices add their events to every open profile. Times of a device are kept as the device's clock gave them; a report turns them into
// the host's by two readings of both clocks, one from when the profile first saw the device and one from its end.
#include "vyre/run/profile.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "vyre/base/error.hpp"
#include "vyre/base/fork.hpp"

namespace vyre::run {
namespace {

// The most notes of a profile. People read them, so a failure that repeats is noted once, and their number is limited.
constexpr std::size_t kMostNotes = 100;

struct ProfileRegistry {
  ForkSafeMutex mutex;
  std::vector<std::shared_ptr<Profile>> open;
};

// Never destroyed: threads that outlive main may still end a span. A forked child gets a new one and keeps the old one, whose profiles hold
// devices of the parent.
ProfileRegistry* the_profile_registry = [] {
  when_forked([] {
    detail::open_profiles = 0;
    the_profile_registry = new ProfileRegistry;
  });
  return new ProfileRegistry;
}();

ProfileRegistry& profile_registry() { return *the_profile_registry; }

}  // namespace

std::int64_t host_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t thread_id() {
  thread_local const auto id = static_cast<std::uint64_t>(gettid());
  return id;
}

std::int64_t ClockFit::to_host(std::int64_t device_time) const {
  const std::int64_t since = device_time - device;
  return host + (scale == 1 ? since : std::llround(static_cast<double>(since) * scale));
}

ClockFit fit(const DeviceClock::Reading& first, const std::optional<DeviceClock::Reading>& last) {
  if (!last) return {first.host, first.device, 1, first.error};
  const std::int64_t last_error = last->error + last->rounding - first.rounding;
  const std::int64_t offsets[] = {first.host - first.device, last->host - last->device};
  const std::int64_t low = std::max(offsets[0] - first.error, offsets[1] - last_error);
  const std::int64_t high = std::min(offsets[0] + first.error, offsets[1] + last_error);
  if (low <= high || last->device <= first.device) {
    const std::int64_t offset = low <= high ? low + (high - low) / 2 : offsets[0];
    const auto off_by = [&](std::int64_t given, std::int64_t error) { return std::abs(offset - given) + error; };
    return {first.device + offset, first.device, 1, std::max(off_by(offsets[0], first.error), off_by(offsets[1], last_error))};
  }
  const double scale = static_cast<double>(last->host - first.host) / static_cast<double>(last->device - first.device);
  return {first.host, first.device, scale, std::max(first.error, last_error)};
}

Profile::Profile(std::size_t most_events) : most_events_(most_events), forks_(forks_before()), began_(host_now()) {}

std::shared_ptr<Profile> Profile::begin(std::size_t most_events) {
  ProfileRegistry& all = profile_registry();
  std::shared_ptr<Profile> profile(new Profile(most_events));
  const std::lock_guard lock(all.mutex);
  all.open.push_back(profile);
  ++detail::open_profiles;
  return profile;
}

bool Profile::close() noexcept {
  // In a forked child the profile belongs to the parent; its lock may be held by a thread that does not exist here.
  if (forks_ != forks_before()) return false;
  ProfileRegistry& all = profile_registry();
  std::shared_ptr<Profile> self;  // destroyed with nothing locked
  {
    const std::lock_guard lock(all.mutex);
    const auto found = std::find_if(all.open.begin(), all.open.end(), [&](const auto& each) { return each.get() == this; });
    if (found == all.open.end()) return false;
    self = std::move(*found);
    all.open.erase(found);
    --detail::open_profiles;
  }
  const std::lock_guard lock(mutex_);
  ended_ = host_now();
  return true;
}

void Profile::end(const RunOptions& options) {
  if (!close()) return;
  for (std::size_t index = 0;; ++index) {
    std::shared_ptr<DeviceClock> clock;
    {
      const std::lock_guard lock(mutex_);
      if (index == devices_.size()) return;
      clock = std::move(devices_[index].clock);
    }
    if (!clock) continue;
    try {
      clock->finish(options);
      const std::optional<DeviceClock::Reading> last = clock->read(options);
      const std::lock_guard lock(mutex_);
      devices_[index].last = last;
      devices_[index].method = clock->method();
    } catch (const Interrupted&) {
      note("the wait for the last events of a device was interrupted, and they are missing.");
      abandon();
      throw;
    } catch (const std::exception& error) {
      note(fmt::format("the last events of a device may be missing: {}", error.what()));
    }
  }
}

void Profile::abandon() noexcept {
  close();
  if (forks_ != forks_before()) return;
  // Pending events of a device hold the profile, so the profile must not hold the device, or neither is ever destroyed.
  std::vector<std::shared_ptr<DeviceClock>> clocks;
  try {
    const std::lock_guard lock(mutex_);
    clocks.reserve(devices_.size());
    for (Used& used : devices_) clocks.push_back(std::move(used.clock));
  } catch (const std::bad_alloc&) {
    // Without memory the profile keeps the clocks, and their devices stay open until the process ends.
  }
}

std::optional<Profile::Listed> Profile::find(const DeviceLabel& label, const DeviceClock* clock) const {
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    const Used& used = devices_[index];
    // A device that was lost has another clock when it is opened anew.
    if (used.label.index == label.index && used.label.backend == label.backend && used.clock.get() == clock) {
      return Listed{index, used.first.has_value()};
    }
  }
  return std::nullopt;
}

Profile::Listed Profile::device(const DeviceLabel& label, const std::shared_ptr<DeviceClock>& clock, const RunOptions& options) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = find(label, clock.get())) return *found;
  }
  std::optional<DeviceClock::Reading> first;
  const Span span("read clocks");
  const Unprofiled unprofiled;
  if (clock) {
    try {
      first = clock->read(options);
      if (!first)
        note(fmt::format("device `{}` has no timestamps: its times are from the submission until the host saw the end.", label.name));
    } catch (const DispatchTimeoutError&) {
      throw;
    } catch (const DeviceError& error) {
      note(fmt::format("device `{}` has no times of its own: {}", label.name, error.what()));
    }
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = find(label, clock.get())) return *found;  // another thread was quicker
  // After the end of the profile, nothing would release the clock, so it is not kept.
  devices_.push_back({label, ended_ == 0 ? clock : nullptr, clock ? clock->method() : "", first, std::nullopt});
  return {devices_.size() - 1, first.has_value()};
}

void Profile::add(const ProfileEvent& event) noexcept {
  const std::lock_guard lock(mutex_);
  const bool dispatched = event.device != ProfileEvent::kHost;
  const validate::ValidProgram* program = dispatched ? event.work.program.get() : nullptr;
  try {
    auto row = std::find_if(rows_.begin(), rows_.end(), [&](const ProfileReport::Row& each) {
      return each.device == event.device && each.program.get() == program && each.observed == event.observed &&
             each.name == event.work.name;
    });
    if (row == rows_.end()) {
      row = rows_.insert(row, {event.work.name, event.device, dispatched ? event.work.program : nullptr, event.observed, 0, 0,
                               event.duration, event.duration});
    }
    ++row->calls;
    row->total += event.duration;
    row->min = std::min(row->min, event.duration);
    row->max = std::max(row->max, event.duration);
    if (events_.size() < most_events_) {
      events_.push_back(event);
      return;
    }
  } catch (const std::bad_alloc&) {
  }
  ++left_out_;
}

void Profile::note(const std::string& text) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (notes_.size() < kMostNotes && std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
  } catch (const std::bad_alloc&) {
  }
}

ProfileReport Profile::report() const {
  ProfileReport report;
  report.began = began_;
  if (forks_ != forks_before()) {
    report.ended = began_;
    report.notes = {"the profile was opened before this process was forked, and stayed in the parent."};
    return report;
  }
  const std::lock_guard lock(mutex_);
  report.open = ended_ == 0;
  report.ended = report.open ? host_now() : ended_;
  report.rows = rows_;
  report.events = events_;
  report.left_out = left_out_;
  report.notes = notes_;
  std::vector<std::optional<ClockFit>> fits;
  for (const Used& used : devices_) {
    fits.emplace_back();
    if (used.first) fits.back() = fit(*used.first, used.last);
    report.devices.push_back({used.label, used.method, fits.back() ? std::optional(fits.back()->error) : std::nullopt});
  }
  // Converts a duration on a device's clock to the host's clock.
  const auto scaled = [](const ClockFit& clock, std::int64_t duration) {
    return clock.scale == 1 ? duration : std::llround(static_cast<double>(duration) * clock.scale);
  };
  for (ProfileEvent& event : report.events) {
    if (event.device == ProfileEvent::kHost || event.observed || !fits[event.device]) continue;
    event.start = fits[event.device]->to_host(event.start);
    event.duration = scaled(*fits[event.device], event.duration);
  }
  for (ProfileReport::Row& row : report.rows) {
    if (row.device == ProfileEvent::kHost || row.observed || !fits[row.device]) continue;
    for (std::int64_t* duration : {&row.total, &row.min, &row.max}) *duration = scaled(*fits[row.device], *duration);
  }
  return report;
}

std::vector<std::shared_ptr<Profile>> open_profiles() {
  ProfileRegistry& all = profile_registry();
  const std::lock_guard lock(all.mutex);
  return all.open;
}

Listeners::Listeners(const DeviceLabel& label, const std::shared_ptr<DeviceClock>& clock, const RunOptions& options) {
  for (const std::shared_ptr<Profile>& profile : open_profiles()) {
    const Profile::Listed listed = profile->device(label, clock, options);
    timed_ = listed.timed && (timed_ || all_.empty());
    all_.push_back({profile, listed.index});
  }
}

void Listeners::add(ProfileEvent event) const noexcept {
  for (const Listener& each : all_) {
    event.device = each.device;
    each.profile->add(event);
  }
}

void Listeners::note(const std::exception& error) const {
  const std::string text = fmt::format("some work of a device has no times of its own: {}", error.what());
  for (const Listener& each : all_) each.profile->note(text);
}

void abandon_profiles() noexcept {
  ProfileRegistry& all = profile_registry();
  for (;;) {
    std::shared_ptr<Profile> profile;
    {
      const std::lock_guard lock(all.mutex);
      if (all.open.empty()) return;
      profile = all.open.back();
    }
    profile->abandon();
  }
}

thread_local int Unprofiled::depth = 0;

void Span::begin(const char* name) {
  if (Unprofiled::depth > 0) return;
  open_.emplace(Open{});
  open_->work.name = name;
  open_->start = host_now();
}

void DispatchSpan::describe(const DeviceLabel& device, const ProfiledProgram& program, Grid grid, std::span<const BufferView> buffers) {
  span_.on(device);
  span_.work().program = program;
  span_.work().grid = grid;
  for (const BufferView& buffer : buffers) span_.work().bytes += buffer.bytes.size();
}

void Span::end() noexcept {
  const std::int64_t now = host_now();
  try {
    for (const std::shared_ptr<Profile>& profile : open_profiles()) {
      // A profile that was opened after the span began does not count it.
      if (!profile->began_before(open_->start)) continue;
      ProfileEvent event;
      event.work = open_->work;
      event.thread = thread_id();
      event.start = event.submitted = open_->start;
      event.duration = now - open_->start;
      if (open_->device != nullptr) event.device = profile->device(*open_->device, nullptr, {}).index;
      profile->add(event);
    }
  } catch (const std::bad_alloc&) {
    // Without memory an event is lost, not the call.
  }
}

}  // namespace vyre::run
