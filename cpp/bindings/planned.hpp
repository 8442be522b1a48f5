// A call of a Program with arrays that stay on their device, checked and planned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "prepared.hpp"
#include "resident.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::python {

struct Planned {
  // The properties of one array that a plan depends on.
  struct Place {
    std::uint64_t id, offset, bytes;
    const ElementType* element;
    py::ssize_t lanes;  // of the last axis
    bool operator==(const Place&) const = default;
  };
  static Place place(const PyArray& array) {
    return {array.storage->id(), array.offset, array.bytes(), array.element, array.shape.empty() ? 1 : array.shape.back()};
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

}  // namespace vyre::python
