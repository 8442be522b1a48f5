// Records calls once, so that they can be submitted any number of times, also with other arrays of the same sizes.
//
// The arrays that each submission names are slots. Everything else is fixed when the calls are recorded: grids, sizes, and the storages
// that the recording keeps, such as scratch memory and tables. Words are numbers for Uniform buffers, which each submission gives too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vyre/base/deadline.hpp"
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
  Grid grid;  // not empty; the largest one, where the counts come from data
  // One array for each bound buffer, followed by the counts of a grid from data (data_grid.hpp), if any. check_call (checks.hpp) has
  // accepted them.
  std::vector<RecordedArray> arrays;
};

struct CallsToRecord {
  struct Slot {
    std::string name;  // for messages
    std::uint64_t bytes = 0;
  };
  // Every list of words that a buffer reads begins at a multiple of this many bytes, the largest alignment that a device may ask for.
  static constexpr std::uint64_t kWordsAlignment = 256;

  std::vector<Slot> slots;
  std::vector<std::shared_ptr<Storage>> kept;  // nothing else writes them while the recording exists
  std::uint64_t words_bytes = 0;
  std::vector<CallToRecord> calls;   // without repetitions
  std::vector<std::uint32_t> order;  // the calls that run, one after the other: indices of `calls`, at least one
};

// May be submitted from several threads. The submissions run one after the other, because they share the kept storages.
class Recording {
 public:
  virtual ~Recording() = default;
  // `slots` has a view of the right size for each slot, and `words` has CallsToRecord::words_bytes. Throws BindingError for slots that
  // overlap while a call writes one of them; everything else is as for Plan::submit. After a throw, the contents of the written slots are
  // unspecified.
  virtual void submit(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options) = 0;
  // Returns the same submission as a step of a Sequence. The recording may be destroyed before the step.
  virtual Step step(std::span<const StorageView> slots, std::span<const std::byte> words) = 0;
  // False once its device is lost.
  virtual bool usable() const { return true; }
  // How often the calls were recorded: 0 on backends that have nothing to record.
  virtual std::uint64_t times_recorded() const { return 0; }
};

// The recording of backends that run on the host's processor. `awaited` is what the error of a time-out says that the call waited for.
std::shared_ptr<Recording> record_on_host(CallsToRecord calls, Awaited awaited);

}  // namespace vyre::run
