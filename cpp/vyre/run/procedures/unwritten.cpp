// How it works: one walk over the steps keeps for each array which bytes are certainly written. A read of others adds them to what the
// array needs as zeros; this is one part of the array, which is filled before its first use. Reads and writes of dispatches come from
// reach.hpp.
#include "vyre/run/procedures/unwritten.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "vyre/ir/data_type.hpp"
#include "vyre/run/reach/reach.hpp"

namespace vyre::run {
namespace {

using Part = FlatSteps::Part;

// The most ranges of an array that are kept; more of them are taken as not written.
constexpr std::size_t kMostKnownRanges = 1024;
// The most expressions of programs that are looked at in all. Beyond it, dispatches are taken to read everything and to write nothing.
constexpr std::size_t kMostLookedAt = 4'000'000;

class Bytes {
 public:
  void add(Range range) {
    if (range.begin >= range.end) return;
    auto first = std::ranges::lower_bound(ranges_, range.begin, {}, &Range::end);
    auto last = first;
    for (; last != ranges_.end() && last->begin <= range.end; ++last) {
      range = {std::min(range.begin, last->begin), std::max(range.end, last->end)};
    }
    if (first == last && ranges_.size() >= kMostKnownRanges) return;
    ranges_.insert(ranges_.erase(first, last), range);
  }
  // Returns the smallest range that has what is missing in the given one.
  Range missing(Range range) const {
    for (const Range& each : ranges_) {
      if (each.begin <= range.begin && range.begin < each.end) range.begin = std::min(each.end, range.end);
      if (each.begin < range.end && range.end <= each.end) range.end = std::max(each.begin, range.begin);
    }
    return range;
  }

 private:
  std::vector<Range> ranges_;  // in order, apart from each other
};

class Search {
 public:
  Search(const FlatSteps& steps, std::span<const ArrayBegin> begins) : steps_(steps), begins_(begins), arrays_(begins.size()) {}

  std::vector<NeededZeros> found(std::span<const HandedOver> handed_over) {
    std::size_t next = 0;
    for (std::size_t at = 0;; ++at) {
      for (; next < handed_over.size() && handed_over[next].after == at; ++next) {
        const HandedOver& each = handed_over[next];
        read({each.array, 0, steps_.arrays[each.array].bytes});
        write(each.to, each.live);
      }
      if (at == steps_.steps.size()) break;
      std::visit([&](const auto& step) { enter(step); }, steps_.steps[at]);
    }
    std::vector<NeededZeros> needed;
    for (std::uint32_t index = 0; index < arrays_.size(); ++index) {
      const Range& zeros = arrays_[index].zeros;
      if (zeros.begin < zeros.end) needed.push_back({begins_[index].first, {index, zeros.begin, zeros.end - zeros.begin}});
    }
    std::ranges::stable_sort(needed, {}, &NeededZeros::before);
    return needed;
  }

 private:
  struct Array {
    Bytes written;
    Range zeros;           // what it needs
    bool settled = false;  // all of it is written, or needed
  };

  bool is_open(const Part& part) const { return begins_[part.array].zeros && !arrays_[part.array].settled; }
  void read(const Part& part) {
    if (!is_open(part) || part.bytes == 0) return;
    Array& array = arrays_[part.array];
    const Range missing = array.written.missing({part.offset, part.offset + part.bytes});
    if (missing.begin >= missing.end) return;
    array.zeros = array.zeros.begin == array.zeros.end
                      ? missing
                      : Range{std::min(array.zeros.begin, missing.begin), std::max(array.zeros.end, missing.end)};
    settle(part.array);
  }
  // A step that may do nothing writes for certain only what is made together with it.
  void write(const Part& part, const std::optional<Part>& live) {
    if (!is_open(part) || live != begins_[part.array].live) return;
    arrays_[part.array].written.add({part.offset, part.offset + part.bytes});
    settle(part.array);
  }
  void settle(std::uint32_t index) {
    Array& array = arrays_[index];
    Bytes known = array.written;
    known.add(array.zeros);
    const Range missing = known.missing({0, steps_.arrays[index].bytes});
    array.settled = missing.begin >= missing.end;
  }

  void enter(const FlatSteps::Zero& zero) { write(zero.part, zero.live); }
  void enter(const FlatSteps::Copy& copy) {
    read(copy.from);
    write(copy.to, copy.live);
  }
  void enter(const FlatSteps::Dispatch& dispatch) {
    if (dispatch.counts) read(*dispatch.counts);
    bool matters = false;
    for (const auto& bound : dispatch.bound) {
      const Part* part = std::get_if<Part>(&bound);
      matters = matters || (part != nullptr && is_open(*part));
    }
    if (!matters) return;
    const std::vector<Reach>* const reach = reach_of(dispatch);
    const auto each_slot = [&](const auto& visit) {
      for (std::size_t slot = 0; slot < dispatch.bound.size(); ++slot) {
        if (const Part* part = std::get_if<Part>(&dispatch.bound[slot])) visit(slot, *part);
      }
    };
    if (reach == nullptr) {
      each_slot([&](std::size_t, const Part& part) { read(part); });
      return;
    }
    const auto& program = *steps_.programs[dispatch.program];
    const auto bytes_of = [&](std::size_t slot, const Part& part, const Range& range) -> Part {
      const std::uint64_t element = element_bytes(program.program().buffers()[program.bound()[slot].index]);
      const std::uint64_t begin = std::min(range.begin * element, part.bytes), end = std::min(range.end * element, part.bytes);
      return {part.array, part.offset + begin, end - begin};
    };
    each_slot([&](std::size_t slot, const Part& part) { read(bytes_of(slot, part, (*reach)[slot].read)); });
    each_slot([&](std::size_t slot, const Part& part) {
      for (const Range& range : (*reach)[slot].written) write(bytes_of(slot, part, range), dispatch.live);
    });
  }

  // The bytes of what an index counts, and how many of these an array has.
  static std::uint64_t element_bytes(const ir::BufferDecl& decl) {
    return decl.element == ir::DataType::Bytes ? 4 : std::max(ir::min_bytes(decl.element), 1u);
  }
  static std::uint64_t length_of(const ir::BufferDecl& decl, std::uint64_t bytes) {
    const std::uint64_t element = element_bytes(decl);
    return std::min<std::uint64_t>(bytes / element + (bytes % element != 0), std::numeric_limits<std::uint32_t>::max());
  }

  // Dispatches that differ in what they are bound to alone are looked at once. Returns null where it would take too long.
  const std::vector<Reach>* reach_of(const FlatSteps::Dispatch& dispatch) {
    const validate::ValidProgram& program = *steps_.programs[dispatch.program];
    std::vector<ReachedBuffer> buffers;
    std::vector<std::uint64_t> key = {dispatch.program, dispatch.grid.x, dispatch.grid.y, dispatch.grid.z, dispatch.counts.has_value()};
    for (std::size_t slot = 0; slot < dispatch.bound.size(); ++slot) {
      const ir::BufferDecl& decl = program.program().buffers()[program.bound()[slot].index];
      if (const Part* part = std::get_if<Part>(&dispatch.bound[slot])) {
        buffers.push_back({length_of(decl, part->bytes), {}});
      } else {
        ReachedBuffer& made = buffers.emplace_back();
        const auto& words = std::get<FlatSteps::Words>(dispatch.bound[slot]);
        made.length = length_of(decl, 4 * words.size());
        for (const Number& word : words) {
          const bool known = word.late == Number::kKnown;
          made.words.push_back(known ? std::optional(static_cast<std::uint32_t>(word.value)) : std::nullopt);
          key.insert(key.end(), {known ? word.value : ~std::uint64_t{0}});
        }
      }
      key.push_back(buffers.back().length);
    }
    const auto known = known_.find(key);
    if (known != known_.end()) return &known->second;
    looked_at_ += program.facts().steps.size();
    if (looked_at_ > kMostLookedAt) return nullptr;
    return &known_.emplace(std::move(key), run::reach_of(program, buffers, dispatch.grid, !dispatch.counts)).first->second;
  }

  const FlatSteps& steps_;
  const std::span<const ArrayBegin> begins_;
  std::vector<Array> arrays_;
  std::map<std::vector<std::uint64_t>, std::vector<Reach>> known_;
  std::size_t looked_at_ = 0;
};

}  // namespace

std::vector<NeededZeros> needed_zeros(const FlatSteps& steps, std::span<const ArrayBegin> begins, std::span<const HandedOver> handed_over) {
  return Search(steps, begins).found(handed_over);
}

}  // namespace vyre::run
