#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/graph.hpp"
#include "bindings/program.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/ends.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::python {
namespace {

// Points to the graph that this thread records. Another thread may destroy the graph meanwhile; the graph's destructor then sets the inner
// pointer to null.
thread_local std::shared_ptr<Graph*> current;

// The largest number of calls in a graph. A driver needs some hundred bytes for each call, and a Python loop that records more calls than
// this is probably endless.
constexpr std::size_t kMostCalls = std::size_t{1} << 20;

std::string place_text(const Graph::Place& place) {
  return fmt::format("{}{}", place.backend->name(), place.backend->is_host() ? "" : fmt::format(" device {}", place.device));
}

}  // namespace

Graph* Graph::recording() { return current ? *current : nullptr; }

void Graph::refuse(const char* what) {
  if (recording() == nullptr) return;
  throw ArgumentError(
      fmt::format("{} has no place in a graph: the calls recorded so far have not run, and a replay would leave it out. Fix: call it after "
                  "the with-block, and after replay().",
                  what));
}

Graph::~Graph() {
  if (self_) *self_ = nullptr;
}

void Graph::begin() {
  if (recording() != nullptr) {
    throw ArgumentError("this thread records another graph already. Fix: end its with-block first; a graph's replay() can be recorded.");
  }
  if (state_ != State::Empty) {
    throw ArgumentError("a graph records once, and this one has. Fix: make a new one with vyre.graph().");
  }
  state_ = State::Recording;
  current = self_ = std::make_shared<Graph*>(this);
}

void Graph::end(bool failed) {
  if (recording() != this) {
    throw ArgumentError("the graph is not recorded by this thread. Fix: leave its with-block in the thread that entered it.");
  }
  current.reset();
  state_ = State::Failed;
  if (!failed && !calls_.empty()) {
    std::vector<run::Step> steps;
    for (const Call& call : calls_) steps.push_back(call.step);
    const run::Span span("record");
    while_waiting({}, [&](const run::RunOptions& waiting) { joined_ = run::join(*place_.backend, place_.device, steps, waiting); });
  }
  if (!failed) state_ = State::Ready;
}

void Graph::check_joins(const Place& place, std::size_t count, std::uint64_t times) const {
  if (!calls_.empty() && !(place == place_)) {
    throw BindingError(fmt::format("the graph records calls on {}, this one is on {}. Fix: record a graph for each device.",
                                   place_text(place_), place_text(place)));
  }
  if (times > (kMostCalls - dispatches_) / count) {
    throw ArgumentError(fmt::format("a graph has {} calls at most. Fix: record fewer, and replay them more often.", kMostCalls));
  }
}

void Graph::keep(const std::shared_ptr<run::Storage>& storage) {
  if (known_.insert(storage.get()).second) storages_.push_back(storage);
}

void Graph::add(const Place& place, std::span<const PyArray* const> arrays, Call call) {
  const std::size_t dispatches = std::max<std::size_t>(call.dispatches, 1);
  check_joins(place, dispatches, 1);
  for (const PyArray* array : arrays) keep(array->storage);
  place_ = place;
  dispatches_ += dispatches;
  calls_.push_back(std::move(call));
}

void Graph::note_calls(const ir::Program& program) {
  std::optional<ir::OpTable> table;  // most programs call nothing
  std::unordered_set<const ir::OpSpec*> seen;
  std::vector<const ir::Program*> open = {&program};
  while (!open.empty()) {
    const ir::Program& each = *open.back();
    open.pop_back();
    for (const ir::Expr& expr : each.exprs()) {
      const auto* const call = std::get_if<ir::Call>(&expr);
      if (call == nullptr) continue;
      const std::string_view id = each.text(call->op);
      if (!table) table = run::registered_ops();
      const ir::OpTable::Spec spec = table->find(id);
      if (spec == nullptr) continue;
      if (id.find('@') == std::string_view::npos) operations_.try_emplace(std::string(id), spec);
      if (spec->inlinable() && seen.insert(spec.get()).second) open.push_back(&*spec->function().body);
    }
  }
}

void Graph::check_operations() {
  if (run::op_generation() == generation_) return;
  const run::OpSnapshot now = run::op_snapshot();
  for (const auto& [id, spec] : operations_) {
    if (now.table.find(id) == spec) continue;
    throw ArgumentError(
        fmt::format("the graph was recorded with another version of operation `{}`. Fix: record the calls in a new vyre.graph().", id));
  }
  generation_ = now.generation;
}

void Graph::append(const Graph& other, std::uint64_t times) {
  if (times == 0) return;
  // Checked for all repetitions before the first one is added.
  check_joins(other.place_, other.dispatches_, times);
  std::vector<Call> calls;
  for (std::uint64_t k = 0; k < times; ++k) calls.insert(calls.end(), other.calls_.begin(), other.calls_.end());
  operations_.insert(other.operations_.begin(), other.operations_.end());
  for (const std::shared_ptr<run::Storage>& storage : other.storages_) keep(storage);
  place_ = other.place_;
  dispatches_ += times * other.dispatches_;
  calls_.insert(calls_.end(), std::make_move_iterator(calls.begin()), std::make_move_iterator(calls.end()));
}

void Graph::always() {
  VYRE_ASSERT(!calls_.empty());
  calls_.back().always = true;
}

bool Graph::writes(std::size_t first, const PyArray& array) const {
  for (std::size_t k = first; k < calls_.size(); ++k) {
    const run::Step& step = calls_[k].step;
    for (std::size_t slot = 0; slot < step.slots.size(); ++slot) {
      const run::StorageView& view = step.slots[slot];
      const bool overlaps = view.offset < array.offset + array.bytes() && array.offset < view.offset + view.bytes;
      if (step.recording->written()[slot] && view.storage == array.storage.get() && overlaps) return true;
    }
  }
  return false;
}

void Graph::repeat(std::size_t first, std::uint64_t times, const PyArray* state) {
  VYRE_ASSERT(first <= calls_.size());
  std::vector<Call> turn(calls_.begin() + static_cast<std::ptrdiff_t>(first), calls_.end());
  std::size_t dispatches = 0;
  for (Call& call : turn) {
    dispatches += std::max<std::size_t>(call.dispatches, 1);
    if (state == nullptr || call.always || call.step.live) continue;
    call.step.live = run::StorageView{state->storage.get(), state->offset, run::kStateBytes};
  }
  if (state != nullptr) keep(state->storage);
  if (times > 0 && dispatches > 0) check_joins(place_, dispatches, times - 1);
  calls_.resize(first);
  dispatches_ += dispatches * times - dispatches;
  for (std::uint64_t k = 0; k < times; ++k) calls_.insert(calls_.end(), turn.begin(), turn.end());
}

void Graph::check_ready() const {
  if (state_ == State::Ready) return;
  if (state_ == State::Failed) {
    throw ArgumentError("the graph was not recorded: its with-block raised. Fix: make a new one with vyre.graph().");
  }
  throw ArgumentError("the graph is not recorded yet. Fix: call programs in its with-block, and replay it after that.");
}

void Graph::replay(std::uint64_t times) {
  check_ready();
  check_operations();
  if (!joined_.recording) return;
  if (Graph* const other = recording()) {
    // The thread records another graph, which gets this graph's calls instead of a submission.
    other->append(*this, times);
    return;
  }
  const run::Span span("replay");
  while_waiting({}, [&](const run::RunOptions& options) {
    const run::Span submitting("submit");
    joined_.submit(times, options);
  });
}

void Graph::wait(std::optional<std::chrono::duration<double>> timeout) const {
  check_ready();
  refuse("Graph.wait");
  run::RunOptions patience;
  patience.timeout = timeout;
  patience.start = std::chrono::steady_clock::now();
  while_waiting(std::move(patience), [&](const run::RunOptions& options) {
    for (const std::shared_ptr<run::Storage>& storage : storages_) storage->wait(options);
  });
}

std::string Graph::describe() const {
  if (state_ == State::Empty) return "not recorded yet";
  if (state_ == State::Failed) return "not recorded";
  const std::string count = fmt::format("{} call{}", calls_.size(), calls_.size() == 1 ? "" : "s");
  return calls_.empty() ? count : fmt::format("{} on {}", count, place_text(place_));
}

void bind_graph(py::module_& m) {
  // Python's Graph (vyre/_arrays/graph.py) is what users see.
  py::class_<Graph> graph(m, "_Graph", py::is_final(), made_whole<Graph>());
  def_new(graph, [](const py::args&, const py::kwargs&) { return std::make_unique<Graph>(); });
  def_no_pickle(graph, "a vyre.Graph");
  graph.def("begin", &Graph::begin);
  graph.def("end", &Graph::end, py::arg("failed"));
  graph.def("replay", &Graph::replay, py::arg("times"));
  graph.def("always", &Graph::always);
  graph.def("writes", &Graph::writes, py::arg("first"), py::arg("array"));
  graph.def("repeat", &Graph::repeat, py::arg("first"), py::arg("times"), py::arg("state").none(true));
  graph.def(
      "wait", [](const Graph& self, py::handle timeout) { self.wait(to_timeout(timeout, "Graph.wait")); }, py::arg("timeout"));
  graph.def("describe", &Graph::describe);
  graph.def("__len__", &Graph::size);
  // What a repetition in a graph calls before its first turn, and before each one: see vyre/run/ends.hpp.
  m.attr("_tables")["going_on"] = py::tuple(py::cast(run::kGoingOn));
  m.def("_begin_program", [] { return PyProgram(run::begin_program()->program()); });
  m.def("_turn_program", [](ir::DataType element) { return PyProgram(run::turn_program(element)->program()); });
}

}  // namespace vyre::python
