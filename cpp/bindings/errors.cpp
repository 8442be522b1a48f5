// Translates C++ errors to the Python exceptions of vyre/errors.py, which are plain Python classes so that users can subclass and pickle
// them.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/nearest.hpp"

namespace vyre::python {
namespace {

// Returns the first and the last bytes of a text with "..." between them, and splits no character.
std::string ends(std::string_view text, std::size_t first, std::size_t last) {
  const auto within_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u; };
  std::size_t rest = text.size() - last;
  while (first > 0 && within_character(first)) --first;
  while (rest < text.size() && within_character(rest)) ++rest;
  return std::string(text.substr(0, first)).append("...").append(text.substr(rest));
}

// Shortens a message, because a program may have many names, each of megabytes. Every long quotation keeps only its two ends. If the
// message is still too long, its problem and its Fix keep only their two ends.
std::string shortened(std::string_view message) {
  constexpr std::size_t kLongestPiece = 1000, kLongest = 10'000;
  constexpr std::string_view kQuotes = "`'\"";
  if (message.size() <= kLongestPiece) return std::string(message);
  std::string result;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find_first_of(kQuotes), message.size() - 1) + 1;
    const std::string_view piece = message.substr(0, end);
    result += piece.size() <= kLongestPiece ? std::string(piece) : ends(piece, 100, 100);
    message.remove_prefix(end);
  }
  if (result.size() <= kLongest) return result;
  const std::string_view all = result;
  const std::size_t fix = std::min(all.rfind(" Fix: "), all.size());
  const auto part = [](std::string_view text) {
    return text.size() <= kLongest / 2 ? std::string(text) : ends(text, kLongest / 2 - 500, 500);
  };
  return part(all.substr(0, fix)) + part(all.substr(fix));
}

void raise(const char* name, const char* message) {
  const py::object type = py::module_::import("vyre.errors").attr(name);
  PyErr_SetObject(type.ptr(), lenient_str(shortened(message)).ptr());
}

void raise_validation(const Diagnostics& diagnostics) {
  py::list list;
  for (const Diagnostic& diagnostic : diagnostics) list.append(py::cast(diagnostic));
  const py::object type = py::module_::import("vyre.errors").attr("ValidationError");
  PyErr_SetObject(type.ptr(), type(list).ptr());
}

// Returns the class of vyre/errors.py that has the error's name.
const char* class_of(const Error& error) {
#define CLASS(name) \
  if (dynamic_cast<const name*>(&error) != nullptr) return #name;
  // Derived classes come before their bases.
  CLASS(CallError)
  CLASS(ArgumentError)
  CLASS(ParseError)
  CLASS(LoweringError)
  CLASS(BindingError)
  CLASS(CapabilityError)
  CLASS(DivergentBarrierError)
  CLASS(ExecutionError)
  CLASS(DeviceLostError)
  CLASS(DeviceMemoryError)
  CLASS(DispatchTimeoutError)
  CLASS(DeviceError)
#undef CLASS
  return "VyreError";
}

void translate(std::exception_ptr pointer) {
  if (!pointer) return;
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (const ValidationError& error) {
    raise_validation(error.diagnostics());
  } catch (const Interrupted& error) {
    PyErr_SetObject(PyExc_KeyboardInterrupt, lenient_str(error.what()).ptr());
  } catch (const Error& error) {
    raise(class_of(error), error.what());
  } catch (const BugError& error) {
    raise("InternalError", error.what());
  } catch (const py::cast_error& error) {
    // Functions report wrong arguments with their own messages; this handler is for arguments that no function checks.
    raise("ArgumentError",
          fmt::format("an argument is of a type that the call does not take: {}. Fix: pass what its documentation says.", error.what())
              .c_str());
  }
}

}  // namespace

void bind_errors(py::module_& m) {
  py::register_local_exception_translator(translate);
  m.def(
      "_did_you_mean",
      [](py::handle name, const std::vector<std::string>& known) {
        return lenient_str(did_you_mean(lenient_text(name), std::vector<std::string_view>(known.begin(), known.end())));
      },
      py::arg("name"), py::arg("known"));
}

}  // namespace vyre::python
