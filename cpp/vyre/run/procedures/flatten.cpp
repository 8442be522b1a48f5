// How it works: Flattener walks over the steps, and each Invoke opens a frame. Each name of an array has an address: a flat array and an
// offset. A Swap exchanges two addresses. Each array that a frame makes is a flat array of its own. If such an array is an output when the
// frame ends, its flat array becomes an alias of the array that the invocation gave, so that no result is copied.
//
// A repetition that an element ends has a state (ends.hpp), by which its steps are live. All of its turns are flattened, so that behind it
// a name has the address that it has after all turns. Where swaps had given the name another address when the repetition ended, the array
// is copied from there.
#include "vyre/run/procedures/flatten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/ends.hpp"
#include "vyre/run/procedures/frame_numbers.hpp"
#include "vyre/run/procedures/unwritten.hpp"
#include "vyre/run/procedures/vouched.hpp"

namespace vyre::run {
namespace {

using ir::ArrayId;
using ir::ArrayRole;
using ir::SizeId;
using ir::SizeOp;
using ir::StepId;

constexpr std::uint64_t kMostElements = std::numeric_limits<std::uint32_t>::max();
// The most steps of any kind that are walked. Repetitions without dispatches need a limit too.
constexpr std::size_t kMostWalked = 10 * kMostDispatches;

// named() adds no place of a step to the message of this error.
struct TooManySteps : ArgumentError {
  using ArgumentError::ArgumentError;
};

// The address of an array: a flat array, and the offset in it at which the array begins.
struct Address {
  std::uint32_t array = 0;
  std::uint64_t offset = 0;
  bool operator==(const Address&) const = default;
};

class Flattener {
 public:
  Flattener(const ir::Procedure& procedure, const ToFlatten& given) : procedure_(procedure), given_(given) {}

  Flattened flatten() {
    const std::vector<bool> structural = structural_numbers(procedure_);
    std::vector<Number> numbers;
    for (std::uint32_t k = 0; k < structural.size(); ++k) {
      numbers.push_back(structural[k] ? Number{given_.numbers[k]} : Number{0, late({SizeOp::Number, k, {}, {}, {}})});
    }
    std::vector<Address> addresses;
    const std::vector<ArrayId> interface = procedure_.interface();
    for (const ArrayId id : interface) {
      addresses.push_back({static_cast<std::uint32_t>(result_.steps.arrays.size())});
      const ir::ArrayDecl& decl = procedure_.arrays()[id];
      result_.steps.arrays.push_back({FlatSteps::Array::Kind::Given, decl.name, 0, nullptr, decl.element, 0, id.index});
      begins_.emplace_back();
    }
    result_.shapes.assign(given_.shapes.begin(), given_.shapes.end());
    VYRE_ASSERT(given_.numbers.size() == structural.size());
    for (std::size_t k = 0; k < result_.shapes.size(); ++k) {
      VYRE_ASSERT(k < interface.size() && procedure_.arrays()[interface[k]].role != ArrayRole::Output);
      result_.steps.arrays[k].bytes = checked_bytes(procedure_, procedure_.arrays()[interface[k]], result_.shapes[k]);
    }
    const std::vector<Shape> outputs = run(procedure_, addresses, result_.shapes, std::move(numbers));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::size_t index = result_.shapes.size();
      result_.steps.arrays[index].bytes = bytes_of(procedure_.arrays()[interface[index]].element, outputs[k]);
      result_.shapes.push_back(outputs[k]);
    }
    insert_zeros();
    for (FlatSteps::Step& step : result_.steps.steps) {
      for_each_part(step, [&](FlatSteps::Part& part) { resolve(part); });
    }
    result_.steps.late_numbers = static_cast<std::uint32_t>(result_.late.size());
    return std::move(result_);
  }

 private:
  struct Frame;

  [[noreturn]] void too_many() const {
    const std::string turns = longest_.count == 0 ? std::string() : fmt::format(", and {} has {} turns", longest_.place, longest_.count);
    throw TooManySteps(fmt::format("procedure `{}` has more than {} dispatches for these arrays{}. Fix: call it with {}, several times.",
                                   procedure_.name(), kMostDispatches, turns, turns.empty() ? "less data" : "fewer turns or less data"));
  }

  void walk(std::size_t steps) {
    walked_ += steps;
    if (walked_ > kMostWalked) too_many();
  }

  // Returns the index of a late number. Equal terms share one number.
  std::uint32_t late(const LateNumbers::Term& term) {
    const auto key = std::tuple(term.op, term.number, term.a.value, term.a.late, term.b.value, term.b.late, term.c.value, term.c.late);
    const auto [found, added] = late_terms_.try_emplace(key, 0);
    if (added) found->second = result_.late.add(term);
    return found->second;
  }

  std::uint64_t checked_bytes(const ir::Procedure& procedure, const ir::ArrayDecl& decl, const Shape& shape) const {
    VYRE_ASSERT(shape.size() == decl.axes);
    const std::uint64_t total = element_count(shape);
    if (total > kMostElements) {
      throw ArgumentError(must_be(fmt::format("array `{}` of procedure `{}`", decl.name, procedure.name()),
                                  fmt::format("one of at most {} elements", kMostElements), "shape " + text_of(shape)));
    }
    return total * element_bytes(decl.element);
  }

  std::uint32_t new_array(const ir::ArrayDecl& decl, std::uint32_t frame, std::uint32_t id, std::uint64_t bytes, bool is_vouched,
                          std::shared_ptr<Storage> table = nullptr) {
    const auto kind = table ? FlatSteps::Array::Kind::Table : FlatSteps::Array::Kind::Scratch;
    begins_.push_back({.begin = {.zeros = kind == FlatSteps::Array::Kind::Scratch && (decl.zeros || !is_vouched), .live = live_},
                       .is_declared = decl.zeros,
                       .origin = {}});
    result_.steps.arrays.push_back({kind, decl.name, bytes, std::move(table), decl.element, frame, id});
    return static_cast<std::uint32_t>(result_.steps.arrays.size() - 1);
  }

  // Returns an array for what is copied or counted between steps of a procedure. Each use writes it first.
  FlatSteps::Part new_part(const char* name, std::uint64_t bytes) {
    result_.steps.arrays.push_back({FlatSteps::Array::Kind::Scratch, name, bytes});
    begins_.emplace_back();
    return {static_cast<std::uint32_t>(result_.steps.arrays.size() - 1), 0, bytes};
  }

  // Appends a step that does nothing where the repetitions around it have ended.
  void append(FlatSteps::Step step) {
    std::visit([&](auto& each) { each.live = live_; }, step);
    append_always(std::move(step));
  }
  void append_always(FlatSteps::Step step) {
    if (result_.steps.steps.size() >= kMostDispatches) too_many();
    result_.steps.steps.push_back(std::move(step));
    result_.steps.origins.push_back(now_);
  }

  // A program of vyre's own, which runs in one workgroup.
  void append_own(const ProfiledProgram& program, std::vector<std::variant<FlatSteps::Part, FlatSteps::Words>> bound) {
    append_always(FlatSteps::Dispatch{.program = own_program(program), .bound = std::move(bound), .grid = {1, 1, 1}, .place = place_});
  }
  std::uint32_t own_program(const ProfiledProgram& program) {
    // Two procedures may have the same program.
    std::vector<ProfiledProgram>& programs = result_.steps.programs;
    const auto same = std::ranges::find(programs, program);
    const auto found = static_cast<std::uint32_t>(same - programs.begin());
    if (same == programs.end()) programs.push_back(program);
    return found;
  }

  // Copies arrays to other places, through memory of their own because two of them may change places.
  struct Move {
    FlatSteps::Part from, to;
  };
  void append_moves(std::span<const Move> moves) {
    std::vector<FlatSteps::Part> between;
    for (const Move& move : moves) {
      between.push_back(new_part("copy", move.from.bytes));
      touch(move.from.array);
      touch(move.to.array);
      append(FlatSteps::Copy{move.from, between.back()});
    }
    for (std::size_t k = 0; k < moves.size(); ++k) append(FlatSteps::Copy{between[k], moves[k].to});
  }

  // Notes that the next step uses an array.
  void touch(std::uint32_t array) {
    Begin& begins = begins_[array];
    if (begins.begin.first != ArrayBegin::kNever) return;
    begins.begin.first = result_.steps.steps.size();
    begins.origin = now_;
  }

  // Arrays begin as zeros: what may be read before it is written is zeroed before the array is first used.
  void insert_zeros() {
    FlatSteps& steps = result_.steps;
    std::vector<ArrayBegin> begins;
    for (const Begin& each : begins_) begins.push_back(each.begin);
    const std::vector<NeededZeros> needed = needed_zeros(steps, begins, handed_over_);
    if (needed.empty()) return;
    if (steps.steps.size() + needed.size() > kMostDispatches) too_many();
    std::vector<FlatSteps::Step> all;
    std::vector<FlatSteps::Origin> origins;
    std::size_t next = 0;
    for (std::size_t at = 0; at <= steps.steps.size(); ++at) {
      for (; next < needed.size() && needed[next].before == at; ++next) {
        const Begin& begin = begins_[needed[next].part.array];
        all.emplace_back(FlatSteps::Zero{needed[next].part, begin.is_declared, begin.begin.live});
        origins.push_back(begin.origin);
      }
      if (at == steps.steps.size()) break;
      all.push_back(std::move(steps.steps[at]));
      origins.push_back(steps.origins[at]);
    }
    steps.steps = std::move(all);
    steps.origins = std::move(origins);
  }

  // Follows aliases: the flat array of an invoked procedure's output is an alias of the array that the invocation gave for it.
  void resolve(FlatSteps::Part& part) {
    for (;;) {
      const auto found = aliases_.find(part.array);
      if (found == aliases_.end()) return;
      part.array = found->second.array;
      part.offset += found->second.offset;
    }
  }

  std::vector<Shape> run(const ir::Procedure& procedure, std::span<const Address> addresses, std::span<const Shape> shapes,
                         std::vector<Number> numbers);

  const ir::Procedure& procedure_;
  const ToFlatten& given_;
  Flattened result_;
  struct Begin {
    ArrayBegin begin;
    bool is_declared = false;  // its declaration says that it begins as zeros
    FlatSteps::Origin origin;  // of the step that uses it first
  };
  std::vector<Begin> begins_;  // of each flat array
  std::vector<HandedOver> handed_over_;
  std::unordered_map<std::uint32_t, Address> aliases_;
  std::map<std::tuple<SizeOp, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t>,
           std::uint32_t>
      late_terms_;
  std::map<const std::byte*, std::uint32_t> tables_;  // flat arrays, by the contents
  std::map<std::pair<const std::string*, std::uint32_t>, std::uint32_t> programs_;
  std::map<std::pair<const std::string*, std::uint32_t>, std::uint32_t> step_places_;
  std::map<std::tuple<const std::string*, std::uint32_t, std::vector<std::uint64_t>>, std::uint32_t> marks_;  // Frame::mark_of
  std::size_t walked_ = 0;
  struct {
    std::uint64_t count = 0;
    std::string place;
  } longest_;                            // the repetition with the most turns that has begun
  std::optional<FlatSteps::Part> live_;  // of the steps that are appended
  FlatSteps::Origin now_;                // the step that is walked
  std::uint32_t place_ = 0;              // of that step, in FlatSteps::places
};

// One run of a procedure.
struct Flattener::Frame {
  Frame(Flattener& of, const ir::Procedure& run, std::vector<Number> given)
      : flattener(of),
        procedure(run),
        addresses(run.arrays().size()),
        shapes(run.arrays().size()),
        numbers(
            run, std::move(given), shapes, of.given_.limit, [&of](const LateNumbers::Term& term) { return of.late(term); },
            [this](std::uint32_t late, const ir::NumberDecl& number) {
              return flattener.result_.late.add_size(
                  late, number.type, fmt::format("{}: number `{}` of procedure `{}`", place_text(), number.name, procedure.name()));
            }),
        frame(static_cast<std::uint32_t>(of.result_.steps.frames.size())) {
    FlatSteps& steps = of.result_.steps;
    steps.frames.push_back({of.now_.frame, of.now_.step, of.place_});
    of.now_ = {frame, FlatSteps::kNoStep};
  }
  // `numbers` refers to `shapes`.
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // --- numbers ---

  // Returns a size that must be known now, because shapes or steps depend on it.
  std::uint64_t value(SizeId id) {
    const Number found = numbers.size(id);
    VYRE_ASSERT(found.late == Number::kKnown);
    return found.value;
  }
  void set_turn(std::uint32_t turn, std::uint64_t value) {
    flattener.walk(1 + procedure.sizes().size() / 64);
    numbers.set_turn(turn, value);
  }

  // --- arrays ---

  const ir::ArrayDecl& decl(ArrayId id) const { return procedure.arrays()[id]; }

  void make_arrays() {
    const bool whole = is_vouched(procedure);
    for (std::uint32_t index = 0; index < procedure.arrays().size(); ++index) {
      const ArrayId id{index};
      const ir::ArrayDecl& array = decl(id);
      if (array.role == ArrayRole::Input || array.role == ArrayRole::InOut) continue;
      for (const SizeId size : array.shape) {
        try {
          shapes[id].push_back(value(size));
        } catch (const ArgumentError& error) {
          throw ArgumentError(fmt::format("array `{}` of procedure `{}`{}: {}", array.name, procedure.name(),
                                          callers_text(flattener.result_.steps, frame), error.what()));
        }
      }
      const std::uint64_t bytes = flattener.checked_bytes(procedure, array, shapes[id]);
      if (array.role == ArrayRole::Table) {
        VYRE_ASSERT(array.contents != nullptr && array.contents->size() == bytes);
        const auto [found, added] = flattener.tables_.try_emplace(array.contents->data(), 0);
        if (added) found->second = flattener.new_array(array, frame, index, bytes, true, flattener.given_.table(array));
        addresses[id] = {found->second};
      } else {
        addresses[id] = {flattener.new_array(array, frame, index, bytes, whole)};
      }
    }
  }

  // Returns the address and the bytes of a part of an array.
  FlatSteps::Part part_of(const ir::ArrayPart& part) {
    const ir::ArrayDecl& array = decl(part.array);
    const Address& whole = addresses[part.array];
    // A view has as many elements as fit.
    const std::uint64_t element = element_bytes(part.view.value_or(array.element));
    const std::uint64_t bytes = bytes_of(array.element, shapes[part.array]) / element * element;
    if (!part.offset.valid()) return {whole.array, whole.offset, bytes};
    const std::uint64_t elements = bytes / element, offset = value(part.offset), length = value(part.length);
    if (offset > elements || length > elements - offset) {
      throw ArgumentError(must_be(fmt::format("the slice of array `{}` of procedure `{}`", array.name, procedure.name()),
                                  fmt::format("one within its {} elements", elements),
                                  fmt::format("{} elements from {} on", length, offset)));
    }
    return {whole.array, whole.offset + offset * element, length * element};
  }
  Shape shape_of(const ir::ArrayPart& part) {
    Shape shape = shapes[part.array];
    const ir::ArrayDecl& array = decl(part.array);
    if (part.offset.valid()) {
      const std::uint64_t row = element_count(std::span(shape).subspan(1));
      shape[0] = row == 0 ? 0 : value(part.length) / row;
    } else if (part.view) {
      shape[0] = shape[0] * element_bytes(array.element) / element_bytes(*part.view);
    }
    return shape;
  }

  // --- steps ---

  // Notes the place of the step that is walked now. All runs of a step have one place.
  void note_place(StepId id, const ir::StepKind& step) {
    const auto [found, added] = flattener.step_places_.try_emplace({&procedure.bytes(), id.index}, 0);
    if (added) {
      found->second = static_cast<std::uint32_t>(flattener.result_.steps.places.size());
      const std::string_view line = procedure.line(id);
      flattener.result_.steps.places.push_back(
          {described(step), line.empty() ? fmt::format(" at steps[{}]", id.index) : fmt::format(" at steps[{}] ({})", id.index, line)});
    }
    flattener.place_ = found->second;
  }
  std::string described(const ir::StepKind& step) const {
    const std::string what = std::visit(
        overloaded{
            [](const ir::Dispatch& each) { return fmt::format("dispatch `{}`", each.name); },
            [&](const ir::Invoke& each) { return fmt::format("invocation of `{}`", procedure.invoked(each).name()); },
            [](const ir::Swap&) -> std::string { return "vyre.swap"; }, [](const ir::Require&) -> std::string { return "a requirement"; },
            [&](const ir::Clear& each) { return fmt::format("clearing `{}`", decl(each.part.array).name); },
            [](const ir::Repeat&) -> std::string { return "a repetition"; }, [](const auto&) -> std::string { return "a condition"; }},
        step);
    return fmt::format("{} in procedure `{}`", what, procedure.name());
  }
  // Returns the text that messages of the current step begin with.
  std::string place_text() const { return run::place_text(flattener.result_.steps, flattener.place_, frame); }
  std::uint32_t program_of(std::uint32_t index) {
    const auto [found, added] = flattener.programs_.try_emplace({&procedure.bytes(), index}, 0);
    if (added) {
      found->second = flattener.own_program(flattener.given_.valid(procedure.programs()[index]));
    }
    return found->second;
  }

  // Returns a size that must fit into a type. `use` describes it.
  template <class Use>
  Number fitting(const Number& found, ir::DataType type, const Use& use) {
    if (found.late == Number::kKnown) {
      if (found.value > largest_size(type)) check_fits(found.value, type, use());
    } else if (LateNumbers& late = flattener.result_.late; !late.is_limited(found.late, type)) {
      ir::WordUse told = use();
      told.what = fmt::format("{}: {}", place_text(), told.what);
      late.limit({found.late, type, std::move(told)});
    }
    return found;
  }
  FlatSteps::Words words_of(const ir::Dispatch& step, std::size_t slot, const ir::Words& sizes) {
    FlatSteps::Words words;
    const std::span<const ir::WordUse> uses = procedure.word_uses(step);
    for (const SizeId size : sizes) {
      const std::size_t at = words.size();
      const auto use = [&]() -> ir::WordUse {
        if (at < uses.size()) return uses[at];
        const validate::ValidProgram& program = *flattener.result_.steps.programs[program_of(step.program)];
        const std::string& buffer = program.program().buffers()[program.bound()[slot].index].name;
        return {fmt::format("word {} of buffer `{}`", at, buffer), "write `(size % 4294967296)` for the low 32 bits of the size"};
      };
      words.push_back(fitting(numbers.bits(size), ir::DataType::U32, use));
    }
    return words;
  }

  void dispatch(const ir::Dispatch& step) {
    FlatSteps::Dispatch flat;
    std::array<std::uint64_t, 3> groups{};
    for (std::size_t axis = 0; axis < 3; ++axis) groups[axis] = value(step.grid.most[axis]);
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return;
    for (const std::uint64_t count : groups) {
      if (count <= kMostElements) continue;
      throw ArgumentError(must_be("its grid", fmt::format("at most {} workgroups along an axis", kMostElements), std::to_string(count)));
    }
    flat.grid = {static_cast<std::uint32_t>(groups[0]), static_cast<std::uint32_t>(groups[1]), static_cast<std::uint32_t>(groups[2])};
    flat.program = program_of(step.program);
    flat.place = flattener.place_;
    for (const auto& bound : step.bound) {
      if (const auto* part = std::get_if<ir::ArrayPart>(&bound)) {
        flat.bound.emplace_back(part_of(*part));
        flattener.touch(addresses[part->array].array);
      } else {
        flat.bound.emplace_back(words_of(step, flat.bound.size(), std::get<ir::Words>(bound)));
      }
    }
    if (step.grid.counts) {
      flat.counts = part_of(*step.grid.counts);
      if (flat.counts->bytes != kCountsBytes) {
        throw BindingError(must_be(fmt::format("the array `{}` of its grid", decl(step.grid.counts->array).name), "one of three counts",
                                   std::to_string(flat.counts->bytes / 4)));
      }
      flattener.touch(addresses[step.grid.counts->array].array);
      if (step.grid.counts_invocations) flat.role = StorageView::Role::Invocations;
      if (flattener.live_) {
        const FlatSteps::Part counts = flattener.new_part("counts", kCountsBytes);
        flattener.append_own(counts_program(), {*flattener.live_, *flat.counts, counts});
        flat.counts = counts;
      }
    }
    flattener.append(std::move(flat));
  }

  void invoke(const ir::Invoke& step) {
    const ir::Procedure& inner = procedure.invoked(step);
    const std::vector<ArrayId> interface = inner.interface();
    const std::uint32_t place = flattener.place_;
    VYRE_ASSERT(step.arrays.size() == interface.size() && step.numbers.size() == inner.numbers().size());
    std::vector<Address> inner_addresses;
    std::vector<Shape> inner_shapes;
    std::vector<Number> inner_numbers;
    named([&] {
      std::vector<FlatSteps::Part> parts;
      for (std::size_t k = 0; k < interface.size(); ++k) {
        parts.push_back(part_of(step.arrays[k]));
        flattener.touch(parts.back().array);
        inner_addresses.push_back({parts.back().array, parts.back().offset});
        if (inner.arrays()[interface[k]].role != ArrayRole::Output) inner_shapes.push_back(shape_of(step.arrays[k]));
      }
      check_overlaps(inner, interface, parts);
      for (std::size_t k = 0; k < step.numbers.size(); ++k) {
        const ir::NumberDecl& declared = inner.numbers()[k];
        const auto use = [&]() -> ir::WordUse {
          return {fmt::format("number `{}`", declared.name), fmt::format("pass one from 0 to {}", largest_size(declared.type))};
        };
        inner_numbers.push_back(passed_on(step.numbers[k], declared.type, use));
      }
    });
    const std::vector<Shape> outputs = flattener.run(inner, inner_addresses, inner_shapes, std::move(inner_numbers));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::size_t slot = interface.size() - outputs.size() + k;
      const Shape wanted = shape_of(step.arrays[slot]);
      if (wanted == outputs[k]) continue;
      flattener.place_ = place;
      throw BindingError(must_be(fmt::format("{}: the array given for output `{}`", place_text(), inner.arrays()[interface[slot]].name),
                                 "one of shape " + text_of(outputs[k]), "shape " + text_of(wanted)));
    }
  }
  // Returns a number for an invocation. One of a signed type takes a literal or a number of its type as bits, and sizes that it holds.
  template <class Use>
  Number passed_on(SizeId id, ir::DataType type, const Use& use) {
    const ir::SizeTerm& term = procedure.sizes()[id];
    const bool is_bits = (term.op == SizeOp::Literal && term.literal <= largest_number(type)) ||
                         (term.op == SizeOp::Number && procedure.numbers()[term.a].type == type);
    if (ir::is_signed(type) && is_bits) return numbers.bits(id);
    return fitting(numbers.size(id), type, use);
  }
  static void check_overlaps(const ir::Procedure& inner, std::span<const ArrayId> interface, std::span<const FlatSteps::Part> parts) {
    const auto role = [&](std::size_t k) { return inner.arrays()[interface[k]].role; };
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (std::size_t other = 0; other < k; ++other) {
        const FlatSteps::Part &a = parts[other], &b = parts[k];
        if (role(other) == ArrayRole::Input && role(k) == ArrayRole::Input) continue;
        if (a.array != b.array || a.offset >= b.offset + b.bytes || b.offset >= a.offset + a.bytes) continue;
        throw overlapping(inner.arrays()[interface[other]].name, inner.arrays()[interface[k]].name);
      }
    }
  }

  void swap(const ir::Swap& step) {
    if (shapes[step.a] != shapes[step.b]) {
      throw ArgumentError(must_be(fmt::format("`{}`, which it exchanges,", decl(step.b).name), "one of shape " + text_of(shapes[step.a]),
                                  "shape " + text_of(shapes[step.b])));
    }
    std::swap(addresses[step.a], addresses[step.b]);
  }

  // A repetition that is walked.
  struct Turns {
    StepId opener;
    std::uint64_t turn, count;
    // A repetition that an element ends has these as well.
    std::optional<FlatSteps::Part> outer = std::nullopt;  // by what the steps behind it are live
    std::vector<ArrayId> exchanged = {};                  // the arrays that its swaps name
    std::map<std::uint32_t, std::vector<Address>> lay{};  // by the mark of a turn, where these arrays lay when it began
  };
  const ir::Repeat& repeat_of(const Turns& turns) const { return std::get<ir::Repeat>(procedure.steps()[turns.opener]); }

  Turns begin(StepId id, const ir::Repeat& repeat, std::uint64_t count) {
    Turns turns{id, 0, count};
    if (count > flattener.longest_.count) flattener.longest_ = {count, place_text()};
    if (repeat.until) {
      turns.outer = flattener.live_;
      const FlatSteps::Part state = flattener.new_part("state", kStateBytes);
      FlatSteps::Words going_on;
      for (const std::uint32_t word : kGoingOn) going_on.push_back({word});
      if (turns.outer) {
        flattener.append_own(begin_program(), {FlatSteps::Part{turns.outer->array, 0, kStateBytes}, state});
      } else {
        flattener.append_own(begin_program(), {going_on, state});
      }
      flattener.live_ = FlatSteps::Part{state.array, 0, kCountsBytes};
      for (StepId at{id.index + 1}; at < repeat.end; ++at.index) {
        const auto* swap = std::get_if<ir::Swap>(&procedure.steps()[at]);
        if (swap != nullptr) turns.exchanged.insert(turns.exchanged.end(), {swap->a, swap->b});
      }
      std::ranges::sort(turns.exchanged);
      turns.exchanged.erase(std::unique(turns.exchanged.begin(), turns.exchanged.end()), turns.exchanged.end());
    }
    begin_turn(turns);
    return turns;
  }
  void begin_turn(Turns& turns) {
    const ir::Repeat& repeat = repeat_of(turns);
    if (repeat.until) {
      note_place(turns.opener, repeat);
      flattener.now_.step = turns.opener.index;
      named([&] {
        const ir::ArrayDecl& array = decl(repeat.until->array);
        const FlatSteps::Part element = part_of(*repeat.until);
        const ir::DataType type = repeat.until->view.value_or(array.element);
        const std::uint64_t bytes = element_bytes(type);
        if (element.bytes != bytes) {
          throw BindingError(must_be(fmt::format("the array `{}` that ends it", array.name),
                                     fmt::format("one element, such as {}[0:1]", array.name), std::to_string(element.bytes / bytes)));
        }
        flattener.touch(element.array);
        const FlatSteps::Words mark = {{mark_of(turns)}};
        flattener.append_own(turn_program(type), {element, mark, FlatSteps::Part{flattener.live_->array, 0, kStateBytes}});
      });
    }
    set_turn(repeat.turn, turns.turn);
  }
  void end(const Turns& turns) {
    if (!repeat_of(turns).until) return;
    note_place(turns.opener, repeat_of(turns));
    flattener.now_.step = turns.opener.index;
    const FlatSteps::Part state{flattener.live_->array, 0, kStateBytes};
    for (const auto& [mark, lay] : turns.lay) {
      std::vector<Move> moves;
      for (std::size_t k = 0; k < turns.exchanged.size(); ++k) {
        const Address& now = addresses[turns.exchanged[k]];
        const std::uint64_t bytes = bytes_of(decl(turns.exchanged[k]).element, shapes[turns.exchanged[k]]);
        if (lay[k] != now && bytes > 0) moves.push_back({{lay[k].array, lay[k].offset, bytes}, {now.array, now.offset, bytes}});
      }
      if (moves.empty()) continue;
      flattener.live_ = flattener.new_part("counts", kCountsBytes);
      flattener.append_own(ended_at_program(), {state, FlatSteps::Words{{mark}}, *flattener.live_});
      flattener.append_moves(moves);
    }
    flattener.live_ = turns.outer;
  }
  // Turns that began with the exchanged arrays at the same places have one mark, and no other repetition has it: an inner one begins with
  // the state of the outer one.
  std::uint32_t mark_of(Turns& turns) {
    if (turns.exchanged.empty()) return 0;
    std::vector<Address> lay;
    std::vector<std::uint64_t> places;
    for (const ArrayId id : turns.exchanged) {
      lay.push_back(addresses[id]);
      places.insert(places.end(), {addresses[id].array, addresses[id].offset});
    }
    std::tuple key(&procedure.bytes(), turns.opener.index, std::move(places));
    const std::uint32_t mark = flattener.marks_.try_emplace(std::move(key), flattener.marks_.size() + 1).first->second;
    turns.lay.try_emplace(mark, std::move(lay));
    return mark;
  }

  void walk() {
    std::vector<Turns> repeats;
    StepId at{0};
    const auto go_on = [&](StepId id) { return StepId{id.index + 1}; };
    while (at.index < procedure.steps().size()) {
      flattener.walk(1);
      flattener.now_ = {frame, at.index};
      const ir::StepKind& kind = procedure.steps()[at];
      if (!std::holds_alternative<ir::EndStep>(kind) && !std::holds_alternative<ir::Otherwise>(kind)) note_place(at, kind);
      if (const auto* each = std::get_if<ir::Dispatch>(&kind)) {
        named([&] { dispatch(*each); });
      } else if (const auto* invocation = std::get_if<ir::Invoke>(&kind)) {
        invoke(*invocation);
      } else if (const auto* exchanged = std::get_if<ir::Swap>(&kind)) {
        named([&] { swap(*exchanged); });
      } else if (const auto* cleared = std::get_if<ir::Clear>(&kind)) {
        named([&] { clear(cleared->part); });
      } else if (const auto* required = std::get_if<ir::Require>(&kind)) {
        std::uint64_t condition = 0;
        named([&] { condition = value(required->condition); });
        if (condition == 0) throw ArgumentError(required->message);
      } else if (const auto* repeat = std::get_if<ir::Repeat>(&kind)) {
        std::uint64_t count = 0;
        named([&] { count = value(repeat->count); });
        if (count == 0) {
          at = go_on(repeat->end);
          continue;
        }
        repeats.push_back(begin(at, *repeat, count));
      } else if (const auto* when = std::get_if<ir::When>(&kind)) {
        std::uint64_t condition = 0;
        named([&] { condition = value(when->condition); });
        if (condition == 0) {
          at = go_on(when->otherwise.valid() ? when->otherwise : when->end);
          continue;
        }
      } else if (const auto* otherwise = std::get_if<ir::Otherwise>(&kind)) {
        at = go_on(otherwise->end);
        continue;
      } else if (!repeats.empty() && repeats.back().opener == std::get<ir::EndStep>(kind).opener) {
        Turns& turns = repeats.back();
        if (++turns.turn < turns.count) {
          begin_turn(turns);
          at = go_on(turns.opener);
          continue;
        }
        end(turns);
        repeats.pop_back();
      }
      at = go_on(at);
    }
  }
  // Does the work of the step that is walked now, with its place in messages.
  template <class Work>
  void named(const Work& work) const {
    try {
      work();
    } catch (const TooManySteps&) {
      throw;
    } catch (const BindingError& error) {
      throw BindingError(fmt::format("{}: {}", place_text(), error.what()));
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", place_text(), error.what()));
    }
  }

  void clear(const ir::ArrayPart& part) {
    const FlatSteps::Part flat = part_of(part);
    flattener.touch(flat.array);
    if (flat.bytes > 0) flattener.append(FlatSteps::Zero{flat});
  }

  Flattener& flattener;
  const ir::Procedure& procedure;
  IdVector<ArrayId, Address> addresses;
  IdVector<ArrayId, Shape> shapes;
  FrameNumbers numbers;
  const std::uint32_t frame;
};

std::vector<Shape> Flattener::run(const ir::Procedure& procedure, std::span<const Address> addresses, std::span<const Shape> shapes,
                                  std::vector<Number> numbers) {
  walk(1 + (procedure.arrays().size() + procedure.sizes().size()) / 64);
  Frame frame(*this, procedure, std::move(numbers));
  const std::vector<ArrayId> interface = procedure.interface();
  VYRE_ASSERT(addresses.size() == interface.size());
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    frame.addresses[interface[k]] = addresses[k];
    frame.shapes[interface[k]] = shapes[k];
  }
  const auto first_own = static_cast<std::uint32_t>(result_.steps.arrays.size());
  frame.make_arrays();
  frame.walk();
  // Some arrays do not lie where the invocation wants them. An output in memory of this frame becomes an alias of the wanted array. The
  // others are copied.
  now_ = {frame.frame, FlatSteps::kNoStep};
  std::vector<Move> moves;
  std::vector<Shape> outputs;
  for (std::size_t k = 0; k < interface.size(); ++k) {
    const ir::ArrayDecl& decl = procedure.arrays()[interface[k]];
    const Address& now = frame.addresses[interface[k]];
    const std::uint64_t bytes = bytes_of(decl.element, frame.shapes[interface[k]]);
    if (decl.role == ArrayRole::Output) {
      outputs.push_back(frame.shapes[interface[k]]);
      touch(now.array);
      if (now.array >= first_own && now.offset == 0 && !aliases_.contains(now.array)) {
        aliases_[now.array] = addresses[k];
        handed_over_.push_back({result_.steps.steps.size(), now.array, {addresses[k].array, addresses[k].offset, bytes}, live_});
        continue;
      }
    } else if (decl.role == ArrayRole::Input || (now.array == addresses[k].array && now.offset == addresses[k].offset)) {
      continue;
    }
    if (bytes > 0) moves.push_back({{now.array, now.offset, bytes}, {addresses[k].array, addresses[k].offset, bytes}});
  }
  append_moves(moves);
  return outputs;
}

}  // namespace

Flattened flatten(const ir::Procedure& procedure, const ToFlatten& given) { return Flattener(procedure, given).flatten(); }

}  // namespace vyre::run
