// Binds numpy arrays to a program's buffers (docs/semantics.md, The host): checks the arrays, copies those that the program writes, and
// returns the results.
#pragma once

#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {

struct PyArray;

// Copies the argument `inputs` into a new dict. Throws BindingError, which names `function`.
py::dict to_inputs(py::handle inputs, const std::string& function);

// The inputs of one call. ReadWrite buffers are bound to new arrays, so a call that fails leaves the user's arrays unchanged.
class Arrays {
 public:
  // Throws BindingError, which names `function`. Needs the GIL, as results() does; views() may be used without the GIL.
  Arrays(const validate::ValidProgram& program, py::handle inputs, const std::string& function);

  const std::vector<run::BufferView>& views() const { return views_; }
  // name -> array of each ReadWrite buffer, in the shape and dtype given.
  py::dict results() const;
  // Says for each view whether it holds zeros because the caller gave no data: nothing at all, a number or a shape.
  const std::vector<bool>& blank() const { return blank_; }

 private:
  struct Slot {
    const ir::BufferDecl* decl;
    py::object owner;      // keeps the bytes of the view alive
    py::object result;     // a new array; null unless the buffer is ReadWrite
    bool widened = false;  // the view holds a bool array as u32 words
  };

  void bind(Slot& slot, py::handle given);
  void bind_zeros(Slot& slot, const std::vector<py::ssize_t>& shape);  // for a ReadWrite buffer
  void bind_new(Slot& slot, py::handle array);                         // binds a temporary array of this call
  void bind_resident(Slot& slot, const PyArray& array);                // binds a copy
  void bind_array(Slot& slot, py::handle given);
  void use(void* data, std::size_t bytes);

  std::vector<Slot> slots_;
  std::vector<run::BufferView> views_;
  std::vector<bool> blank_;
  std::vector<run::Extent> extents_;  // by slot: where the user's bytes lie, on the host or in a storage
};

}  // namespace vyre::python
