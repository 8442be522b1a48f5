// A call of a Program with arrays that stay on their device, checked and planned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bindings/calls/prepared.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"

namespace vyre::python {

struct Planned {
  // The properties of one array that a plan depends on.
  struct Place {
    const run::Backend* backend;
    std::size_t device;
    std::size_t memory;  // the first slot with the same storage
    std::uint64_t offset, bytes;
    const ElementType* element;
    py::ssize_t lanes;  // the extent of the last axis
    bool operator==(const Place&) const = default;
  };
  static Place place(std::span<const PyArray* const> arrays, std::size_t slot) {
    const PyArray& array = *arrays[slot];
    std::size_t first = 0;
    while (arrays[first]->storage != array.storage) ++first;
    return {array.backend, array.device, first, array.offset, array.bytes(), array.element, array.shape.empty() ? 1 : array.shape.back()};
  }

  std::uint64_t generation = 0;  // of the registered operations
  run::Backend* backend = nullptr;
  run::Grid grid;                                                  // the upper limits, if an array has the counts
  run::StorageView::Role counts = run::StorageView::Role::Buffer;  // the role of the last place, if it has counts; else Buffer
  std::optional<run::Optimize> optimize;
  std::vector<Place> places;
  std::vector<std::size_t> written;  // slots of ReadWrite buffers
  std::optional<PreparedKey> key;
  run::ProfiledProgram program;
  std::shared_ptr<run::Recording> recording;  // its slots are the places
};

// Calls the program with one array for each buffer that it binds, as Program.__call__ does: plans the call unless it is planned already,
// and submits it or records it in a graph.
void call_planned(const PyProgram& program, std::span<const PyArray* const> arrays, run::Grid grid);

// Returns memory of the device that has these bytes. Recent calls of the program that gave the same bytes share it, so nothing may write to
// it.
std::shared_ptr<run::Storage> value_in_use(const PyProgram& program, run::Backend* backend, std::size_t device,
                                           std::span<const std::byte> bytes);

}  // namespace vyre::python
