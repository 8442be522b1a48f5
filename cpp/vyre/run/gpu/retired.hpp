// Defines timeline values, which are positions in the work of a device, and objects that are destroyed once the device has passed a value.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace vyre::run {

// Every submission to a device has a value that is larger than those of all earlier submissions. 0 is before the first submission, so it is
// always past.
using TimelineValue = std::uint64_t;

// Sets `value` to `to` if that is larger, also when several threads do so at once.
inline void raise(std::atomic<TimelineValue>& value, TimelineValue to) {
  TimelineValue before = value;
  while (before < to && !value.compare_exchange_weak(before, to)) {
  }
}

// The base of objects that a device may still be using.
class Retired {
 public:
  Retired() = default;
  Retired(const Retired&) = delete;
  Retired& operator=(const Retired&) = delete;
  virtual ~Retired() = default;

 private:
  friend class RetiredList;
  TimelineValue until_ = 0;
  std::unique_ptr<Retired> next_;
};

// An intrusive list of retired objects, so that retiring an object needs no memory. Callers synchronise access.
class RetiredList {
 public:
  RetiredList() = default;
  RetiredList(RetiredList&&) = default;
  RetiredList& operator=(RetiredList&& other) noexcept {
    clear();
    first_ = std::move(other.first_);
    return *this;
  }
  ~RetiredList() { clear(); }

  bool empty() const { return !first_; }
  void add(TimelineValue until, std::unique_ptr<Retired> object) noexcept {
    object->until_ = until;
    object->next_ = std::move(first_);
    first_ = std::move(object);
  }
  // Takes out the objects whose values are at most `past`. Their destructors may take long, and may retire other objects, so the caller
  // destroys them without its lock.
  RetiredList take_past(TimelineValue past) noexcept {
    RetiredList due;
    for (std::unique_ptr<Retired>* at = &first_; *at;) {
      if ((*at)->until_ > past) {
        at = &(*at)->next_;
        continue;
      }
      std::unique_ptr<Retired> taken = std::move(*at);
      *at = std::move(taken->next_);
      taken->next_ = std::move(due.first_);
      due.first_ = std::move(taken);
    }
    return due;
  }
  // Destroys them one after the other: destroying a long list from its head would recurse.
  void clear() noexcept {
    while (first_) first_ = std::move(first_->next_);
  }

 private:
  std::unique_ptr<Retired> first_;
};

}  // namespace vyre::run
