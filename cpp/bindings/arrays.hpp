// Takes numpy arrays as a program's buffers (docs/semantics.md, The host): checks them, copies those that are written, and gives the
// results.
#pragma once

#include <string>
#include <vector>

#include "bindings.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/checks.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {

struct PyArray;

// A new dict of what a caller named as inputs, element by element up to a limit. Throws BindingError, in which `function` is named.
py::dict to_inputs(py::handle inputs, const std::string& function);

// The inputs of one call. ReadWrite buffers are new arrays from the start, so a failing call leaves the user's as they were.
class Arrays {
 public:
  // Throws BindingError, in which `function` is named. Needs the GIL, like results(); views() may be used without.
  Arrays(const validate::ValidProgram& program, py::handle inputs, const std::string& function);

  const std::vector<run::BufferView>& views() const { return views_; }
  // name -> array of each ReadWrite buffer, in the shape and dtype given.
  py::dict results() const;
  // A view each: whether it holds zeros because no array was given.
  const std::vector<bool>& blank() const { return blank_; }

 private:
  struct Slot {
    const ir::BufferDecl* decl;
    py::object owner;      // keeps the bytes of the view alive
    py::object result;     // a new array, of ReadWrite buffers
    bool widened = false;  // a bool array crosses as u32 words
  };

  void bind(Slot& slot, py::handle given);
  void bind_zeros(Slot& slot, const std::vector<py::ssize_t>& shape);  // of a ReadWrite buffer
  void bind_new(Slot& slot, py::handle array);                         // an array that only this call knows
  void bind_resident(Slot& slot, const PyArray& array);                // binds a copy
  void bind_array(Slot& slot, py::handle given);
  void use(void* data, std::size_t bytes);

  std::vector<Slot> slots_;
  std::vector<run::BufferView> views_;
  std::vector<bool> blank_;
  std::vector<run::Extent> extents_;  // by slot: where the user's bytes lie, on the host or in a storage
};

}  // namespace vyre::python
