// Compiles programs with a driver, and keeps the results that were used most recently.
//
// A driver's compiler cannot be stopped. So for a caller that can be interrupted or has a time-out, it runs on a thread of its own and
// goes on when the caller has left; a later call waits for the same thread, or finds its result. A caller that can wait for ever compiles
// on its own thread.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/waiting.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run {

// Runs `work`, which must not throw, on a detached thread, with a stack that is large enough for compilers that recurse over a program. If
// the process ends meanwhile, the driver's destructors do not run (process_end.hpp). Returns false if there is no thread.
bool start_compiler_thread(std::function<void()> work);

// `kSource` is the member function that tells what a product was made from. Any thread may call any function.
template <class Source, class Product, auto kSource>
class CompileJobs {
 public:
  using Compile = std::function<std::shared_ptr<Product>(const Source&)>;

  // Throws what `compile` throws, and Interrupted or DispatchTimeoutError with the device's name. The thread keeps `owner` alive, which
  // must own this object and what `compile` refers to.
  std::shared_ptr<Product> made(const Source& source, const Compile& compile, const RunOptions& options, std::string_view device,
                                const std::shared_ptr<void>& owner) {
    std::unique_lock lock(mutex_);
    if (auto product = known(source)) return product;
    const Span span("compile");
    if (options.interrupted || options.timeout) {
      const std::shared_ptr<Job> job = wait_for_job(lock, source, compile, options, device, owner);
      if (job && job->failure) std::rethrow_exception(job->failure);
      if (job) return job->product;
      // Another thread made the product while this one waited for a job to end, or no thread could be started.
      if (auto product = known(source)) return product;
    }
    lock.unlock();
    return compiled(source, compile);
  }

 private:
  static constexpr std::size_t kMaxProducts = 256;
  // Callers that stop waiting leave jobs behind, which take memory. While this many jobs run, a caller waits for one of them to end.
  static constexpr std::size_t kMaxJobs = 8;

  // One run of the driver's compiler on a thread of its own. Guarded by mutex_.
  struct Job {
    explicit Job(const Source& of) : source(of) {}
    const Source source;
    bool done = false;
    std::shared_ptr<Product> product{};
    std::exception_ptr failure{};
  };

  // These three are called with the mutex held. They return null if there is no such product, or no thread.
  std::shared_ptr<Product> known(const Source& source) {
    const auto found = std::ranges::find_if(products_, [&](const auto& product) { return ((*product).*kSource)() == source; });
    if (found == products_.end()) return nullptr;
    products_.splice(products_.begin(), products_, found);
    return products_.front();
  }
  std::shared_ptr<Job> wait_for_job(std::unique_lock<std::mutex>& lock, const Source& source, const Compile& compile,
                                    const RunOptions& options, std::string_view device, const std::shared_ptr<void>& owner) {
    const Waiting waiting(options);
    std::shared_ptr<Job> job;
    for (;;) {
      if (!job) {
        if (known(source)) return nullptr;
        const auto same = std::ranges::find_if(jobs_, [&](const auto& other) { return other->source == source; });
        if (same != jobs_.end()) {
          job = *same;
        } else if (jobs_.size() < kMaxJobs) {
          job = start(source, compile, owner);
          if (!job) return nullptr;
        }
      }
      if (job && job->done) return job;
      job_done_.wait_for(lock, kPollInterval);
      if (job && job->done) return job;
      lock.unlock();
      waiting.stop_compile_if_unwanted(device);
      lock.lock();
    }
  }
  std::shared_ptr<Job> start(const Source& source, const Compile& compile, const std::shared_ptr<void>& owner) {
    auto job = std::make_shared<Job>(source);
    jobs_.push_back(job);
    const bool begun = start_compiler_thread([this, job, compile, owner]() mutable {
      std::shared_ptr<Product> product;
      std::exception_ptr failure;
      try {
        product = compiled(job->source, compile);
      } catch (...) {
        failure = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        job->product = std::move(product);
        job->failure = failure;
        job->done = true;
        jobs_.remove(job);
        job_done_.notify_all();
      }
      // If this is the last reference to the product, the product is destroyed now, before the owner that it needs.
      job.reset();
    });
    if (begun) return job;
    jobs_.remove(job);
    return nullptr;
  }

  // Called without the mutex, so that calls of other programs go on. If two threads compile the same program, both results work.
  std::shared_ptr<Product> compiled(const Source& source, const Compile& compile) {
    auto product = compile(source);
    const std::lock_guard lock(mutex_);
    products_.push_front(product);
    if (products_.size() > kMaxProducts) products_.pop_back();
    return product;
  }

  std::mutex mutex_;                              // guards what follows
  std::list<std::shared_ptr<Product>> products_;  // most recently used first
  std::list<std::shared_ptr<Job>> jobs_;
  std::condition_variable job_done_;
};

}  // namespace vyre::run
