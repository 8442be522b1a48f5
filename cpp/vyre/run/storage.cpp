#include "vyre/run/storage.hpp"

#include <mutex>
#include <utility>

#include "vyre/run/loops.hpp"

namespace vyre::run {

std::uint64_t new_memory_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void Storage::fail(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(error);
  failed_ = true;
}

void Storage::rethrow_failure() const {
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void Storage::forget_failure() noexcept {
  const std::lock_guard lock(mutex_);
  failed_ = false;
  failure_ = nullptr;
}

void Storage::used_in(std::shared_ptr<const std::string> loops) noexcept {
  const std::lock_guard lock(mutex_);
  in_loops_ = loops != nullptr;
  loops_ = std::move(loops);
}

void Storage::tell_loops(const DispatchTimeoutError& error) const {
  const std::lock_guard lock(mutex_);
  throw in_loops(error, loops_ ? *loops_ : std::string());
}

}  // namespace vyre::run
