#include "bindings/calls/planned_calls.hpp"

#include <algorithm>
#include <utility>

#include "bindings/calls/prepared.hpp"
#include "bindings/waiting.hpp"
#include "bindings/without_gil.hpp"

namespace vyre::python {
namespace {

// Enough for a program that is called with several sets of arrays in turn. A larger number would keep more command buffers alive.
constexpr std::size_t kMostPlannedCalls = 16;

bool serves(const Planned& call, std::uint64_t generation, std::span<const PyArray* const> arrays, const CallGrid& grid) {
  const run::Grid& most = grid.most;
  if (call.generation != generation || call.grid.x != most.x || call.grid.y != most.y || call.grid.z != most.z) return false;
  if (call.counts != grid.role) return false;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    if (!(call.places[slot] == Planned::place(arrays, slot))) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<run::Storage> ValuesInUse::find(run::Backend* backend, std::size_t device, std::span<const std::byte> bytes) {
  for (auto known = values_.begin(); known != values_.end(); ++known) {
    if (known->backend != backend || known->device != device || !std::ranges::equal(known->bytes, bytes)) continue;
    std::rotate(values_.begin(), known, known + 1);
    return values_.front().storage;
  }
  Value made{backend, device, {bytes.begin(), bytes.end()}, nullptr};
  std::shared_ptr<run::Storage> dropped;
  if (values_.size() >= kMost) {
    dropped = std::move(values_.back().storage);
    values_.pop_back();
  }
  while_waiting({}, [&](const run::RunOptions& options) {
    dropped.reset();
    made.storage = backend->allocate(device, bytes.size(), false);
    made.storage->write(0, bytes, options);
  });
  values_.push_front(made);
  return made.storage;
}

void ValuesInUse::clear() {
  std::deque<Value> dropped = std::exchange(values_, {});
  const WithoutGil unlocked;
  dropped.clear();
}

PlannedCalls::PlannedCalls(const ir::Program& program) : program_(program) {
  for (const ir::BufferDecl& decl : program_.buffers()) {
    if (ir::is_bound(decl.access)) bound_.push_back(&decl);
  }
}

std::shared_ptr<Planned> PlannedCalls::find(std::uint64_t generation, std::span<const PyArray* const> arrays, const CallGrid& grid,
                                            const std::optional<run::Optimize>& optimize) {
  for (auto known = calls_.begin(); known != calls_.end(); ++known) {
    if (!serves(**known, generation, arrays, grid) || (*known)->optimize != optimize) continue;
    if (known != calls_.begin()) std::rotate(calls_.begin(), known, known + 1);
    return calls_.front();
  }
  return nullptr;
}

std::shared_ptr<Planned> PlannedCalls::insert(std::shared_ptr<Planned> call) {
  calls_.push_front(std::move(call));
  if (calls_.size() <= kMostPlannedCalls) return nullptr;
  std::shared_ptr<Planned> dropped = std::move(calls_.back());
  calls_.pop_back();
  return dropped;
}

std::shared_ptr<PlannedCalls> calls_of(const PyProgram& program) {
  if (!program.planned) {
    valid(program);  // first, because messages show the names of buffers, and names of an invalid program may contain NUL characters
    program.planned = std::make_shared<PlannedCalls>(program.program);
  }
  return program.planned;
}

}  // namespace vyre::python
