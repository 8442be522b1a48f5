// Records calls once, so that they can be submitted any number of times, also with other arrays of the same sizes.
//
// The arrays that each submission names are slots. Everything else is fixed when the calls are recorded: grids, sizes, and the storages
// that the recording keeps, such as scratch memory and tables. Words are numbers for Uniform buffers, which each submission gives too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vyre/base/deadline.hpp"
#include "vyre/run/host/shared_access.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

// Where an array of a recorded call lies.
struct RecordedArray {
  enum class In : std::uint8_t { Slot, Kept, Words };
  static constexpr std::uint64_t kPlaces = 3;  // the members of In
  In in = In::Slot;
  std::uint32_t index = 0;   // of the slot or the kept storage
  std::uint64_t offset = 0;  // in bytes, from the beginning of the slot, the storage or the words
  std::uint64_t bytes = 0;
  std::uint32_t length = 0;  // as BufferView's
  StorageView::Role role = StorageView::Role::Buffer;
};

struct CallToRecord {
  ProfiledProgram program;  // the one that was prepared
  std::shared_ptr<Executable> executable;
  Grid grid;  // the largest one, where the counts come from data; a call with an empty one does nothing
  // One array for each bound buffer, followed by the counts of a grid from data (data_grid.hpp), if any. check_call (checks.hpp) has
  // accepted them.
  std::vector<RecordedArray> arrays;

  // The array that holds the counts, or null for a grid by value.
  const RecordedArray* counts() const {
    return arrays.empty() || arrays.back().role == StorageView::Role::Buffer ? nullptr : &arrays.back();
  }
};

struct CallsToRecord {
  struct Slot {
    std::string name;  // for messages
    std::uint64_t bytes = 0;
  };
  // Every list of words that a buffer reads begins at a multiple of this many bytes, the largest alignment that a device may ask for.
  static constexpr std::uint64_t kWordsAlignment = 256;

  std::vector<Slot> slots;
  std::vector<std::shared_ptr<Storage>> kept;  // nothing else writes them, but for recordings with the same `turns`
  std::uint64_t words_bytes = 0;
  std::vector<CallToRecord> calls;   // without repetitions
  std::vector<std::uint32_t> order;  // the calls that run, one after the other: indices of `calls`
  // Each submission holds all of them, because submissions of other recordings use the same kept storages. By rising address, so that all
  // threads acquire them in the same order. A recording without any gets one of its own if it keeps storages or takes words.
  std::vector<std::shared_ptr<SharedAccess>> turns;
};

// The turns of a submission, which it holds until this object is destroyed.
class Turns {
 public:
  // Throws Interrupted and DispatchTimeoutError.
  Turns(const CallsToRecord& calls, const RunOptions& options) {
    for (const std::shared_ptr<SharedAccess>& turn : calls.turns) held_.push_back(turn->write(options));
  }

 private:
  std::vector<SharedAccess::Writing> held_;
};

// May be submitted from several threads. The submissions run one after the other if they share kept storages.
class Recording {
 public:
  explicit Recording(CallsToRecord calls);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  // Runs the calls `times` times, one after the other. `slots` has a view of the right size for each slot, and `words` has
  // CallsToRecord::words_bytes. check_slots (checks/checks.hpp) has accepted the slots. If a device runs the calls, submit()
  // usually returns before they are done. If the host runs them, it returns when they are done. An interruption ends it between two
  // repetitions, or between two calls. Throws DeviceError or a type derived from it; after a throw, the contents of the written slots are
  // unspecified.
  void submit(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options, std::uint64_t times = 1);
  // Does the same, without words, for a single call that is short (Executable::is_short) and need not wait for another call. Otherwise
  // does nothing and returns false.
  virtual bool submit_at_once(std::span<const StorageView> /*slots*/) { return false; }
  // False once its device is lost.
  virtual bool usable() const { return true; }
  // How often the calls were recorded: 0 on backends that have nothing to record.
  virtual std::uint64_t times_recorded() const { return 0; }

  const CallsToRecord& calls() const { return calls_; }
  // Says for each slot whether a call writes it.
  const std::vector<bool>& written() const { return written_; }

 protected:
  virtual void submit_recorded(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options,
                               std::uint64_t times) = 0;

  const CallsToRecord calls_;
  const std::vector<bool> written_;

 private:
  const std::shared_ptr<const std::string> loops_;  // of all calls (long_loops); null if there are none
};

// Records one call, with a slot for each of its views. A grid of nothing runs nothing. Everything else is as for Backend::record.
std::shared_ptr<Recording> record_call(Backend& backend, CallToRecord call, std::span<const StorageView> views,
                                       const RunOptions& waiting = {});

// A submission of a recording, as a part of others.
struct Step {
  std::shared_ptr<Recording> recording;
  std::vector<StorageView> slots;
  std::vector<std::byte> words = {};
  // Where a repetition has ended (ends.hpp), the step does nothing: the state of the repetition.
  std::optional<StorageView> live = std::nullopt;
};

// Steps that are recorded as one, and the slots to submit it with, one for each storage of the steps. It takes no words.
struct JoinedSteps {
  std::shared_ptr<Recording> recording;
  std::vector<StorageView> slots;

  void submit(std::uint64_t times, const RunOptions& options) const { recording->submit(slots, {}, options, times); }
};
// The steps are recordings of `backend` and `device`. The storages of their slots must still exist at each submission.
JoinedSteps join(Backend& backend, std::optional<std::size_t> device, std::span<const Step> steps, const RunOptions& waiting = {});

// The recording of backends that run on the host's processor. `awaited` is what the error of a time-out says that the calls waited for.
std::shared_ptr<Recording> record_on_host(CallsToRecord calls, Awaited awaited);

}  // namespace vyre::run
