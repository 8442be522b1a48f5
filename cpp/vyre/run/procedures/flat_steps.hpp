// The steps of a procedure for arrays of given lengths on a given device: every size is known, every condition is decided, and every
// repetition is unrolled. They become one recording (recording.hpp), with scratch memory of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "vyre/ir/fwd.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"

namespace vyre::run {

// A number that is known when the procedure is flattened, or a late number, whose value each submission gives.
struct Number {
  static constexpr std::uint32_t kKnown = ~std::uint32_t{0};
  std::uint64_t value = 0;
  std::uint32_t late = kKnown;  // the index among the late numbers of a submission
  bool operator==(const Number&) const = default;
};

struct FlatSteps {
  struct Array {
    enum class Kind : std::uint8_t { Given, Scratch, Table };
    Kind kind = Kind::Given;
    std::string name;  // for messages
    std::uint64_t bytes = 0;
    std::shared_ptr<Storage> table = nullptr;  // with the contents of a table
    ir::DataType element = ir::kU32;           // for messages
    std::uint32_t frame = 0, decl = 0;         // the frame that made it, and the ir::ArrayId there
  };
  // A part of an array, in bytes.
  struct Part {
    std::uint32_t array = 0;
    std::uint64_t offset = 0, bytes = 0;
    bool operator==(const Part&) const = default;
  };
  // Words for a Uniform buffer, each below 2^32: a call with a larger one is refused.
  using Words = std::vector<Number>;

  struct Dispatch {
    std::uint32_t program = 0;
    std::vector<std::variant<Part, Words>> bound;            // one for each bound buffer
    Grid grid;                                               // of workgroups; the largest one where the counts come from data
    std::optional<Part> counts = std::nullopt;               // three words
    StorageView::Role role = StorageView::Role::Workgroups;  // of the counts
    std::uint32_t place = 0;                                 // in `places`
    // Three words, as counts of workgroups: all 0 where the step does nothing, else so large that they change nothing (ends.hpp). `counts`
    // are 0 there too.
    std::optional<Part> live = std::nullopt;
  };
  struct Zero {
    Part part;
    bool written = true;  // a step or a declaration asks for the zeros; otherwise an array begins with them, which no step has written
    std::optional<Part> live = std::nullopt;  // as that of a Dispatch
  };
  struct Copy {
    Part from, to;                            // of one size, whole words unless they are whole arrays
    std::optional<Part> live = std::nullopt;  // as that of a Dispatch
  };
  using Step = std::variant<Dispatch, Zero, Copy>;

  // Which step of a procedure a flat step comes from. Each invocation has a frame of its own; frame 0 is the procedure itself.
  static constexpr std::uint32_t kNoStep = ~std::uint32_t{0};
  struct Frame {
    std::uint32_t caller = 0;      // the frame of the step that invoked the procedure
    std::uint32_t step = kNoStep;  // an ir::StepId of that frame's procedure
    std::uint32_t place = 0;       // of that step, in `places`; frame 0 has none
  };
  struct Place {
    std::string what;  // "dispatch `scaled` in procedure `p`"
    std::string at;    // " at steps[2] (file.py:12)"
  };
  struct Origin {
    std::uint32_t frame = 0;
    std::uint32_t step = kNoStep;  // none: a copy of results at the end of an invocation
  };

  std::vector<ProfiledProgram> programs;
  std::vector<Array> arrays;  // the given ones in the order in which a submission gives them
  std::vector<Step> steps;
  std::vector<Place> places;  // what messages call the steps
  std::vector<Frame> frames;
  std::vector<Origin> origins;  // of each step
  std::uint32_t late_numbers = 0;
};

// Visits the parts of arrays that a step, const or not, works with.
template <class FlatStep, class Visit>
void for_each_part(FlatStep& step, const Visit& visit) {
  if (auto* dispatch = std::get_if<FlatSteps::Dispatch>(&step)) {
    for (auto& bound : dispatch->bound) {
      if (auto* part = std::get_if<FlatSteps::Part>(&bound)) visit(*part);
    }
    if (dispatch->counts) visit(*dispatch->counts);
  } else if (auto* zero = std::get_if<FlatSteps::Zero>(&step)) {
    visit(zero->part);
  } else {
    visit(std::get<FlatSteps::Copy>(step).from);
    visit(std::get<FlatSteps::Copy>(step).to);
  }
  std::visit(
      [&](auto& each) {
        if (each.live) visit(*each.live);
      },
      step);
}

// Names the places of the invocations around a frame, the innermost first, each as ", in the invocation of ...".
std::string callers_text(const FlatSteps& steps, std::uint32_t frame);
// Returns the text that messages begin with: it names the place of a step, and those of the invocations around its frame.
std::string place_text(const FlatSteps& steps, std::uint32_t place, std::uint32_t frame);

class PlannedSteps {
 public:
  using Prepare = std::function<std::shared_ptr<Executable>(const ProfiledProgram&)>;
  // Checks the dispatches, makes their programs ready, and takes memory for the scratch arrays. Throws what check_call (checks.hpp) throws,
  // beginning with the place of the step; and what Backend::prepare, allocate and record throw.
  PlannedSteps(const FlatSteps& steps, Backend& backend, std::optional<std::size_t> device, const Prepare& prepare,
               const RunOptions& waiting);

  // Submits the recording, or returns the submission as a step, which is nothing if there is nothing to run. `given` has a view of each
  // given array, and `late` has the late numbers. Throws BindingError for given arrays that overlap while one of them is written.
  void submit(std::span<const StorageView> given, std::span<const std::uint64_t> late, const RunOptions& options);
  std::optional<Step> step(std::span<const StorageView> given, std::span<const std::uint64_t> late);
  bool usable() const { return recording_ == nullptr || recording_->usable(); }
  std::uint64_t kept_bytes() const { return kept_bytes_; }
  // See Recording.
  std::uint64_t times_recorded() const { return recording_ == nullptr ? 0 : recording_->times_recorded(); }
  std::size_t dispatches() const { return dispatches_; }

 private:
  std::vector<std::byte> words(std::span<const std::uint64_t> late) const;

  struct LateWord {
    std::uint64_t offset;
    std::uint32_t late;
  };
  std::shared_ptr<Recording> recording_;  // null when there is nothing to run
  std::vector<std::byte> words_;          // with zeros for the late numbers
  std::vector<LateWord> late_words_;
  std::uint64_t kept_bytes_ = 0;
  std::size_t dispatches_ = 0;
};

}  // namespace vyre::run
