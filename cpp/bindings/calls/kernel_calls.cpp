// Implements the base class of kernels in Python, which handles calls of a kernel.
//
// A kernel keeps a FastCall for each of the kinds of valid calls that it has seen last, the newest first. A call is run by the first
// FastCall that has its keyword names and takes its arguments. If there is none, the call goes to the Python method `_call`, which makes
// all checks and raises the errors. While this thread records a graph or traces a kernel, a call is recorded instead of run, so all calls
// go to Python.
//
// The class is made with Python's C API, because pybind11 would look up types and build an argument list for each call.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/fast_call.hpp"
#include "bindings/graph.hpp"
#include "bindings/guarded.hpp"

namespace vyre::python {
namespace {

constexpr std::size_t kMostKnownCalls = 8;
constexpr char kCapsule[] = "vyre._core.FastCall";

struct KnownCall {
  std::shared_ptr<FastCall> call;
  std::vector<py::object> names;  // of the keyword arguments, in their order, without `backend` and `device`
  // Has `is_current()`, which says whether the Python values that the kernel has captured are unchanged. Null if it has captured none.
  py::object plan;
  py::object bindings;  // if all of these are unchanged, so are the captured values; see same_bindings. Null if that is not enough.
};

struct KernelCalls {
  PyObject_HEAD std::vector<KnownCall>* known;  // null until a call is remembered
};

// Each bit that is set is a reason to send this thread's calls to Python; see _leave_calls.
thread_local constinit unsigned left_to_python = 0;

KernelCalls* kernel_calls(PyObject* self) { return reinterpret_cast<KernelCalls*>(self); }

bool is_current(py::handle plan) {
  static PyObject* const name = PyUnicode_InternFromString("is_current");
  const auto answer = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(plan.ptr(), name));
  if (!answer) throw py::error_already_set();
  return answer.ptr() == Py_True;
}

// The arguments of a call, first the positional ones and then the keyword ones. The options `backend` and `device` are kept apart.
class Given {
 public:
  Given(PyObject* args, PyObject* kwargs) : values_(&PyTuple_GET_ITEM(args, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(args))) {
    if (kwargs == nullptr || PyDict_GET_SIZE(kwargs) == 0) return;
    static PyObject* const backend = PyUnicode_InternFromString("backend");
    static PyObject* const device = PyUnicode_InternFromString("device");
    Py_ssize_t next = 0;
    PyObject *name = nullptr, *value = nullptr;
    while (PyDict_Next(kwargs, &next, &name, &value) != 0) {
      PyObject** const option = is_same_text(name, backend) ? &asked_.backend : is_same_text(name, device) ? &asked_.device : nullptr;
      if (option == nullptr) {
        add(name, value);
      } else if (value != Py_None) {
        *option = value;
        options_.emplace_back(Py_NewRef(value));
      }
    }
    if (!named_.empty()) values_ = all_;
  }

  const Asked& asked() const { return asked_; }
  std::span<PyObject* const> values() const { return values_; }
  bool has_names(std::span<const py::object> names) const {
    return std::ranges::equal(names, named_,
                              [](const py::object& a, const Named& b) { return is_same_text(a.ptr(), b.name.handle().ptr()); });
  }

 private:
  struct Named {
    Held name, value;
  };

  void add(PyObject* name, PyObject* value) {
    if (named_.empty()) {
      constexpr std::size_t kFew = 8;
      named_.reserve(kFew);
      all_.reserve(values_.size() + kFew);
      all_.assign(values_.begin(), values_.end());
    }
    named_.push_back({Held(Py_NewRef(name)), Held(Py_NewRef(value))});
    all_.push_back(value);
  }

  std::span<PyObject* const> values_;
  // These own their objects, because another thread may change the dict during the run.
  std::vector<Named> named_;
  std::vector<Held> options_;
  std::vector<PyObject*> all_;  // all arguments; used only if the call has keyword arguments
  Asked asked_;
};

// Runs a call by the first FastCall that takes it. Returns null without an exception if none does.
PyObject* call_known(KernelCalls* self, PyObject* args, PyObject* kwargs) {
  if (self->known == nullptr || left_to_python != 0 || Graph::recording() != nullptr) return nullptr;
  const Given given(args, kwargs);
  for (std::size_t k = 0; k < self->known->size(); ++k) {
    const KnownCall& known = (*self->known)[k];
    if (!given.has_names(known.names)) continue;
    // These are copies, because another call may change the list meanwhile.
    const std::shared_ptr<FastCall> call = known.call;
    const Held plan(Py_XNewRef(known.plan.ptr()));
    const Held bindings(Py_XNewRef(known.bindings.ptr()));
    if (plan && !(call->takes(given.values(), given.asked()) &&
                  ((bindings && same_bindings(bindings.handle().ptr())) || is_current(plan.handle())))) {
      continue;
    }
    py::object result = call->call(given.values(), given.asked());
    if (result) return result.release().ptr();
  }
  return nullptr;
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  static PyObject* const in_python = PyUnicode_InternFromString("_call");
  PyObject* const result = guarded([&] { return call_known(kernel_calls(self), args, kwargs); });
  if (result != nullptr || PyErr_Occurred() != nullptr) return result;
  const Held method(PyObject_GetAttr(self, in_python));
  return method ? PyObject_Call(method.handle().ptr(), args, kwargs) : nullptr;
}

void remember_call(PyObject* self, KnownCall known) {
  KernelCalls* const calls = kernel_calls(self);
  if (calls->known == nullptr) calls->known = new std::vector<KnownCall>;
  KnownCall dropped;  // destroyed after the list is complete again, because its destructor may run Python code
  if (calls->known->size() == kMostKnownCalls) {
    dropped = std::move(calls->known->back());
    calls->known->pop_back();
  }
  calls->known->insert(calls->known->begin(), std::move(known));
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (kernel_calls(self)->known == nullptr) return 0;
  for (const KnownCall& known : *kernel_calls(self)->known) {
    Py_VISIT(known.plan.ptr());
    Py_VISIT(known.bindings.ptr());
  }
  return 0;
}

int clear(PyObject* self) {
  delete std::exchange(kernel_calls(self)->known, nullptr);
  return 0;
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

py::object make_class(const py::module_& m) {
  static char doc[] = "What vyre.Kernel is built on: it calls the kernel.";
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(call)},
                                {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                {Py_tp_doc, doc},
                                {0, nullptr}};
  static PyType_Spec spec = {"vyre._core._KernelCalls", sizeof(KernelCalls), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  auto made = py::reinterpret_steal<py::object>(PyType_FromModuleAndSpec(m.ptr(), &spec, nullptr));
  if (!made) throw py::error_already_set();
  return made;
}

}  // namespace

bool same_bindings(PyObject* bindings) {
  if (!PyTuple_Check(bindings)) return false;
  const Py_ssize_t count = PyTuple_GET_SIZE(bindings);
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* const binding = PyTuple_GET_ITEM(bindings, k);
    if (!PyTuple_Check(binding) || PyTuple_GET_SIZE(binding) != 3) return false;
    PyObject* const holder = PyTuple_GET_ITEM(binding, 0);
    PyObject* const name = PyTuple_GET_ITEM(binding, 1);
    PyObject* now = nullptr;
    if (PyDict_Check(holder)) {
      now = PyDict_GetItemWithError(holder, name);
      if (now == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    } else if (PyCell_Check(holder)) {
      now = PyCell_GET(holder);
    } else {
      if (!PyFunction_Check(holder) || PyFunction_GetCode(holder) != name) return false;
      now = PyFunction_GetDefaults(holder);
    }
    if ((now == nullptr ? Py_None : now) != PyTuple_GET_ITEM(binding, 2)) return false;
  }
  return true;
}

py::capsule in_capsule(std::shared_ptr<FastCall> call) {
  auto held = std::make_unique<std::shared_ptr<FastCall>>(std::move(call));
  py::capsule made(held.get(), kCapsule,
                   [](PyObject* capsule) { delete static_cast<std::shared_ptr<FastCall>*>(PyCapsule_GetPointer(capsule, kCapsule)); });
  static_cast<void>(held.release());
  return made;
}

void bind_kernel_calls(py::module_& m) {
  const py::object kind = make_class(m);
  m.attr("_KernelCalls") = kind;
  // Makes `call` run later calls of the kernel that it takes. `plan` says whether `call` is still valid, or is None if it always is.
  // `bindings` are those that this depends on, or None if it depends on more. `names` are the names of the keyword arguments.
  m.def("_remember_call",
        [kind](const py::object& kernel, const py::object& call, py::object plan, py::object bindings, const py::tuple& names) {
          if (!py::isinstance(kernel, kind)) throw ArgumentError("argument `kernel` of _remember_call is no kernel. Fix: pass a kernel.");
          const auto* const held = static_cast<std::shared_ptr<FastCall>*>(PyCapsule_GetPointer(call.ptr(), kCapsule));
          if (held == nullptr) throw py::error_already_set();
          KnownCall known{*held, {}, plan.is_none() ? py::object() : std::move(plan), {}};
          if (!bindings.is_none()) known.bindings = std::move(bindings);
          for (const py::handle name : names) known.names.push_back(py::reinterpret_borrow<py::object>(name));
          remember_call(kernel.ptr(), std::move(known));
        });
  m.def("_bits_given", [](ir::DataType type, const py::object& value) { return bits_given(type, value); });
  m.def("_same_bindings", [](const py::tuple& bindings) { return same_bindings(bindings.ptr()); });
  // Sets or clears a reason to send this thread's calls to Python, such as a recording. Each reason has a bit of its own.
  m.def("_leave_calls", [](unsigned bit, bool on) { left_to_python = on ? left_to_python | bit : left_to_python & ~bit; });
}

}  // namespace vyre::python
