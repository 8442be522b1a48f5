// Finds where in the user's source a node is being made. This runs for every node, so a place found once is remembered by the
// call's code object and instruction: a loop that makes 100,000 nodes looks its line up once.
#include <pybind11/pybind11.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"

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

// Whether a file belongs to the package itself. Its runnable examples (demo) and its library (std) are written like user code, and count as
// files of the user.
bool internal(std::string_view file) {
  if (!file.starts_with(package_folder())) return false;
  const std::string_view inside = file.substr(package_folder().size());
  return !inside.starts_with("demo") && !inside.starts_with("std/");
}

// The arguments of vyre.hide_frames so far. Guarded by the GIL. Never destroyed, because the interpreter ends before static objects.
struct Hidden {
  std::unordered_set<PyObject*> code;  // owned
  // Each name includes its submodules. contextlib and functools call the functions that they wrap, so their frames are never the user's.
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

constexpr const char* kMark = "__tracebackhide__";

// Whether vyre.hide_frames hides the frame, or `__tracebackhide__` is true in its local or global variables, as for pytest.
bool is_hidden(PyFrameObject* frame, PyCodeObject* code) {
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
  PyCodeObject* code = nullptr;  // owned, so that no other code object gets its address
  int instruction = 0;
  Frame frame = Frame::User;
  ir::SourcePlace place;
};

// Caches what all instructions of the last function that made a node share. Most statements come from one function.
struct Function {
  PyCodeObject* code = nullptr;  // owned
  PyObject* globals = nullptr;   // compared by address alone
  bool marks = false;            // it has a variable __tracebackhide__
  Known::Frame frame = Known::Frame::User;
  ir::SourcePlace place;  // its file
};
Function& last_function() {
  static auto& instance = *new Function;  // never destroyed, because the interpreter ends first
  return instance;
}

using Slots = std::array<Known, 1024>;
// A small direct-mapped cache, which keeps at most one code object alive for each slot. Guarded by the GIL. Never destroyed,
// because the interpreter ends before static objects.
Slots& slots() {
  static auto& instance = *new Slots;
  return instance;
}

// Forgets the places that were found before a function or a module was hidden.
void forget_places() {
  // Releasing a code object may run code that calls caller(), so the slots are emptied first.
  Slots& before = *new Slots;
  std::swap(before, slots());
  for (const Known& known : before) Py_XDECREF(known.code);
  delete &before;
  Py_XDECREF(std::exchange(last_function().code, nullptr));
}

int instruction_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return PyFrame_GetLineNumber(frame);
#endif
}

py::object globals_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return py::reinterpret_steal<py::object>(PyFrame_GetGlobals(frame));
#else
  return py::handle(reinterpret_cast<PyObject*>(frame)).attr("f_globals");
#endif
}

#if PY_VERSION_HEX >= 0x030B0000
struct Columns {
  int line = 0, column = -1, end_line = 0, end_column = -1;  // columns count from 0, as in Python; -1 if unknown
};

// The columns of the instructions of one code object, read in order from its location table, whose form CPython documents
// (InternalDocs/code_objects.md, since 3.11). Python looks an instruction up from the table's beginning, which is quadratic for a function
// of thousands of lines that makes a statement in each; `co_positions()` makes a tuple for each instruction.
class ColumnsOf {
 public:
  // Functions shorter than this are looked up directly.
  static constexpr Py_ssize_t kLongCode = 2000;  // bytes

  Columns at(PyCodeObject* code, int instruction) {
    if (code != code_) {
      const py::bytes table = py::handle(reinterpret_cast<PyObject*>(code)).attr("co_linetable");
      Py_INCREF(code);
      Py_XDECREF(std::exchange(code_, code));
      table_ = std::string(table);
      next_ = 0;
      line_ = code->co_firstlineno;
      read_.clear();
    }
    const auto wanted = static_cast<std::size_t>(instruction) / sizeof(std::uint16_t);
    while (read_.size() <= wanted && next_ < table_.size()) read_entry();
    return wanted < read_.size() ? read_[wanted] : Columns{};
  }

 private:
  // The forms of an entry, by the number in its first byte.
  enum Form : unsigned { kShortEnd = 10, kOneLineEnd = 13, kNoColumns = 13, kLong = 14, kNone = 15 };

  // Reads one entry, which covers one to eight code units.
  void read_entry() {
    const unsigned first = byte(), form = first >> 3 & 15, units = (first & 7) + 1;
    Columns found;
    if (form < kShortEnd) {
      const unsigned columns = byte();
      const int column = static_cast<int>(form << 3 | (columns >> 4 & 7));
      found = {line_, column, line_, column + static_cast<int>(columns & 15)};
    } else if (form < kOneLineEnd) {
      line_ += static_cast<int>(form - kShortEnd);
      const int column = static_cast<int>(byte());
      found = {line_, column, line_, static_cast<int>(byte())};
    } else if (form != kNone) {
      const unsigned change = number();
      line_ += (change & 1) != 0 ? -static_cast<int>(change >> 1) : static_cast<int>(change >> 1);
      found = {line_, -1, line_, -1};
      if (form == kLong) {
        found.end_line += static_cast<int>(number());
        found.column = static_cast<int>(number()) - 1;
        found.end_column = static_cast<int>(number()) - 1;
      }
    }
    read_.insert(read_.end(), units, found);
  }

  unsigned byte() { return next_ < table_.size() ? static_cast<unsigned char>(table_[next_++]) : 0; }

  // Reads a number of several bytes: six bits in each byte, the lowest first; bit 6 says that another byte follows.
  unsigned number() {
    unsigned value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const unsigned part = byte();
      value |= (part & 63) << shift;
      if ((part & 64) == 0) break;
    }
    return value;
  }

  PyCodeObject* code_ = nullptr;  // owned
  std::string table_;
  std::size_t next_ = 0;
  int line_ = 0;
  std::vector<Columns> read_;  // by code unit
};

Columns columns_of(PyCodeObject* code, int instruction) {
  // Never destroyed, because the interpreter ends before static objects.
  static auto& last = *new ColumnsOf;
  if (Py_SIZE(code) * static_cast<Py_ssize_t>(sizeof(std::uint16_t)) >= ColumnsOf::kLongCode) return last.at(code, instruction);
  Columns found;
  if (PyCode_Addr2Location(code, instruction, &found.line, &found.column, &found.end_line, &found.end_column) == 0) return {};
  return found;
}
#endif

const Function& function_of(PyFrameObject* frame, PyCodeObject* code) {
  Function& last = last_function();
  const py::object globals = globals_of(frame);
  // A function with a variable __tracebackhide__ may set it in one call and not in the next, so it is looked at each time.
  if (last.code == code && last.globals == globals.ptr() && last.frame == Known::Frame::User && !last.marks) return last;
  Function found;
  found.marks = py::handle(reinterpret_cast<PyObject*>(code)).attr("co_varnames").contains(kMark);
  Py_INCREF(code);
  found.code = code;
  found.globals = globals.ptr();
  const std::string file = lenient_text(code->co_filename);
  if (internal(file)) {
    found.frame = Known::Frame::Internal;
  } else {
    if (is_hidden(frame, code)) found.frame = Known::Frame::Hidden;
    found.place.file = ir::intern_file(file);
  }
  PyCodeObject* before = std::exchange(last, found).code;
  Py_XDECREF(before);
  return last;
}

Known look_up(PyFrameObject* frame, PyCodeObject* code, int instruction) {
  const Function& function = function_of(frame, code);
  Known result;
  Py_INCREF(code);
  result.code = code;
  result.instruction = instruction;
  result.frame = function.frame;
  result.place = function.place;
  if (result.frame == Known::Frame::Internal) return result;
#if PY_VERSION_HEX >= 0x030B0000
  const Columns at = columns_of(code, instruction);
  if (at.column >= 0 && at.line > 0) {
    result.place.line = static_cast<std::uint32_t>(at.line);
    constexpr int kLast = 0xFFFF;
    if (at.column < kLast) result.place.column = static_cast<std::uint16_t>(at.column + 1);
    if (at.end_line == at.line && at.end_column >= 0 && at.end_column < kLast) {
      result.place.end_column = static_cast<std::uint16_t>(at.end_column + 1);
    }
    return result;
  }
#endif
  const int line = PyFrame_GetLineNumber(frame);
  result.place.line = line > 0 ? static_cast<std::uint32_t>(line) : 0;
  return result;
}

const Known& known(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  const int instruction = instruction_of(frame);
  Slots& all = slots();
  Known& slot = all[((reinterpret_cast<std::uintptr_t>(code) >> 4) + static_cast<std::size_t>(instruction) * 31) % all.size()];
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
  ir::SourcePlace innermost;  // the result if all frames are hidden
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
        forget_places();
      },
      py::arg("code"));
  m.def(
      "_hide_module",
      [](std::string name) {
        hidden().modules.insert(std::move(name));
        forget_places();
      },
      py::arg("name"));
}

}  // namespace vyre::python
