// N001 and N002. Both are about an expression that several statements reach, each of which evaluates it anew.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "vyre/advise/note_list.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::advise {
namespace {

// The statements that evaluate one expression.
struct Uses {
  std::uint32_t count = 0;
  NodeId first, last;

  void add(NodeId statement) {
    if (count++ == 0) first = statement;
    last = statement;
  }
};

// A load with one value of its index.
struct TrackedLoad {
  ExprId expr;
  BufferId buffer;
  std::optional<std::uint32_t> element;  // of a literal index
  Uses uses;
  std::uint32_t bit = ~0u;
};

using Bits = std::vector<std::uint64_t>;

void add(Bits& to, const Bits& bits) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] |= bits[k];
}

// Loads by number: on some path to here, which were evaluated, which of these may since have been stored to, and which may have been
// stored to since the innermost loop's turn began.
struct EffectFlow {
  Bits evaluated, stale, written;

  explicit EffectFlow(std::size_t words) : evaluated(words), stale(words), written(words) {}
  void join(const EffectFlow& other) {
    add(evaluated, other.evaluated);
    add(stale, other.stale);
    add(written, other.written);
  }
};

}  // namespace

class RepeatedEffects::State {
 public:
  explicit State(NoteWalk& walk) : walk_(walk), written_(walk.program.buffers().size()) {}

  void enter(NodeId id) {
    const Statement& statement = walk_.facts.statements[id];
    for (std::uint32_t k = 0; k < statement.step_count; ++k) {
      const Step& step = walk_.facts.steps[statement.first_step + k];
      const ir::Expr& expr = walk_.program.expr(step.expr);
      if (const auto* load = std::get_if<ir::Load>(&expr); load != nullptr && ir::writable(walk_.buffer(step.buffer).access)) {
        evaluate(id, step, *load);
      } else if (const auto* atomic = std::get_if<ir::Atomic>(&expr)) {
        atomics_[step.expr].add(id);
        write(id, step.buffer, walk_.program.operands(atomic->operands).front());
      }
    }
    const ir::Node& node = walk_.program.node(id);
    if (const auto* store = std::get_if<ir::Store>(&node)) write(id, statement.buffer, store->index);
    events_.push_back({id, Event::Node, 0, {}});
  }

  void finish() {
    note_atomics();
    number_loads();
    if (numbered_.empty()) return;
    follow();
    for (std::size_t k = 0; k < numbered_.size(); ++k) {
      if ((noted_[k / 64] >> k % 64 & 1) != 0) note_load(loads_[numbered_[k]]);
    }
  }

 private:
  struct Event {
    enum Kind : std::uint8_t { Evaluate, Write, Node };
    NodeId statement;
    Kind kind;
    std::uint32_t subject;  // a load by index, or a buffer
    std::optional<std::uint32_t> element;
  };

  std::optional<std::uint32_t> literal(ExprId id) const { return ir::literal_u32(walk_.program.expr(id)); }

  void evaluate(NodeId id, const Step& step, const ir::Load& load) {
    const auto [found, added] = load_of_.try_emplace({step.expr.index, walk_.values.of(load.index).number}, loads_.size());
    if (added) loads_.push_back({step.expr, step.buffer, literal(load.index), {}});
    loads_[found->second].uses.add(id);
    events_.push_back({id, Event::Evaluate, static_cast<std::uint32_t>(found->second), {}});
  }

  void write(NodeId id, BufferId buffer, ExprId index) {
    written_[buffer] = true;
    events_.push_back({id, Event::Write, buffer.index, literal(index)});
  }

  // The Fix holds where all statements are in the list of the first one, or in lists within it.
  bool can_bind(const Uses& uses) {
    if (list_end_.empty()) {
      std::vector<std::uint32_t> ends{~0u};
      list_end_.resize(walk_.program.nodes().size());
      for (std::uint32_t k = 0; k < list_end_.size(); ++k) {
        const ir::Node& node = walk_.program.node(NodeId{k});
        if (const auto* other = std::get_if<ir::Else>(&node)) ends.back() = other->end.index;
        if (std::holds_alternative<ir::End>(node)) ends.pop_back();
        list_end_[k] = ends.back();
        if (const auto* branch = std::get_if<ir::If>(&node))
          ends.push_back(branch->otherwise.valid() ? branch->otherwise.index : branch->end.index);
        if (const auto* loop = std::get_if<ir::Loop>(&node)) ends.push_back(loop->end.index);
        if (const auto* block = std::get_if<ir::Block>(&node)) ends.push_back(block->end.index);
      }
    }
    return uses.last.index < list_end_[uses.first.index];
  }

  void note_atomics() {
    for (const auto& [id, uses] : atomics_) {
      if (uses.count < 2) continue;
      const std::string_view buffer = walk_.program.text(std::get<ir::Atomic>(walk_.program.expr(id)).buffer);
      FoundNote note{uses.first, id, Note::N001, {Text(buffer).text(), std::to_string(uses.count)}, {}};
      if (can_bind(uses)) note.hint.emplace();
      walk_.found.push_back(std::move(note));
    }
  }

  void note_load(const TrackedLoad& load) {
    const std::string count = std::to_string(load.uses.count);
    FoundNote note{load.uses.first, load.expr, Note::N002, {Text(walk_.buffer(load.buffer).name).text(), count}, {}};
    if (can_bind(load.uses)) note.hint.emplace();
    walk_.found.push_back(std::move(note));
  }

  // The loads of one buffer get numbers in a row, those without a literal index first, so that a store marks ranges.
  void number_loads() {
    for (std::uint32_t k = 0; k < loads_.size(); ++k) {
      if (loads_[k].uses.count > 1 && written_[loads_[k].buffer]) numbered_.push_back(k);
    }
    const auto key = [&](std::uint32_t k) { return std::tuple(loads_[k].buffer, loads_[k].element, k); };
    std::sort(numbered_.begin(), numbered_.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::uint32_t bit = 0; bit < numbered_.size(); ++bit) {
      const TrackedLoad& load = loads_[numbered_[bit]];
      loads_[numbered_[bit]].bit = bit;
      Range& all = of_buffer_[{load.buffer.index, ~std::uint64_t{0}}];
      Range& equal = of_buffer_[{load.buffer.index, load.element ? std::uint64_t{*load.element} : kAnyElement}];
      for (Range* range : {&all, &equal}) {
        if (range->last == 0) range->first = bit;
        range->last = bit + 1;
      }
    }
  }

  struct Range {
    std::uint32_t first = 0, last = 0;
  };
  static constexpr std::uint64_t kAnyElement = std::uint64_t{1} << 32;

  void mark(const Range& range, EffectFlow& flow) const {
    for (std::uint32_t word = range.first / 64; word * 64 < range.last; ++word) {
      std::uint64_t mask = ~std::uint64_t{0};
      if (word == range.first / 64) mask &= ~std::uint64_t{0} << range.first % 64;
      if (range.last < (word + 1) * 64) mask &= (std::uint64_t{1} << range.last % 64) - 1;
      flow.stale[word] |= flow.evaluated[word] & mask;
      flow.written[word] |= mask;
    }
  }
  void mark(std::uint32_t buffer, std::uint64_t element, EffectFlow& flow) const {
    const auto found = of_buffer_.find({buffer, element});
    if (found != of_buffer_.end()) mark(found->second, flow);
  }

  // An If, Loop or Block that is open.
  struct Open {
    EffectFlow before;   // at its beginning
    EffectFlow leaving;  // at the end of the then-list, or at the Breaks of the loop
    Bits evaluated;      // what was evaluated since the loop around it began
    bool loop;
  };

  void follow() {
    const std::size_t words = (numbered_.size() + 63) / 64;
    noted_.resize(words);
    EffectFlow flow(words);
    Bits in_loop(words);  // evaluated since the innermost loop began
    std::vector<Open> open;
    for (const Event& event : events_) {
      if (event.kind == Event::Evaluate) {
        const std::uint32_t bit = loads_[event.subject].bit;
        if (bit == ~0u) continue;
        const std::uint64_t mask = std::uint64_t{1} << bit % 64;
        noted_[bit / 64] |= flow.stale[bit / 64] & mask;
        flow.evaluated[bit / 64] |= mask;
        in_loop[bit / 64] |= mask;
      } else if (event.kind == Event::Write) {
        if (!event.element) {
          mark(event.subject, ~std::uint64_t{0}, flow);
        } else {
          mark(event.subject, kAnyElement, flow);
          mark(event.subject, *event.element, flow);
        }
      } else {
        structure(walk_.program.node(event.statement), flow, in_loop, open);
      }
    }
  }

  void structure(const ir::Node& node, EffectFlow& flow, Bits& in_loop, std::vector<Open>& open) {
    const std::size_t words = noted_.size();
    if (std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node)) {
      const bool loop = std::holds_alternative<ir::Loop>(node);
      open.push_back({flow, EffectFlow(words), in_loop, loop});
      if (loop) std::fill(in_loop.begin(), in_loop.end(), 0);
      if (loop) std::fill(flow.written.begin(), flow.written.end(), 0);
    } else if (std::holds_alternative<ir::Else>(node)) {
      open.back().leaving = std::move(flow);
      flow = open.back().before;
    } else if (const auto* end = std::get_if<ir::End>(&node)) {
      Open& top = open.back();
      if (top.loop) {
        // The next turn evaluates what was evaluated before the loop, after this turn's stores.
        for (std::size_t k = 0; k < words; ++k) noted_[k] |= top.before.evaluated[k] & flow.written[k] & in_loop[k];
        add(in_loop, top.evaluated);
      }
      const auto* branch = std::get_if<ir::If>(&walk_.program.node(end->opener));
      if (top.loop || (branch != nullptr && !branch->otherwise.valid())) flow.join(top.before);
      flow.join(top.leaving);
      open.pop_back();
    } else if (std::holds_alternative<ir::Return>(node)) {
      flow = EffectFlow(words);
    } else if (std::holds_alternative<ir::Break>(node)) {
      const auto loop = std::find_if(open.rbegin(), open.rend(), [](const Open& each) { return each.loop; });
      loop->leaving.join(flow);
      flow = EffectFlow(words);
    }
  }

  NoteWalk& walk_;
  std::map<ExprId, Uses> atomics_;
  std::vector<TrackedLoad> loads_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> load_of_;  // by expression and the number of the index
  IdVector<BufferId, bool> written_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> list_end_;  // by statement, where its list ends
  std::vector<std::uint32_t> numbered_;  // the loads that can be noted
  std::map<std::pair<std::uint32_t, std::uint64_t>, Range> of_buffer_;
  Bits noted_;
};

RepeatedEffects::RepeatedEffects(NoteWalk& walk) : state_(std::make_unique<State>(walk)) {}
RepeatedEffects::~RepeatedEffects() = default;
void RepeatedEffects::enter(NodeId statement) { state_->enter(statement); }
void RepeatedEffects::finish() { state_->finish(); }

}  // namespace vyre::advise
