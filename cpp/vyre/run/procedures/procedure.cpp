#include "vyre/run/procedures/procedure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "vyre/advise/hints.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

// The most procedures whose structural numbers are remembered.
constexpr std::size_t kMostStructures = 256;

// The convention that the host and the backend agree on: the one that is asked for, if the backend takes it.
ir::Convention negotiated(const ir::Procedure& procedure, const ir::OpSpec* operation, const Backend& backend) {
  const ir::Convention asked = operation != nullptr ? operation->convention() : ir::own_convention(procedure);
  std::string taken;
  for (const std::size_t version : backend.conventions()) {
    if (version == ir::version(asked)) return asked;
    taken += fmt::format("{}V{}", taken.empty() ? "" : ", ", version);
  }
  const std::string who = operation != nullptr ? fmt::format("operation `{}@{}`", operation->id, operation->version)
                                               : fmt::format("procedure `{}`", procedure.name());
  throw CapabilityError(fmt::format("{} asks for {}, and backend `{}` takes {}. Fix: run it on another backend.", who, ir::text(asked),
                                    backend.name(), taken));
}

}  // namespace

std::uint64_t limit_of(const ProcedurePlace& place, ir::Limit limit) {
  const char* const name = limit == ir::Limit::WorkgroupMemory ? "maxComputeSharedMemorySize" : "maxComputeWorkGroupInvocations";
  const std::vector<DeviceInfo> devices = place.backend->devices();
  if (place.device < devices.size()) {
    for (const auto& [known, value] : devices[place.device].limits) {
      if (known == name) return value;
    }
  }
  throw DeviceError(
      fmt::format("device {} of backend `{}` does not tell its {}. Fix: use another device.", place.device, place.backend->name(), name));
}

std::shared_ptr<Storage> table_on(Backend& backend, std::size_t device, const ir::ArrayDecl& decl, const RunOptions& waiting) {
  std::shared_ptr<Storage> storage = backend.allocate(device, decl.contents->size(), false);
  storage->write(0, *decl.contents, waiting);
  return storage;
}

ProcedurePlace place_of(Backend& backend, std::size_t device, const RunOptions& waiting) {
  ProcedurePlace place{&backend, device, {}, {}};
  place.valid = [](const ir::Program& program) {
    return std::make_shared<const validate::ValidProgram>(
        validate::accepted(validate::validate(program, registered_ops(), {.advice = advise::hints})));
  };
  place.prepare = [&backend, device, waiting](const ProfiledProgram& program) -> std::shared_ptr<Executable> {
    return backend.prepare(with_passes(*program, backend, std::nullopt), device, {}, waiting);
  };
  return place;
}

PlannedProcedure::PlannedProcedure(const ir::Procedure& procedure, std::span<const Shape> shapes, std::span<const std::uint64_t> numbers,
                                   const ProcedurePlace& place, const std::function<std::shared_ptr<Storage>(const ir::ArrayDecl&)>& table,
                                   const RunOptions& waiting, const ir::OpSpec* operation)
    : convention_(negotiated(procedure, operation, *place.backend)) {
  const auto limit = [&](ir::Limit which) { return limit_of(place, which); };
  Flattened flattened = flatten(procedure, {shapes, numbers, limit, place.valid, table});
  shapes_ = std::move(flattened.shapes);
  late_ = std::move(flattened.late);
  steps_ = std::make_unique<PlannedSteps>(flattened.steps, *place.backend, place.device, place.prepare, waiting);
}

void PlannedProcedure::submit(std::span<const StorageView> arrays, std::span<const std::uint64_t> numbers, const RunOptions& options) {
  steps_->submit(arrays, late_.values(numbers), options);
}

std::optional<Step> PlannedProcedure::step(std::span<const StorageView> arrays, std::span<const std::uint64_t> numbers) {
  return steps_->step(arrays, late_.values(numbers));
}

ProcedurePlans::Key ProcedurePlans::key_of(const ir::Procedure& procedure, std::span<const Shape> shapes,
                                           std::span<const std::uint64_t> numbers, const ProcedurePlace& place,
                                           const ir::OpSpec* operation) {
  const auto asked = operation != nullptr ? operation->asked : std::nullopt;
  Key key{procedure, asked, {}, place.backend, place.device, op_generation(), procedure.messages()};
  for (const Shape& shape : shapes) key.words.insert(key.words.end(), shape.begin(), shape.end());
  VYRE_ASSERT(numbers.size() == procedure.numbers().size());
  if (numbers.empty()) return key;
  const std::lock_guard lock(mutex_);
  auto known = std::ranges::find(structures_, procedure, &Structure::procedure);
  if (known == structures_.end()) {
    structures_.push_front({procedure, structural_numbers(procedure)});
    if (structures_.size() > kMostStructures) structures_.pop_back();
    known = structures_.begin();
  }
  structures_.splice(structures_.begin(), structures_, known);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (known->numbers[k]) key.words.push_back(numbers[k]);
  }
  return key;
}

std::shared_ptr<PlannedProcedure> ProcedurePlans::find(const Key& key) {
  std::list<Kept> dropped;  // destroyed after the lock is gone
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(plans_, key, &Kept::key);
  if (known != plans_.end() && known->plan->usable()) {
    plans_.splice(plans_.begin(), plans_, known);
    return known->plan;
  }
  // Drops the plans of a lost device and, with them, their tables, so that a later plan does not use a table in that device's memory.
  for (auto at = plans_.begin(); at != plans_.end();) {
    const auto next = std::next(at);
    if (!at->plan->usable()) {
      bytes_ -= at->plan->kept_bytes();
      dropped.splice(dropped.begin(), plans_, at);
    }
    at = next;
  }
  return nullptr;
}

void ProcedurePlans::insert(Key key, std::shared_ptr<PlannedProcedure> plan) {
  std::list<Kept> dropped;
  const std::lock_guard lock(mutex_);
  bytes_ += plan->kept_bytes();
  ++made_;
  plans_.push_front({std::move(key), std::move(plan)});
  while (plans_.size() > 1 && (plans_.size() > kMost || bytes_ > kMostBytes)) {
    bytes_ -= plans_.back().plan->kept_bytes();
    dropped.splice(dropped.begin(), plans_, std::prev(plans_.end()));
  }
}

std::shared_ptr<Storage> ProcedurePlans::table(const ir::ArrayDecl& decl, const ProcedurePlace& place, const RunOptions& waiting) {
  const auto same = [&](const Table& table) {
    return table.backend == place.backend && table.device == place.device &&
           (table.contents == decl.contents || *table.contents == *decl.contents);
  };
  {
    const std::lock_guard lock(mutex_);
    tables_.remove_if([](const Table& table) { return table.storage.expired(); });
    const auto known = std::ranges::find_if(tables_, same);
    if (known != tables_.end()) {
      if (std::shared_ptr<Storage> storage = known->storage.lock()) return storage;
    }
  }
  std::shared_ptr<Storage> storage = table_on(*place.backend, place.device, decl, waiting);
  const std::lock_guard lock(mutex_);
  tables_.push_back({decl.contents, place.backend, place.device, storage});
  return storage;
}

std::shared_ptr<PlannedProcedure> ProcedurePlans::find_or_plan(const ir::Procedure& procedure, std::span<const Shape> shapes,
                                                               std::span<const std::uint64_t> numbers, const ProcedurePlace& place,
                                                               const RunOptions& waiting, const ir::OpSpec* operation) {
  Key key = key_of(procedure, shapes, numbers, place, operation);
  if (auto known = find(key)) return known;
  // Two threads may plan the same procedure; both plans work.
  const auto plan = [&] {
    return std::make_shared<PlannedProcedure>(
        procedure, shapes, numbers, place, [&](const ir::ArrayDecl& decl) { return table(decl, place, waiting); }, waiting, operation);
  };
  std::shared_ptr<PlannedProcedure> made;
  try {
    made = plan();
  } catch (const DeviceMemoryError&) {
    // Dropping the other plans may free enough memory.
    clear();
    made = plan();
  }
  insert(std::move(key), made);
  return made;
}

void ProcedurePlans::clear() {
  std::list<Kept> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(plans_);
  bytes_ = 0;
}

std::size_t ProcedurePlans::size() {
  const std::lock_guard lock(mutex_);
  return plans_.size();
}

std::uint64_t ProcedurePlans::made() {
  const std::lock_guard lock(mutex_);
  return made_;
}

}  // namespace vyre::run
