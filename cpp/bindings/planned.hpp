// A call of a Program with arrays that stay on their device, checked and planned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prepared.hpp"
#include "program.hpp"
#include "resident.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::python {

struct Planned {
  // The properties of one array that a plan depends on.
  struct Place {
    const run::Backend* backend;
    std::size_t device;
    std::uint64_t memory;  // its id; on the host, where a plan takes any memory, the first slot that has the same memory
    std::uint64_t offset, bytes;
    const ElementType* element;
    py::ssize_t lanes;  // of the last axis
    bool operator==(const Place&) const = default;
  };
  static Place place(std::span<const PyArray* const> arrays, std::size_t slot) {
    const PyArray& array = *arrays[slot];
    std::uint64_t memory = array.storage->id();
    if (array.backend->plans_any_memory()) {
      std::size_t first = 0;
      while (arrays[first]->storage != array.storage) ++first;
      memory = first;
    }
    return {array.backend, array.device, memory, array.offset, array.bytes(), array.element, array.shape.empty() ? 1 : array.shape.back()};
  }

  std::uint64_t generation = 0;  // of the operations
  run::Backend* backend = nullptr;
  run::Grid grid;                                                  // the largest one, where the counts come from data
  run::StorageView::Role counts = run::StorageView::Role::Buffer;  // what the last place is, beside those of buffers
  std::optional<run::Optimize> optimize;
  std::vector<Place> places;
  std::vector<std::size_t> written;  // slots
  std::optional<PreparedKey> key;
  run::ProfiledProgram program;
  std::shared_ptr<run::Executable> executable;
  std::shared_ptr<run::Plan> plan;  // destroyed before the executable
};

// Calls the program with one array for each buffer that it binds, as Program.__call__ does: plans the call unless it is planned already,
// and submits it or records it in a graph.
void call_planned(const PyProgram& program, std::span<const PyArray* const> arrays, run::Grid grid);

// Memory that has these bytes, for as long as calls of the program give them often. Nothing may write it.
std::shared_ptr<run::Storage> value_in_use(const PyProgram& program, run::Backend* backend, std::size_t device,
                                           std::span<const std::byte> bytes);

}  // namespace vyre::python
