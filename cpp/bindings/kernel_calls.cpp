// The base class of kernels in Python: what happens when one is called.
//
// A kernel keeps a FastCall for each kind of call that was right, the last ones first. A call goes to the first of them that takes its
// arguments, and, if none does, to the method `_call` in Python, which does all checks and has the messages. Whatever changes what a call
// means leaves calls to Python as well: keywords other than the place, a recording of this thread, a kernel that is traced.
//
// The class is made with Python's C API, because pybind11 would look up types and build an argument list for each call.
#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "fast_call.hpp"
#include "graph.hpp"

namespace vyre::python {
namespace {

constexpr std::size_t kMostCalls = 8;
constexpr char kCapsule[] = "vyre._core.FastCall";

struct Known {
  std::shared_ptr<FastCall> call;
  // Has `is_current()`, which says whether the values of Python that the kernel has captured are as they were. Null if it captured none.
  py::object plan;
};

struct KernelCalls {
  PyObject_HEAD std::vector<Known>* known;  // null until there is one
};

// Bits that say why this thread's calls have to be looked at in Python; see _leave_calls.
thread_local constinit unsigned left_to_python = 0;

KernelCalls* calls_of(PyObject* self) { return reinterpret_cast<KernelCalls*>(self); }

bool is_current(const Known& known) {
  static PyObject* const name = PyUnicode_InternFromString("is_current");
  if (!known.plan) return true;
  const auto answer = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(known.plan.ptr(), name));
  if (!answer) throw py::error_already_set();
  return answer.ptr() == Py_True;
}

// Returns false where Python has to look at the keywords.
bool understood(PyObject* kwargs, Asked& asked) {
  static PyObject* const backend = PyUnicode_InternFromString("backend");
  static PyObject* const device = PyUnicode_InternFromString("device");
  if (kwargs == nullptr) return true;
  const Py_ssize_t count = PyDict_GET_SIZE(kwargs);
  if (count == 0) return true;
  Py_ssize_t found = 0;
  for (const auto& [name, option] : {std::pair(backend, &asked.backend), std::pair(device, &asked.device)}) {
    PyObject* const value = PyDict_GetItemWithError(kwargs, name);
    if (value == nullptr) continue;
    ++found;
    if (value != Py_None) *option = value;
  }
  return found == count;
}

// The result of a known call; null, without an exception, if the call is none.
PyObject* call_known(KernelCalls* self, PyObject* args, PyObject* kwargs) {
  Asked asked;
  if (self->known == nullptr || left_to_python != 0 || Graph::recording() != nullptr || !understood(kwargs, asked)) return nullptr;
  const std::span<PyObject* const> given(&PyTuple_GET_ITEM(args, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(args)));
  for (std::size_t k = 0; k < self->known->size(); ++k) {
    const Known known = (*self->known)[k];  // a copy: another call may change the list meanwhile
    if (!is_current(known)) continue;
    py::object result = known.call->call(given, asked);
    if (result) return result.release().ptr();
  }
  return nullptr;
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  static PyObject* const in_python = PyUnicode_InternFromString("_call");
  try {
    if (PyObject* const result = call_known(calls_of(self), args, kwargs)) return result;
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind&) {
    throw;  // how Python ends a thread that comes back after the interpreter
#endif
  } catch (...) {
    py::detail::try_translate_exceptions();
    return nullptr;
  }
  const auto method = py::reinterpret_steal<py::object>(PyObject_GetAttr(self, in_python));
  return method ? PyObject_Call(method.ptr(), args, kwargs) : nullptr;
}

void remember(PyObject* self, std::shared_ptr<FastCall> call, py::object plan) {
  KernelCalls* const calls = calls_of(self);
  if (calls->known == nullptr) calls->known = new std::vector<Known>;
  Known dropped;  // destroyed when the list is whole again
  if (calls->known->size() == kMostCalls) {
    dropped = std::move(calls->known->back());
    calls->known->pop_back();
  }
  calls->known->insert(calls->known->begin(), {std::move(call), plan.is_none() ? py::object() : std::move(plan)});
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (calls_of(self)->known == nullptr) return 0;
  for (const Known& known : *calls_of(self)->known) Py_VISIT(known.plan.ptr());
  return 0;
}

int clear(PyObject* self) {
  delete std::exchange(calls_of(self)->known, nullptr);
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

py::capsule in_capsule(std::shared_ptr<FastCall> call) {
  auto held = std::make_unique<std::shared_ptr<FastCall>>(std::move(call));
  py::capsule made(held.get(), kCapsule,
                   [](PyObject* capsule) { delete static_cast<std::shared_ptr<FastCall>*>(PyCapsule_GetPointer(capsule, kCapsule)); });
  static_cast<void>(held.release());
  return made;
}

void bind_kernel_calls(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  const py::object kind = make_class(m);
  m.attr("_KernelCalls") = kind;
  // Lets the next call of the kernel that `call` takes go there. `plan` says whether that still holds, or is None if it always does.
  m.def("_remember_call", [kind](const py::object& kernel, const py::object& call, py::object plan) {
    if (!py::isinstance(kernel, kind)) throw ArgumentError("argument `kernel` of _remember_call is none. Fix: pass a kernel.");
    const auto* const held = static_cast<std::shared_ptr<FastCall>*>(PyCapsule_GetPointer(call.ptr(), kCapsule));
    if (held == nullptr) throw py::error_already_set();
    remember(kernel.ptr(), *held, std::move(plan));
  });
  // Says that something in Python looks at this thread's calls from now on, or no longer. Each has a bit of its own.
  m.def("_leave_calls", [](unsigned bit, bool on) { left_to_python = on ? left_to_python | bit : left_to_python & ~bit; });
}

}  // namespace vyre::python
