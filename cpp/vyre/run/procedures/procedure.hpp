// Runs procedures. A procedure is planned for arrays of some lengths on a device: its steps are flattened (flatten.hpp) and recorded
// (recording.hpp). Calls with other arrays of these lengths submit the plan again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vyre/base/fork.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/procedures/flatten.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

// Where a procedure runs, and how its programs are made ready. Callers with the same backend and device may give different functions.
struct ProcedurePlace {
  Backend* backend = nullptr;
  std::size_t device = 0;
  // Throws ValidationError for a program that is not valid.
  std::function<ProfiledProgram(const ir::Program&)> valid;
  PlannedSteps::Prepare prepare;
};
// Returns a place whose functions use the registered operations and cache nothing.
ProcedurePlace place_of(Backend& backend, std::size_t device, const RunOptions& waiting);
// Returns an array of a device with the contents of a table.
std::shared_ptr<Storage> table_on(Backend& backend, std::size_t device, const ir::ArrayDecl& decl, const RunOptions& waiting);
// Throws DeviceError if the device does not report the limit.
std::uint64_t limit_of(const ProcedurePlace& place, ir::Limit limit);

// May be submitted from several threads.
class PlannedProcedure {
 public:
  // `operation` is the registered operation that the host calls, if the procedure is one; what it asks for is its convention. Throws
  // CapabilityError if the backend does not take the convention.
  PlannedProcedure(const ir::Procedure& procedure, std::span<const Shape> shapes, std::span<const std::uint64_t> numbers,
                   const ProcedurePlace& place, const std::function<std::shared_ptr<Storage>(const ir::ArrayDecl&)>& table,
                   const RunOptions& waiting, const ir::OpSpec* operation = nullptr);

  // The convention by which it was made.
  const ir::Convention& convention() const { return convention_; }
  // The shapes of the inputs and in_outs, and then of the outputs.
  const std::vector<Shape>& shapes() const { return shapes_; }
  // `arrays` has a view for each of shapes(). Throws BindingError for arrays that overlap while one of them is written, ArgumentError if a
  // value that is computed from the numbers is below 0 or above 2^64 - 1, and what Recording::submit throws.
  void submit(std::span<const StorageView> arrays, std::span<const std::uint64_t> numbers, const RunOptions& options);
  // Returns the same call as a step, or nothing if there is nothing to run.
  std::optional<Step> step(std::span<const StorageView> arrays, std::span<const std::uint64_t> numbers);

  bool usable() const { return steps_->usable(); }
  std::uint64_t kept_bytes() const { return steps_->kept_bytes(); }
  std::size_t dispatches() const { return steps_->dispatches(); }
  std::uint64_t times_recorded() const { return steps_->times_recorded(); }

 private:
  ir::Convention convention_;
  std::vector<Shape> shapes_;
  LateNumbers late_;
  std::unique_ptr<PlannedSteps> steps_;
};

// Keeps the most recently used plans. Any thread may call any function, also in a forked child.
class ProcedurePlans {
 public:
  static constexpr std::size_t kMost = 64;
  // The most memory that all plans keep, in bytes. The most recently used plan stays even if it alone keeps more.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

  // Returns a plan for inputs and in_outs of these shapes, and for these numbers. Numbers that are not structural may have other values
  // when the plan is submitted. Plans anew when the device was lost. Throws what PlannedProcedure's constructor, flatten, PlannedSteps and
  // the functions of `place` throw.
  std::shared_ptr<PlannedProcedure> find_or_plan(const ir::Procedure& procedure, std::span<const Shape> shapes,
                                                 std::span<const std::uint64_t> numbers, const ProcedurePlace& place,
                                                 const RunOptions& waiting, const ir::OpSpec* operation = nullptr);
  void clear();
  std::size_t size();
  // How many plans were made.
  std::uint64_t made();

 private:
  struct Key {
    ir::Procedure procedure;
    std::optional<ir::Convention> asked;  // nothing: the procedure's own
    std::vector<std::uint64_t> words;     // lengths and structural numbers
    Backend* backend = nullptr;
    std::size_t device = 0;
    std::uint64_t operations = 0;  // the generation of the registered operations
    std::uint64_t messages = 0;    // of the procedure: a plan tells its errors
    bool operator==(const Key&) const = default;
  };
  struct Kept {
    Key key;
    std::shared_ptr<PlannedProcedure> plan;
  };
  struct Table {
    std::shared_ptr<const std::vector<std::byte>> contents;
    Backend* backend;
    std::size_t device;
    std::weak_ptr<Storage> storage;
  };
  struct Structure {
    ir::Procedure procedure;
    std::vector<bool> numbers;
  };

  Key key_of(const ir::Procedure& procedure, std::span<const Shape> shapes, std::span<const std::uint64_t> numbers,
             const ProcedurePlace& place, const ir::OpSpec* operation);
  std::shared_ptr<PlannedProcedure> find(const Key& key);
  void insert(Key key, std::shared_ptr<PlannedProcedure> plan);
  std::shared_ptr<Storage> table(const ir::ArrayDecl& decl, const ProcedurePlace& place, const RunOptions& waiting);

  ForkSafeMutex mutex_;
  std::list<Kept> plans_;  // most recently used first
  std::uint64_t bytes_ = 0;
  std::uint64_t made_ = 0;
  std::list<Structure> structures_;
  std::list<Table> tables_;
};

}  // namespace vyre::run
