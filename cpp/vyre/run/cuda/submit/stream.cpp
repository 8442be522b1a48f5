// A mark is an event and the timeline value behind which it was recorded. Marks are recorded after every few submissions, and before
// another thread submits while a caller waits. A wait passes the queued submissions to the driver itself and then polls: the whole stream
// if nothing was submitted since, else the mark behind its value.
#include "vyre/run/cuda/submit/stream.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {
namespace {

// kMaxPending: the most operations that are submitted and not done when a call begins; the driver blocks at about a thousand. kMarkEvery:
// the number of operations between two marks.
constexpr std::uint64_t kMaxPending = 512, kMarkEvery = 64;
// After a wait, the calling thread passes this many submissions to the driver itself before the submission thread may take over: for one or
// two calls followed by a wait, that has the lowest latency. The same holds after the thread fell asleep, because waking it costs more than
// a call that comes alone.
constexpr std::uint64_t kDirectSubmissions = 4;
// How long a waiting thread sleeps between two polls: the driver has no wait with a time-out.
constexpr std::chrono::nanoseconds kSleep = std::chrono::microseconds(200);

}  // namespace

Stream::Stream(Context& context)
    : Timeline(context),
      may_use_thread_(context.options().submission_thread.value_or(true)),
      queue_(
          mutex_,
          [this](const Batch& batch) {
            const Current current(context_);
            {
              const std::lock_guard lock(mutex_);
              mark_for_waiting();
            }
            batch.pass(context_, stream_);
          },
          [this](const Batch& batch) {
            if (!queue_.failed()) {
              passed(batch.value);
              return;
            }
            // The contents of the arrays that the dropped calls were to write are now unknown.
            context_.mark_unusable();
            queue_.waiting().give_back(context_, stream_);
          }) {
  const Current current(context);
  context.check(context.api().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

void Stream::finish() noexcept {
  queue_.end();
  set_busy(false);
  try {
    const Current current(context_);
    // Only a device on which a submission failed can still be at work here.
    if (context_.alive() && queue_.failed()) static_cast<void>(context_.api().cuCtxSynchronize());
    retired_.clear();
    // Memory may have been given back while the thread was passing the last submission.
    std::unique_lock lock(mutex_);
    if (context_.alive()) queue_.pass_now(lock);
  } catch (const std::exception&) {
    // The context is lost, and what belonged to it with it.
  }
  retired_.clear();
}

Stream::~Stream() {
  finish();
  free_in(context_, [this](const Api& api) {
    for (const auto& mark : marks_) unused_events_.push_back(mark->event);
    for (CUevent event : unused_events_) static_cast<void>(api.cuEventDestroy(event));
    static_cast<void>(api.cuStreamDestroy(stream_));
  });
}

bool Stream::use_submission_thread() {
  queue_.check();
  if (!may_use_thread_) return false;
  // Submissions must not overtake those that wait in the queue.
  if (!queue_.idle()) return true;
  if (const std::uint64_t sleeps = queue_.sleeps(); sleeps != sleeps_seen_) {
    sleeps_seen_ = sleeps;
    since_wait_ = 0;
  }
  if (since_wait_ < kDirectSubmissions && !context_.options().submission_thread) {
    ++since_wait_;
    return false;
  }
  return may_use_thread_ = queue_.start();
}

void Stream::pass_all(std::unique_lock<std::mutex>& lock) {
  while (!queue_.idle()) {
    if (queue_.pass_now(lock)) continue;
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  queue_.check();
}

void Stream::passed(TimelineValue value) noexcept {
  passed_ = value;
  if (value - marked_ < kMarkEvery) return;
  try {
    const Current current(context_);
    record_mark();
  } catch (const std::exception&) {
    // The next wait records a mark, or reports why it cannot.
  }
}

void Stream::record_mark() {
  CUevent event = nullptr;
  if (!unused_events_.empty()) {
    event = unused_events_.back();
    unused_events_.pop_back();
  } else {
    context_.check(context_.api().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  auto mark = std::make_shared<const Mark>(Mark{passed_, event});
  context_.check(context_.api().cuEventRecord(event, stream_), "cuEventRecord");
  marks_.push_back(std::move(mark));
  marked_ = passed_;
}

void Stream::mark_for_waiting() noexcept {
  if (watched_ == 0) return;
  try {
    if (watched_ > past_ && watched_ > marked_) record_mark();
    watched_ = 0;
  } catch (const std::exception&) {
    // The waiting threads go on to ask whether the stream is idle, and then wait for later submissions too.
  }
}

bool Stream::pass_up_to(std::unique_lock<std::mutex>& lock, TimelineValue value) {
  since_wait_ = 0;
  if (passed_ >= value) return true;
  // The caller is about to wait anyway, so it passes the queued submissions itself.
  if (!queue_.pass_now(lock)) return false;
  if (passed_ < value) queue_.check();
  return passed_ >= value;
}

std::shared_ptr<const Stream::Mark> Stream::mark_after(TimelineValue value) {
  // Another thread may pass later submissions meanwhile. The event then comes after those too, so it still comes after `value`.
  if (marked_ < value) record_mark();
  const auto found = std::ranges::find_if(marks_, [&](const auto& mark) { return mark->value >= value; });
  // There is no such mark if another thread has already seen that the value is past.
  return found == marks_.end() ? nullptr : *found;
}

void Stream::done_up_to(TimelineValue value) {
  while (!marks_.empty() && marks_.front()->value <= value) {
    unused_events_.push_back(marks_.front()->event);
    marks_.pop_front();
  }
  raise(past_, value);
  if (past_ >= last_) set_busy(false);
}

bool Stream::reached(const Mark& mark) {
  // An event is reused for a later mark once its own mark is past. So past_ is checked too: the answer of the query may belong to the later
  // mark.
  if (is_past(mark.value)) return true;
  const CUresult result = context_.api().cuEventQuery(mark.event);
  if (result == CUDA_ERROR_NOT_READY) return is_past(mark.value);
  context_.check(result, "cuEventQuery");
  const std::lock_guard lock(mutex_);
  done_up_to(mark.value);
  return true;
}

bool Stream::done(TimelineValue value) {
  if (is_past(value)) return true;
  const Current current(context_);
  std::shared_ptr<const Mark> mark;
  {
    std::unique_lock lock(mutex_);
    if (pass_up_to(lock, value)) mark = mark_after(value);
  }
  return mark ? reached(*mark) : is_past(value);
}

bool Stream::poll(TimelineValue value, Watch& watch) {
  if (is_past(value)) return true;
  // If watched_ is another value, there was a submission since, and a mark before it.
  if (!watch.mark && (watch.idle == 0 || watched_ != watch.idle)) {
    std::unique_lock lock(mutex_);
    if (!pass_up_to(lock, value)) return is_past(value);
    if (marked_ < value && queue_.idle()) {
      watched_ = watch.idle = passed_;
    } else {
      watch.mark = mark_after(value);
      if (!watch.mark) return is_past(value);
    }
  }
  if (watch.mark) return reached(*watch.mark);
  const CUresult result = context_.api().cuStreamQuery(stream_);
  if (result == CUDA_ERROR_NOT_READY) return is_past(value);
  context_.check(result, "cuStreamQuery");
  const std::lock_guard lock(mutex_);
  done_up_to(watch.idle);
  return true;
}

void Stream::wait(TimelineValue value, const Waiting& waiting) {
  if (is_past(value)) return;
  const Span span("wait");
  {
    const Current current(context_);
    Watch watch;
    waiting.wait(
        context_.name(), true, [&] { return poll(value, watch); },
        [&](std::uint64_t nanoseconds) {
          std::this_thread::sleep_for(std::min(kSleep, std::chrono::nanoseconds(nanoseconds)));
          return poll(value, watch);
        });
  }
  collect();
}

void Stream::make_room(const Waiting& waiting) {
  TimelineValue oldest = 0;
  {
    const std::lock_guard lock(mutex_);
    if (last_ <= past_ + kMaxPending) return;
    oldest = last_ - kMaxPending / 2;
  }
  wait(oldest, waiting);
}

bool Stream::idle_within(std::chrono::duration<double> time) noexcept {
  try {
    TimelineValue last = 0;
    {
      std::unique_lock lock(mutex_);
      pass_all(lock);  // also passes queued frees
      last = last_;
    }
    if (!is_past_within(time, last)) return false;
  } catch (const std::exception&) {
    return false;
  }
  collect();
  return true;
}

void Stream::free(CUdeviceptr address) noexcept {
  try {
    std::unique_lock lock(mutex_);
    if (queue_.idle()) {
      const Current current(context_);
      Commands(context_, stream_).free(address);
    } else {
      Commands(queue_.waiting()).free(address);
      queue_.waiting().value = last_;
      queue_.appended();
    }
  } catch (const std::exception&) {
    // The context is lost, and the memory with it.
  }
}

void Stream::collect_done() {
  for (;;) {
    std::shared_ptr<const Mark> first;
    {
      const std::lock_guard lock(mutex_);
      if (retired_.empty()) return;
      if (!marks_.empty()) first = marks_.front();
    }
    const Current current(context_);
    if (!first || !reached(*first)) break;
  }
  collect();
}

void Stream::collect() noexcept {
  RetiredList due;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    due = retired_.take_past(past_);
  }
}

}  // namespace vyre::run::cuda
