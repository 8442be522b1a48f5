// How it works: a command buffer writes a timestamp before and after each piece of work into query pools. Timing keeps a list of the
// submissions in order, reads the queries of each once its timeline value is past, and turns ticks of the device into nanoseconds since the
// anchor. The anchor is the first pair of readings of the device's and the host's clock. VK_EXT_calibrated_timestamps reads both clocks at
// once. Without it, the host reads its clock before and after a submission that writes a timestamp.
#include "vyre/run/vulkan/submit/timestamps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vyre/base/error.hpp"
#include "vyre/run/gpu/waiting.hpp"

namespace vyre::run::vulkan {
namespace {

// How many submissions pass between two searches for those that are done. The searches keep the list of pending ones short.
constexpr std::uint64_t kSearchEvery = 64;
constexpr std::size_t kMaxUnusedTimestamps = 2 * kSearchEvery;
// How often VK_EXT_calibrated_timestamps reads both clocks. The reading with the smallest error is used.
constexpr int kReadings = 3;
// How often the clocks are read by a submission instead. There are more of these readings, because the scheduler may delay each.
constexpr int kSubmissions = 10;

std::uint64_t mask_of(std::uint32_t bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

}  // namespace

std::uint64_t unwrapped(std::uint64_t timestamp, std::uint64_t near, std::uint32_t bits) {
  const std::uint64_t mask = mask_of(bits);
  const std::uint64_t ahead = (timestamp - near) & mask;
  // The counter wraps: a distance of more than half its range ahead means that the timestamp lies before `near`.
  return ahead > mask / 2 ? near - ((near - timestamp) & mask) : near + ahead;
}

void Timestamps::begin(Commands& commands, Work work) {
  works_.push_back(std::move(work));
  if (!timed_) return;
  try {
    write(commands, 2 * (works_.size() - 1));
  } catch (const DeviceError& error) {
    timed_ = false;
    listeners_.note(error);
  }
}

void Timestamps::end(Commands& commands) {
  if (timed_) write(commands, 2 * works_.size() - 1);
}

Commands& Timestamps::commands() {
  if (!commands_) commands_.emplace(context_);
  return *commands_;
}

void Timestamps::write(Commands& commands, std::size_t query) {
  const auto within = static_cast<std::uint32_t>(query % kQueries);
  if (query / kQueries == pools_.size()) {
    VkQueryPoolCreateInfo create{};
    create.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    create.queryType = VK_QUERY_TYPE_TIMESTAMP;
    create.queryCount = kQueries;
    const DeviceApi& api = context_.api();
    VkQueryPool pool = VK_NULL_HANDLE;
    check(api.vkCreateQueryPool(api.device, &create, nullptr, &pool), "vkCreateQueryPool", context_.name());
    pools_.emplace_back(api, pool);
  }
  const VkQueryPool pool = *pools_[query / kQueries];
  if (within == 0) commands.reset(pool, kQueries);
  commands.timestamp(pool, within);
}

Timing::Timing(Context& context, Stream& stream) : context_(context), stream_(stream) {}

bool Timing::has_timestamps() const { return context_.physical().timestamp_bits > 0; }

std::unique_ptr<Timestamps> Timing::begin(const RunOptions& options) {
  const std::shared_ptr<DeviceClock> clock(owner_.lock(), this);
  Listeners listeners({"vulkan", context_.index(), context_.name()}, clock, options);

  std::unique_ptr<Timestamps> timestamps;
  const std::lock_guard lock(mutex_);
  if (unused_.empty()) {
    timestamps.reset(new Timestamps(context_));
  } else {
    timestamps = std::move(unused_.back());
    unused_.pop_back();
  }
  timestamps->timed_ = listeners.timed();
  timestamps->listeners_ = std::move(listeners);
  timestamps->works_.clear();
  timestamps->thread_ = thread_id();
  timestamps->submitted_ = host_now();
  return timestamps;
}

void Timing::submitted(std::unique_ptr<Timestamps> timestamps, TimelineValue value) noexcept {
  timestamps->value_ = value;
  bool look = false;
  try {
    const std::lock_guard lock(mutex_);
    // Work without timestamps ends, for the profile, when the host sees that it is done. So the host looks at once.
    look = ++submissions_ % kSearchEvery == 0 || !timestamps->timed_;
    pending_.push_back(std::move(timestamps));
  } catch (const std::bad_alloc&) {
    // There is no memory to keep the timestamps until the device is done with them, so they are leaked.
    static_cast<void>(timestamps.release());
    return;
  }
  if (look) collect();
}

void Timing::done(std::unique_ptr<Timestamps> timestamps, std::int64_t submitted) noexcept {
  timestamps->submitted_ = submitted;
  report(std::move(timestamps));
}

void Timing::collect() noexcept {
  for (;;) {
    std::unique_ptr<Timestamps> first;
    try {
      const std::lock_guard lock(mutex_);
      if (pending_.empty() || !stream_.done(pending_.front()->value_)) return;
      first = std::move(pending_.front());
      pending_.pop_front();
    } catch (const std::exception&) {
      return;  // the next call that waits for the device reports the failure
    }
    const Span span("read times");
    report(std::move(first));
  }
}

void Timing::finish(const RunOptions& options) {
  if (context_.forked()) return;
  std::uint64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& each : pending_) last = std::max(last, each->value_);
  }
  if (last > 0) stream_.wait(last, Waiting(options));
  collect();
  if (profiling()) return;
  std::vector<std::unique_ptr<Timestamps>> unused;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  unused.swap(unused_);
}

std::vector<std::uint64_t> Timing::results(const Timestamps& timestamps) const {
  const DeviceApi& api = context_.api();
  std::vector<std::uint64_t> values(2 * timestamps.works_.size());
  for (std::size_t first = 0; first < values.size(); first += Timestamps::kQueries) {
    const auto count = std::min<std::size_t>(Timestamps::kQueries, values.size() - first);
    const VkResult result =
        api.vkGetQueryPoolResults(api.device, *timestamps.pools_[first / Timestamps::kQueries], 0, static_cast<std::uint32_t>(count),
                                  count * sizeof(std::uint64_t), values.data() + first, sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT);
    check(result, "vkGetQueryPoolResults", context_.name());
    if (result != VK_SUCCESS) {
      throw DeviceError(fmt::format(
          "vkGetQueryPoolResults has no timestamps on device `{}` though the work is done. Fix: update its driver.", context_.name()));
    }
  }
  return values;
}

std::int64_t Timing::nanoseconds(std::uint64_t timestamp, std::int64_t about) {
  const VkPhysicalDeviceLimits& limits = context_.physical().limits;
  const double period = limits.timestampPeriod;
  const auto expected = static_cast<std::uint64_t>(std::llround(static_cast<double>(about - anchor_->host) / period)) + anchor_->device;
  const std::uint64_t whole =
      unwrapped(timestamp & mask_of(context_.physical().timestamp_bits), expected, context_.physical().timestamp_bits);
  return std::llround(static_cast<double>(static_cast<std::int64_t>(whole - anchor_->device)) * period);
}

void Timing::report(std::unique_ptr<Timestamps> timestamps) noexcept {
  try {
    const std::int64_t now = host_now();
    std::vector<std::uint64_t> values;
    if (timestamps->timed_) {
      try {
        values = results(*timestamps);
      } catch (const DeviceError& error) {
        timestamps->listeners_.note(error);
      }
    }
    for (std::size_t index = 0; index < timestamps->works_.size(); ++index) {
      ProfileEvent event;
      event.work = std::move(timestamps->works_[index]);
      event.thread = timestamps->thread_;
      event.submitted = timestamps->submitted_;
      event.observed = values.empty();
      if (event.observed) {
        event.start = event.submitted;
        event.duration = now - event.submitted;
      } else {
        const std::lock_guard lock(mutex_);
        event.start = nanoseconds(values[2 * index], event.submitted);
        event.duration = nanoseconds(values[2 * index + 1], event.submitted) - event.start;
      }
      timestamps->listeners_.add(std::move(event));
    }
  } catch (const std::bad_alloc&) {
    // Without memory the profile loses an event; the call continues.
  }
  timestamps->listeners_ = {};
  timestamps->works_.clear();
  try {
    const std::lock_guard lock(mutex_);
    if (unused_.size() < kMaxUnusedTimestamps) unused_.push_back(std::move(timestamps));
  } catch (const std::bad_alloc&) {
  }
}

bool Timing::calibrated() {
  const std::lock_guard lock(mutex_);
  if (calibrated_) return *calibrated_;
  calibrated_ = false;
  if (!context_.physical().calibrated_timestamps || context_.api().vkGetCalibratedTimestampsEXT == nullptr) return false;
  const InstanceApi& api = context_.instance().api();
  if (api.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT == nullptr) return false;
  const char* const call = "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT";
  std::uint32_t count = 0;
  check(api.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(context_.physical().handle, &count, nullptr), call, context_.name());
  std::vector<VkTimeDomainEXT> domains(count);
  check(api.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(context_.physical().handle, &count, domains.data()), call, context_.name());
  domains.resize(std::min<std::size_t>(count, domains.size()));
  const auto has = [&](VkTimeDomainEXT domain) { return std::find(domains.begin(), domains.end(), domain) != domains.end(); };
  calibrated_ = has(VK_TIME_DOMAIN_DEVICE_EXT) && has(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
  return *calibrated_;
}

std::string Timing::method() const {
  if (!has_timestamps()) return "none";
  const std::lock_guard lock(mutex_);
  return calibrated_.value_or(false) ? VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME
                                     : "a submission between two readings of the host's clock";
}

Timing::Pair Timing::read_both() {
  const DeviceApi& api = context_.api();
  std::array<VkCalibratedTimestampInfoEXT, 2> infos{};
  for (VkCalibratedTimestampInfoEXT& info : infos) info.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT;
  infos[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
  infos[1].timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
  std::optional<Pair> best;
  for (int k = 0; k < kReadings; ++k) {
    std::array<std::uint64_t, 2> values{};
    std::uint64_t deviation = 0;
    check(api.vkGetCalibratedTimestampsEXT(api.device, static_cast<std::uint32_t>(infos.size()), infos.data(), values.data(), &deviation),
          "vkGetCalibratedTimestampsEXT", context_.name());
    const Pair pair{values[0], static_cast<std::int64_t>(values[1]), static_cast<std::int64_t>(deviation)};
    if (!best || pair.error < best->error) best = pair;
  }
  return *best;
}

// Reads both clocks without VK_EXT_calibrated_timestamps: the device writes its time in a submission, and the host reads its own clock
// before the submission and after the wait. The host's time is the middle of the two readings, and half their distance is the error.
Timing::Pair Timing::read_around_a_submission(const RunOptions& options) {
  const Waiting waiting(options);
  auto timestamps = std::unique_ptr<Timestamps>(new Timestamps(context_));
  Timestamps& now = *timestamps;
  now.works_.resize(1);
  TimelineValue value = 0;
  // If the wait is interrupted, the device still uses the timestamps.
  struct Keep final : Retired {
    explicit Keep(std::unique_ptr<Timestamps> kept) : timestamps(std::move(kept)) {}
    std::unique_ptr<Timestamps> timestamps;
  };
  auto keep = std::make_unique<Keep>(std::move(timestamps));
  struct Retire {
    Stream& stream;
    std::unique_ptr<Keep>& keep;
    const TimelineValue& value;
    ~Retire() { stream.retire(value, std::move(keep)); }
  } retire{stream_, keep, value};

  std::optional<Pair> best;
  // The first submission waits for all earlier work, so its error is large.
  for (int k = 0; k < kSubmissions; ++k) {
    Commands& commands = now.commands();
    commands.begin();
    now.write(commands, 0);
    now.write(commands, 1);
    commands.end();
    const VkCommandBuffer handle = commands.handle();
    const std::int64_t before = host_now();
    value = stream_.submit({.commands = {&handle, 1}});
    stream_.wait(value, waiting);
    const std::int64_t after = host_now();
    const Pair pair{results(now)[0], before + (after - before) / 2, (after - before + 1) / 2};
    if (!best || pair.error < best->error) best = pair;
  }
  return *best;
}

std::optional<DeviceClock::Reading> Timing::read(const RunOptions& options) {
  if (!has_timestamps() || context_.forked()) return std::nullopt;
  std::optional<Pair> known;
  try {
    if (calibrated()) known = read_both();
  } catch (const DeviceError&) {
    // From now on, a submission between two readings of the host's clock is used instead, and method() says so.
    const std::lock_guard lock(mutex_);
    calibrated_ = false;
  }
  const Pair pair = known ? *known : read_around_a_submission(options);
  const std::lock_guard lock(mutex_);
  if (!anchor_) anchor_ = pair;
  return Reading{pair.host, nanoseconds(pair.device, pair.host), pair.error};
}

}  // namespace vyre::run::vulkan
