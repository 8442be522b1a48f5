// Where in the user's source a node is being made. This runs for every node, so a place found once is remembered by the call's
// code object and instruction: a loop that makes 100,000 nodes looks its line up once.
#include <pybind11/pybind11.h>

#include <array>
#include <string_view>
#include <unordered_map>

#include "bindings.hpp"

namespace vyre::python {
namespace {

// A file of this package: "<folder of python/vyre>/". Found from vyre/__init__'s own place.
const std::string& package_folder() {
  static const std::string folder = [] {
    const auto file = py::module_::import("vyre.errors").attr("__file__").cast<std::string>();
    return file.substr(0, file.rfind('/') + 1);
  }();
  return folder;
}

// The package's own calls are not the user's; its runnable examples are.
bool internal(std::string_view file) {
  return file.starts_with(package_folder()) && file.find("/demo", package_folder().size() - 1) == std::string_view::npos;
}

struct Known {
  PyCodeObject* code = nullptr;  // owned, so that the address stays this code's
  int instruction = 0;
  bool internal = false;
  ir::SourcePlace place;
};

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
  result.internal = internal(file);
  if (result.internal) return result;
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
  // Direct-mapped and small: it keeps at most so many code objects alive. Guarded by the GIL; never destroyed, because the
  // interpreter goes first.
  static auto& slots = *new std::array<Known, 1024>;
  PyCodeObject* code = PyFrame_GetCode(frame);
  const int instruction = instruction_of(frame);
  Known& slot = slots[((reinterpret_cast<std::uintptr_t>(code) >> 4) + static_cast<unsigned>(instruction) * 31u) % slots.size()];
  if (slot.code != code || slot.instruction != instruction) {
    PyCodeObject* before = slot.code;
    slot = look_up(frame, code, instruction);
    Py_XDECREF(before);
  }
  Py_DECREF(code);
  return slot;
}

}  // namespace

ir::SourcePlace caller() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    const Known& place = known(frame);
    if (!place.internal) {
      Py_DECREF(frame);
      return place.place;
    }
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  return {};
}

}  // namespace vyre::python
