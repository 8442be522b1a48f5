// How it works: scratch arrays are laid out by their live ranges, from the first to the last step that uses them. Each step becomes a call
// of the recording. Lists of words that are all known lie in a storage that is written once; other lists lie in the words of each
// submission. Equal steps share one call, which runs several times.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/hash.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/procedures/fills.hpp"
#include "vyre/run/procedures/flat_steps.hpp"
#include "vyre/run/procedures/workspace.hpp"

namespace vyre::run {
namespace {

using Part = FlatSteps::Part;
using Words = FlatSteps::Words;
using In = RecordedArray::In;

// The largest block of scratch memory that several arrays share, in bytes: a device need not support larger allocations.
constexpr std::uint64_t kMostShared = std::uint64_t{1} << 30;
// The most elements that a fill or a copy does at once, so that their number, rounded up to whole workgroups, fits into 32 bits.
constexpr std::uint64_t kMostFilled = std::uint64_t{1} << 31;

std::uint64_t aligned(std::uint64_t bytes) {
  constexpr std::uint64_t kAlignment = CallsToRecord::kWordsAlignment;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct HashOfWords {
  std::size_t operator()(const std::vector<std::uint64_t>& words) const {
    Fnv1a hash;
    for (const std::uint64_t word : words) hash.add(word);
    return hash.value() ^ (hash.value() >> 32);
  }
};

// Lays out lists of words one after the other. Equal lists share one place.
class WordsLayout {
 public:
  // Returns the offset at which the list begins, in bytes.
  std::uint64_t place(const Words& words) {
    std::vector<std::uint64_t> key;
    for (const Number& word : words) key.insert(key.end(), {word.late, word.late == Number::kKnown ? word.value : 0});
    const auto [found, added] = places_.emplace(std::move(key), bytes_);
    if (added) {
      lists_.push_back({bytes_, words});
      bytes_ = aligned(bytes_ + 4 * words.size());
    }
    return found->second;
  }
  std::uint64_t bytes() const { return bytes_; }
  struct List {
    std::uint64_t offset;
    Words words;
  };
  const std::vector<List>& lists() const { return lists_; }

 private:
  std::unordered_map<std::vector<std::uint64_t>, std::uint64_t, HashOfWords> places_;
  std::vector<List> lists_;
  std::uint64_t bytes_ = 0;
};

// Turns flat steps into the calls of a recording.
class Builder {
 public:
  Builder(const FlatSteps& steps, Backend& backend, std::optional<std::size_t> device, const PlannedSteps::Prepare& prepare)
      : steps_(steps), backend_(backend), device_(device), prepare_(prepare), programs_(steps.programs), executables_(programs_.size()) {}

  void build(const RunOptions& waiting) {
    place_arrays();
    for (at_ = 0; at_ < steps_.steps.size(); ++at_) std::visit([&](const auto& each) { add(each); }, steps_.steps[at_]);
    if (known_.bytes() > 0) {
      const auto storage = keep(known_.bytes());
      std::vector<std::byte> bytes(known_.bytes());
      for (const WordsLayout::List& list : known_.lists()) {
        for (std::size_t k = 0; k < list.words.size(); ++k) set_word(bytes, list.offset + 4 * k, list.words[k].value);
      }
      storage->write(0, bytes, waiting);
      for (CallToRecord& call : calls.calls) {
        for (RecordedArray& array : call.arrays) {
          if (array.in == In::Words && array.index == kKnownWords) {
            array.in = In::Kept;
            array.index = static_cast<std::uint32_t>(calls.kept.size() - 1);
          }
        }
      }
    }
    calls.words_bytes = late_.bytes();
  }

  static void set_word(std::span<std::byte> bytes, std::uint64_t offset, std::uint64_t value) {
    const auto word = static_cast<std::uint32_t>(value);
    std::memcpy(bytes.data() + offset, &word, sizeof(word));
  }
  const WordsLayout& late() const { return late_; }

  CallsToRecord calls;
  std::uint64_t kept_bytes = 0;

 private:
  // Stands for the index of the storage of known words until that storage is allocated.
  static constexpr std::uint32_t kKnownWords = 1;

  std::shared_ptr<Storage> keep(std::uint64_t bytes) {
    std::shared_ptr<Storage> storage = backend_.allocate(device_, bytes, false);
    calls.kept.push_back(storage);
    kept_bytes += bytes;
    return storage;
  }

  void place_arrays() {
    std::vector<ScratchArray> scratch(steps_.arrays.size());
    std::vector<bool> used(steps_.arrays.size(), false);
    for (std::size_t step = 0; step < steps_.steps.size(); ++step) {
      for_each_part(steps_.steps[step], [&](const Part& part) {
        ScratchArray& array = scratch[part.array];
        if (!used[part.array]) array = {steps_.arrays[part.array].bytes, step, step};
        array.last = step;
        used[part.array] = true;
      });
    }
    std::vector<std::size_t> laid_out;
    std::vector<ScratchArray> ranges;
    locations_.resize(steps_.arrays.size());
    std::map<const Storage*, std::uint32_t> tables;
    for (std::size_t index = 0; index < steps_.arrays.size(); ++index) {
      const FlatSteps::Array& array = steps_.arrays[index];
      if (array.kind == FlatSteps::Array::Kind::Given) {
        locations_[index] = {In::Slot, static_cast<std::uint32_t>(calls.slots.size())};
        calls.slots.push_back({array.name, array.bytes});
      } else if (used[index] && array.kind == FlatSteps::Array::Kind::Table) {
        const auto [found, added] = tables.emplace(array.table.get(), static_cast<std::uint32_t>(calls.kept.size()));
        if (added) calls.kept.push_back(array.table);
        locations_[index] = {In::Kept, found->second};
      } else if (used[index]) {
        laid_out.push_back(index);
        ranges.push_back(scratch[index]);
      }
    }
    const Workspace workspace = lay_out(ranges, kMostShared);
    const auto first_block = static_cast<std::uint32_t>(calls.kept.size());
    for (std::size_t k = 0; k < laid_out.size(); ++k) {
      locations_[laid_out[k]] = {In::Kept, first_block + workspace.locations[k].block, workspace.locations[k].offset};
    }
    for (const std::uint64_t bytes : workspace.blocks) keep(bytes);
  }

  RecordedArray located(const Part& part, std::uint32_t length, StorageView::Role role = StorageView::Role::Buffer) const {
    const Location& at = locations_[part.array];
    return {at.in, at.index, at.offset + part.offset, part.bytes, length, role};
  }

  void add(const FlatSteps::Dispatch& dispatch) {
    const validate::ValidProgram& program = *programs_[dispatch.program];
    CallToRecord call{programs_[dispatch.program], nullptr, dispatch.grid, {}};
    VYRE_ASSERT(dispatch.bound.size() == program.bound().size());
    try {
      for (std::size_t slot = 0; slot < dispatch.bound.size(); ++slot) {
        const ir::BufferDecl& decl = program.program().buffers()[program.bound()[slot].index];
        if (const Part* part = std::get_if<Part>(&dispatch.bound[slot])) {
          call.arrays.push_back(located(*part, buffer_length(decl, part->bytes)));
        } else {
          const Words& words = std::get<Words>(dispatch.bound[slot]);
          const bool known = std::ranges::all_of(words, [](const Number& word) { return word.late == Number::kKnown; });
          const std::uint64_t bytes = 4 * words.size();
          call.arrays.push_back(
              {In::Words, known ? kKnownWords : 0, (known ? known_ : late_).place(words), bytes, buffer_length(decl, bytes)});
        }
      }
      if (dispatch.counts) {
        call.arrays.push_back(located(*dispatch.counts, 3, dispatch.role));
      } else if (dispatch.live) {
        call.arrays.push_back(located(*dispatch.live, 3, StorageView::Role::Workgroups));
      }
      check_call(program, std::span<const RecordedArray>(call.arrays), dispatch.grid);
    } catch (const BindingError& error) {
      throw BindingError(fmt::format("{}: {}", place_of(dispatch), error.what()));
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", place_of(dispatch), error.what()));
    }
    try {
      add(std::move(call), dispatch.program);
    } catch (const CapabilityError& error) {
      throw CapabilityError(fmt::format("{}: {}", place_of(dispatch), error.what()));
    }
  }

  std::string place_of(const FlatSteps::Dispatch& dispatch) const {
    return place_text(steps_, dispatch.place, at_ < steps_.origins.size() ? steps_.origins[at_].frame : 0);
  }

  void add(const FlatSteps::Zero& zero) {
    const std::uint32_t element = fill_element(zero.part.offset, zero.part.bytes);
    add_filled(zero_program(element), element, {zero.part}, zero.live);
  }
  void add(const FlatSteps::Copy& copy) {
    VYRE_ASSERT(copy.from.bytes == copy.to.bytes);
    const std::uint32_t element = fill_element(copy.from.offset | copy.to.offset, copy.to.bytes);
    add_filled(copy_program(element), element, {copy.from, copy.to}, copy.live);
  }
  void add_filled(const ProfiledProgram& program, std::uint32_t element, const std::vector<Part>& parts, const std::optional<Part>& live) {
    const std::uint32_t index = own_program(program);
    const std::uint64_t elements = parts.back().bytes / element;
    for (std::uint64_t first = 0; first < elements; first += kMostFilled) {
      const auto count = static_cast<std::uint32_t>(std::min(kMostFilled, elements - first));
      CallToRecord call{program, nullptr, {(count + kFillInvocations - 1) / kFillInvocations, 1, 1}, {}};
      for (const Part& part : parts) {
        call.arrays.push_back(located({part.array, part.offset + first * element, std::uint64_t{count} * element}, count));
      }
      if (live) call.arrays.push_back(located(*live, 3, StorageView::Role::Workgroups));
      add(std::move(call), index);
    }
  }
  std::uint32_t own_program(const ProfiledProgram& program) {
    const auto found = std::ranges::find(programs_, program);
    if (found == programs_.end()) {
      programs_.push_back(program);
      executables_.emplace_back();
      return static_cast<std::uint32_t>(programs_.size() - 1);
    }
    return static_cast<std::uint32_t>(found - programs_.begin());
  }

  void add(CallToRecord call, std::uint32_t program) {
    if (call.grid.x == 0 || call.grid.y == 0 || call.grid.z == 0) return;
    std::vector<std::uint64_t> key = {program, call.grid.x, call.grid.y, call.grid.z};
    for (const RecordedArray& array : call.arrays) {
      const std::uint64_t kind = static_cast<std::uint64_t>(array.in) * 4 + static_cast<std::uint64_t>(array.role);
      key.insert(key.end(), {kind, array.index, array.offset, array.bytes});
    }
    const auto [found, added] = known_calls_.emplace(std::move(key), static_cast<std::uint32_t>(calls.calls.size()));
    if (added) {
      if (!executables_[program]) executables_[program] = prepare_(programs_[program]);
      call.executable = executables_[program];
      calls.calls.push_back(std::move(call));
    }
    calls.order.push_back(found->second);
  }

  struct Location {
    In in = In::Slot;
    std::uint32_t index = 0;
    std::uint64_t offset = 0;
  };
  const FlatSteps& steps_;
  Backend& backend_;
  const std::optional<std::size_t> device_;
  const PlannedSteps::Prepare& prepare_;
  std::size_t at_ = 0;  // the step that is added
  std::vector<ProfiledProgram> programs_;
  std::vector<std::shared_ptr<Executable>> executables_;
  std::vector<Location> locations_;
  WordsLayout known_, late_;
  std::unordered_map<std::vector<std::uint64_t>, std::uint32_t, HashOfWords> known_calls_;
};

}  // namespace

std::string callers_text(const FlatSteps& steps, std::uint32_t frame) {
  std::string text;
  for (std::uint32_t at = frame; at != 0; at = steps.frames[at].caller) {
    const FlatSteps::Place& caller = steps.places[steps.frames[at].place];
    text += fmt::format(", in the {}{}", caller.what, caller.at);
  }
  return text;
}

std::string place_text(const FlatSteps& steps, std::uint32_t place, std::uint32_t frame) {
  return steps.places[place].what + steps.places[place].at + callers_text(steps, frame);
}

PlannedSteps::PlannedSteps(const FlatSteps& steps, Backend& backend, std::optional<std::size_t> device, const Prepare& prepare,
                           const RunOptions& waiting) {
  Builder builder(steps, backend, device, prepare);
  builder.build(waiting);
  words_.resize(builder.late().bytes());
  for (const WordsLayout::List& list : builder.late().lists()) {
    for (std::size_t k = 0; k < list.words.size(); ++k) {
      const Number& word = list.words[k];
      if (word.late == Number::kKnown) {
        Builder::set_word(words_, list.offset + 4 * k, word.value);
      } else {
        late_words_.push_back({list.offset + 4 * k, word.late});
      }
    }
  }
  kept_bytes_ = builder.kept_bytes;
  dispatches_ = builder.calls.order.size();
  if (dispatches_ > 0) recording_ = backend.record(std::move(builder.calls), waiting);
}

std::vector<std::byte> PlannedSteps::words(std::span<const std::uint64_t> late) const {
  std::vector<std::byte> words = words_;
  for (const LateWord& word : late_words_) Builder::set_word(words, word.offset, late[word.late]);
  return words;
}

void PlannedSteps::submit(std::span<const StorageView> given, std::span<const std::uint64_t> late, const RunOptions& options) {
  if (!recording_) return;
  check_slots(*recording_, given);
  recording_->submit(given, words(late), options);
}

std::optional<Step> PlannedSteps::step(std::span<const StorageView> given, std::span<const std::uint64_t> late) {
  if (!recording_) return std::nullopt;
  check_slots(*recording_, given);
  return Step{recording_, {given.begin(), given.end()}, words(late)};
}

}  // namespace vyre::run
