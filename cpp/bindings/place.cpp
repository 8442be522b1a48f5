// Where in the user's source a node is being made. This runs for every node, so a place found once is remembered by the call's
// code object and instruction: a loop that makes 100,000 nodes looks its line up once.
#include <pybind11/pybind11.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "bindings.hpp"

namespace vyre::python {
namespace {

// The folder of this package: "<folder of python/vyre>/". Found from the path of vyre.errors.
const std::string& package_folder() {
  static const std::string folder = [] {
    const auto file = py::module_::import("vyre.errors").attr("__file__").cast<std::string>();
    return file.substr(0, file.rfind('/') + 1);
  }();
  return folder;
}

// Whether a file belongs to the package itself. Its runnable examples (demo) count as the user's files.
bool internal(std::string_view file) {
  return file.starts_with(package_folder()) && file.find("/demo", package_folder().size() - 1) == std::string_view::npos;
}

// The arguments of vyre.hide_frames so far. Guarded by the GIL; never destroyed, because the interpreter goes first.
struct Hidden {
  std::unordered_set<PyObject*> code;  // owned
  // Each name includes its submodules. The first two call the functions that they wrap, so no line of theirs is the user's.
  std::set<std::string, std::less<>> modules{"contextlib", "functools"};
};
Hidden& hidden() {
  static auto& instance = *new Hidden;
  return instance;
}

bool in_hidden_module(std::string_view name) {
  while (true) {
    if (hidden().modules.contains(name)) return true;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return false;
    name = name.substr(0, dot);
  }
}

bool is_true(PyObject* value) {
  const int truth = value == nullptr ? 0 : PyObject_IsTrue(value);
  if (truth < 0) PyErr_Clear();
  return truth > 0;
}

// Whether vyre.hide_frames hides the frame, or `__tracebackhide__` is true in its local or global variables, as pytest has it.
bool is_hidden(PyFrameObject* frame, PyCodeObject* code) {
  constexpr const char* kMark = "__tracebackhide__";
  if (hidden().code.contains(reinterpret_cast<PyObject*>(code))) return true;
  const py::handle self(reinterpret_cast<PyObject*>(frame));
  const py::object globals = self.attr("f_globals");
  if (PyDict_Check(globals.ptr())) {
    PyObject* name = PyDict_GetItemString(globals.ptr(), "__name__");
    const char* text = name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (text == nullptr) PyErr_Clear();
    if (text != nullptr && in_hidden_module(text)) return true;
    if (is_true(PyDict_GetItemString(globals.ptr(), kMark))) return true;
  }
  if (!py::handle(reinterpret_cast<PyObject*>(code)).attr("co_varnames").contains(kMark)) return false;
  return is_true(py::object(self.attr("f_locals").attr("get")(kMark)).ptr());
}

struct Known {
  enum class Frame : std::uint8_t { User, Hidden, Internal };
  PyCodeObject* code = nullptr;  // owned, so that the address stays this code's
  int instruction = 0;
  Frame frame = Frame::User;
  ir::SourcePlace place;
};

using Slots = std::array<Known, 1024>;
// Direct-mapped and small: it keeps at most so many code objects alive. Guarded by the GIL; never destroyed, because the
// interpreter goes first.
Slots& slots() {
  static auto& instance = *new Slots;
  return instance;
}

// Forgets the places that were found before a function or a module was hidden.
void forget() {
  // Releasing a code object may run code that calls caller(), so the slots are emptied first.
  Slots& before = *new Slots;
  std::swap(before, slots());
  for (const Known& known : before) Py_XDECREF(known.code);
  delete &before;
}

int instruction_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return PyFrame_GetLineNumber(frame);
#endif
}

Known look_up(PyFrameObject* frame, PyCodeObject* code, int instruction) {
  Known result;
  Py_INCREF(code);
  result.code = code;
  result.instruction = instruction;
  const std::string file = lenient_text(code->co_filename);
  if (internal(file)) {
    result.frame = Known::Frame::Internal;
    return result;
  }
  if (is_hidden(frame, code)) result.frame = Known::Frame::Hidden;
  result.place.file = ir::intern_file(file);
  const int line = PyFrame_GetLineNumber(frame);
  result.place.line = line > 0 ? static_cast<std::uint32_t>(line) : 0;
#if PY_VERSION_HEX >= 0x030B0000
  int start_line = 0, start_column = 0, end_line = 0, end_column = 0;
  if (PyCode_Addr2Location(code, instruction, &start_line, &start_column, &end_line, &end_column) != 0 && start_column >= 0 &&
      start_line > 0) {
    result.place.line = static_cast<std::uint32_t>(start_line);
    constexpr int kLast = 0xFFFF;
    if (start_column < kLast) result.place.column = static_cast<std::uint16_t>(start_column + 1);
    if (end_line == start_line && end_column < kLast) result.place.end_column = static_cast<std::uint16_t>(end_column + 1);
  }
#endif
  return result;
}

const Known& known(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  const int instruction = instruction_of(frame);
  Slots& all = slots();
  Known& slot = all[((reinterpret_cast<std::uintptr_t>(code) >> 4) + static_cast<unsigned>(instruction) * 31u) % all.size()];
  if (slot.code != code || slot.instruction != instruction) {
    const Known found = look_up(frame, code, instruction);
    PyCodeObject* before = std::exchange(slot, found).code;
    Py_XDECREF(before);
  }
  Py_DECREF(code);
  return slot;
}

}  // namespace

ir::SourcePlace caller() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  ir::SourcePlace innermost;  // when all are hidden
  while (frame != nullptr) {
    const Known& place = known(frame);
    if (place.frame == Known::Frame::User) {
      Py_DECREF(frame);
      return place.place;
    }
    if (place.frame == Known::Frame::Hidden && !innermost.known()) innermost = place.place;
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  return innermost;
}

void bind_frames(py::module_& m) {
  m.def(
      "_hide_code",
      [](py::handle code) {
        if (!PyCode_Check(code.ptr())) throw py::type_error("argument `code` must be a code object. Fix: pass function.__code__.");
        if (hidden().code.insert(code.ptr()).second) code.inc_ref();
        forget();
      },
      py::arg("code"));
  m.def(
      "_hide_module",
      [](std::string name) {
        hidden().modules.insert(std::move(name));
        forget();
      },
      py::arg("name"));
}

}  // namespace vyre::python
