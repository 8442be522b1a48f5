// Keeps for a program the plans of its most recent calls on resident arrays, and the values of their Uniform buffers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bindings/calls/planned.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"

namespace vyre::python {

// Keeps the values that recent calls gave for Uniform buffers. Each value has memory that is never written again, because a call that is
// still running may read it. Guarded by the GIL.
class ValuesInUse {
 public:
  std::shared_ptr<run::Storage> find(run::Backend* backend, std::size_t device, std::span<const std::byte> bytes);
  // Drops all values after a call failed, because they may be on a device that is lost.
  void clear();

 private:
  static constexpr std::size_t kMost = 16;
  struct Value {
    run::Backend* backend;
    std::size_t device;
    std::vector<std::byte> bytes;
    std::shared_ptr<run::Storage> storage;
  };
  std::deque<Value> values_;
};

// The grid of a call. `most` has the counts or, if the array `counts` has them, their upper limits.
struct CallGrid {
  run::Grid most;
  const PyArray* counts = nullptr;
  run::StorageView::Role role = run::StorageView::Role::Buffer;  // what `counts` holds; Buffer if it is null
};

// The most recent calls of one program, each with the arrays, the grid and the options that it was planned for. Guarded by the GIL.
class PlannedCalls {
 public:
  explicit PlannedCalls(const ir::Program& program);

  // Returns null if there is no such call.
  std::shared_ptr<Planned> find(std::uint64_t generation, std::span<const PyArray* const> arrays, const CallGrid& grid,
                                const std::optional<run::Optimize>& optimize);
  // Returns the call that it drops; a KeptCall destroys it without the GIL.
  std::shared_ptr<Planned> insert(std::shared_ptr<Planned> call);
  void erase(const std::shared_ptr<Planned>& call) { std::erase(calls_, call); }

  // The buffers that a call binds, in order.
  const std::vector<const ir::BufferDecl*>& bound() const { return bound_; }

  ValuesInUse values;

 private:
  const ir::Program program_;  // owns the declarations that bound_ points to
  std::vector<const ir::BufferDecl*> bound_;
  std::deque<std::shared_ptr<Planned>> calls_;
};

// The kept calls of a program. Throws ValidationError for one that is not valid.
std::shared_ptr<PlannedCalls> calls_of(const PyProgram& program);

}  // namespace vyre::python
