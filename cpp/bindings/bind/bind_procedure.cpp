// Binds the class Procedure, and the ProcedureBuilder with which vyre/_procedure makes one.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/ir/text/procedure_print.hpp"
#include "vyre/validate/procedures/valid_procedure.hpp"

namespace vyre::python {
namespace {

using ir::ArrayId;
using ir::ArrayPart;
using ir::Procedure;
using ir::ProcedureBuilder;
using ir::SizeId;

// Python's builder names sizes and arrays by their index.
SizeId size_of(std::uint32_t index) { return {index}; }

// (array, view or None, offset or None, length or None)
using PartState = std::tuple<std::uint32_t, std::optional<ir::DataType>, std::optional<std::uint32_t>, std::optional<std::uint32_t>>;

ArrayPart array_part(const PartState& state) {
  const auto& [array, view, offset, length] = state;
  ArrayPart part{.array = ArrayId{array}, .view = view, .offset = {}, .length = {}};
  if (offset) part.offset = size_of(*offset);
  if (length) part.length = size_of(*length);
  return part;
}

std::vector<SizeId> sizes_of(const std::vector<std::uint32_t>& indices) {
  std::vector<SizeId> result;
  result.reserve(indices.size());
  for (std::uint32_t index : indices) result.push_back(size_of(index));
  return result;
}

template <std::size_t n>
std::uint32_t row_of(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) reject("a name here", fmt::format("one of {}", fmt::join(names, ", ")), std::string(name));
  return static_cast<std::uint32_t>(found - names.begin());
}

ir::SizeOp op_of(std::string_view wanted) {
  const auto row = std::ranges::find(ir::kSizeOps, wanted, &ir::SizeOpInfo::text);
  if (row != ir::kSizeOps.end()) return row->op;
  reject("a size operation", "one of size_ops.def", std::string(wanted));
}

// Returns the numbers of the operands; of a leaf what it names.
py::tuple operands_of(const ir::SizeTerm& term) {
  switch (term.op) {
    case ir::SizeOp::Literal:
      return py::make_tuple(term.literal);
    case ir::SizeOp::Length:
      return py::make_tuple(term.a, term.b);
    case ir::SizeOp::Limit:
      return py::make_tuple(ir::kLimitNames[term.a]);
    case ir::SizeOp::Number:
    case ir::SizeOp::Turn:
      return py::make_tuple(term.a);
    default:
      py::list operands;
      ir::for_each_operand(term, [&](SizeId id) { operands.append(id.index); });
      return operands;
  }
}

// Returns (number, operation, operands) of each size that these consist of, operands first.
py::list terms_of(const ir::Sizes& sizes, const std::vector<SizeId>& roots) {
  py::list terms;
  for (const SizeId id : ir::parts(sizes, roots)) {
    terms.append(py::make_tuple(id.index, ir::text(sizes[id].op), operands_of(sizes[id])));
  }
  return terms;
}

// Returns (number by which sizes name it, shape) of each array of the interface, and the terms of the
// shapes; an input has none.
py::tuple shapes_of(const Procedure& procedure) {
  py::list shapes;
  std::vector<SizeId> roots;
  for (const ArrayId id : procedure.interface()) {
    std::vector<std::uint32_t> shape;
    for (const SizeId extent : procedure.arrays()[id].shape) shape.push_back(extent.index);
    for (const SizeId extent : procedure.arrays()[id].shape) roots.push_back(extent);
    shapes.append(py::make_tuple(id.index, shape));
  }
  return py::make_tuple(shapes, terms_of(procedure.sizes(), roots));
}

void def_sizes(py::class_<ProcedureBuilder>& builder) {
  builder.def("literal", [](ProcedureBuilder& self, std::uint64_t value) { return self.literal(value).index; });
  builder.def("length", [](ProcedureBuilder& self, std::uint32_t array, std::uint32_t axis) { return self.length({array}, axis).index; });
  builder.def("number", [](ProcedureBuilder& self, std::uint32_t index) { return self.number(index).index; });
  builder.def("limit", [](ProcedureBuilder& self, const std::string& name) {
    return self.limit(static_cast<ir::Limit>(row_of(ir::kLimitNames, name))).index;
  });
  builder.def("turn", [](ProcedureBuilder& self, std::uint32_t number) { return self.turn(number).index; });
  builder.def("apply", [](ProcedureBuilder& self, const std::string& op, const std::vector<std::uint32_t>& operands) {
    std::array<SizeId, 3> given{};
    for (std::size_t k = 0; k < operands.size() && k < given.size(); ++k) given[k] = size_of(operands[k]);
    return self.apply(op_of(op), given[0], given[1], given[2]).index;
  });
  builder.def("terms", [](const ProcedureBuilder& self, const std::vector<std::uint32_t>& sizes) {
    return terms_of(self.sizes(), sizes_of(sizes));
  });
}

void def_steps(py::class_<ProcedureBuilder>& builder) {
  builder.def("word_uses", [](ProcedureBuilder& self, const std::vector<std::pair<std::string, std::string>>& uses) {
    std::vector<ir::WordUse> told;
    told.reserve(uses.size());
    for (const auto& [what, fix] : uses) told.push_back({what, fix});
    return self.word_uses(std::move(told));
  });
  builder.def("dispatch",
              [](ProcedureBuilder& self, const std::string& name, const PyProgram& program,
                 const std::vector<std::variant<PartState, std::vector<std::uint32_t>>>& bound, const std::array<std::uint32_t, 3>& most,
                 const std::optional<PartState>& counts, bool counts_invocations, const std::optional<std::uint32_t>& word_uses) {
                ir::Dispatch step{.name = name, .program = self.program(program.program), .bound = {}, .grid = {}};
                if (word_uses) step.word_uses = *word_uses;
                for (const auto& each : bound) {
                  if (const auto* part = std::get_if<PartState>(&each)) {
                    step.bound.emplace_back(array_part(*part));
                  } else {
                    step.bound.emplace_back(sizes_of(std::get<std::vector<std::uint32_t>>(each)));
                  }
                }
                for (std::size_t axis = 0; axis < 3; ++axis) step.grid.most[axis] = size_of(most[axis]);
                if (counts) step.grid.counts = array_part(*counts);
                step.grid.counts_invocations = counts_invocations;
                self.dispatch(std::move(step));
              });
  builder.def("invoke", [](ProcedureBuilder& self, const Procedure& procedure, const std::vector<PartState>& arrays,
                           const std::vector<std::uint32_t>& numbers) {
    ir::Invoke step{.procedure = self.procedure(procedure),
                    .arrays = {},
                    .numbers = sizes_of(numbers),
                    .told = std::make_shared<const Procedure>(procedure)};
    for (const PartState& each : arrays) step.arrays.push_back(array_part(each));
    self.invoke(std::move(step));
  });
  builder.def(
      "repeat",
      [](ProcedureBuilder& self, std::uint32_t count, const std::optional<PartState>& until) {
        return self.repeat(size_of(count), until ? std::optional(array_part(*until)) : std::nullopt);
      },
      py::arg("count"), py::arg("until") = py::none());
  builder.def("when", [](ProcedureBuilder& self, std::uint32_t condition) { self.when(size_of(condition)); });
  builder.def("otherwise", [](ProcedureBuilder& self) { self.otherwise(); });
  builder.def("end", [](ProcedureBuilder& self) { self.end(); });
  builder.def("swap", [](ProcedureBuilder& self, std::uint32_t a, std::uint32_t b) { self.swap({a}, {b}); });
  builder.def("clear", [](ProcedureBuilder& self, const PartState& part) { self.clear(array_part(part)); });
  builder.def("require", [](ProcedureBuilder& self, std::uint32_t condition, const std::string& message) {
    self.require(size_of(condition), message);
  });
  builder.def("line", [](ProcedureBuilder& self, const std::string& line) { self.line(line); });
  builder.def("result", [](ProcedureBuilder& self, std::uint32_t array) { self.result({array}); });
}

Procedure parse(py::handle text) {
  const std::string source = to_text(text, "argument `text` of Procedure.parse");
  const WithoutGil unlocked;
  return ir::parse_procedure(source);
}

Procedure procedure_from_bytes(const std::string& bytes) {
  const WithoutGil unlocked;
  return ir::procedure_from_bytes(std::as_bytes(std::span(bytes)));
}

void bind_builder(py::module_& m) {
  py::class_<ProcedureBuilder> builder(m, "_ProcedureBuilder", py::is_final(), made_whole<ProcedureBuilder>());
  def_new(builder, [](const py::args& args, const py::kwargs&) {
    return std::make_unique<ProcedureBuilder>(to_text(args[0], "the name of a procedure"));
  });
  def_no_pickle(builder, "a builder");
  def_sizes(builder);
  builder.def("array",
              [](ProcedureBuilder& self, const std::string& name, const std::string& role, ir::DataType element, std::uint32_t axes,
                 const std::vector<std::uint32_t>& shape, bool zeros, const std::optional<py::bytes>& contents) {
                ir::ArrayDecl decl{.name = name,
                                   .role = static_cast<ir::ArrayRole>(row_of(ir::kRoleNames, role)),
                                   .element = element,
                                   .axes = axes,
                                   .shape = sizes_of(shape),
                                   .zeros = zeros,
                                   .contents = nullptr};
                if (contents) {
                  const std::string_view bytes = *contents;
                  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
                  decl.contents = std::make_shared<const std::vector<std::byte>>(begin, begin + bytes.size());
                }
                return self.array(std::move(decl)).index;
              });
  builder.def("role", [](ProcedureBuilder& self, std::uint32_t array, const std::string& role) {
    self.role({array}, static_cast<ir::ArrayRole>(row_of(ir::kRoleNames, role)));
  });
  builder.def("element", [](ProcedureBuilder& self, std::uint32_t array, ir::DataType element) { self.element({array}, element); });
  builder.def("declare", [](ProcedureBuilder& self, const std::string& name, ir::DataType type) { return self.declare({name, type}); });
  def_steps(builder);
  builder.def("finish", &ProcedureBuilder::finish);
}

void def_forms(py::class_<Procedure>& procedure) {
  procedure.def(
      "to_text", [](const Procedure& self) { return lenient_str(ir::to_text(self)); },
      R"(to_text() -> str

The text form: the arrays, sizes, programs and steps, read back by Procedure.parse as exactly this procedure.

>>> @vyre.procedure
... def cleared(x: vyre.InOut[vyre.u32], n: vyre.u32):
...     with vyre.when(n > 3):
...         vyre.clear(x)
>>> print(cleared.procedure.to_text())
vyre 1
procedure "cleared"
number n: u32
in_out x: u32[]
when (3 < n) {
  clear x
}
<BLANKLINE>)");
  procedure.def(
      "to_bytes", [](const Procedure& self) { return py::bytes(self.bytes()); },
      R"(to_bytes() -> bytes

The procedure in its binary form; equal procedures have equal bytes.

>>> @vyre.procedure
... def cleared(x: vyre.InOut[vyre.u32]):
...     vyre.clear(x)
>>> vyre.Procedure.from_bytes(cleared.procedure.to_bytes()) == cleared.procedure
True)");
  procedure.def(
      "check",
      [](const Procedure& self) {
        Diagnostics found = mistakes_of(self);
        if (!found.empty()) throw ValidationError(std::move(found));
      },
      R"(check() -> None

Raises ValidationError with every rule that the procedure or one of its programs breaks. vyre.validate gives them as a list.

>>> @vyre.procedure
... def unwritten(x: vyre.In[vyre.u32]):
...     return vyre.scratch(vyre.u32, x.length)
>>> unwritten.procedure.check()
Traceback (most recent call last):
vyre.errors.ValidationError: P011 at arrays[1]: no step writes output `scratch`. Fix: write it, or make it with vyre.scratch(..., zeros=True).)");
}

}  // namespace

void bind_procedure(py::module_& m) {
  py::class_<Procedure> procedure(m, "Procedure", py::is_final(), made_whole<Procedure>(),
                                  R"(Several programs over named arrays of any length, as a value: what ``@vyre.procedure`` records.

It is immutable, and equal to another one with the same arrays, sizes, programs and steps. It is made with ``vyre.procedure``.

>>> @vyre.procedure
... def cleared(x: vyre.InOut[vyre.u32]):
...     vyre.clear(x)
>>> cleared.procedure
<vyre.Procedure cleared(x): 1 step>
>>> print(cleared.procedure.to_text())
vyre 1
procedure "cleared"
in_out x: u32[]
clear x
<BLANKLINE>)");
  def_no_new(procedure, "write a function under @vyre.procedure, and take its .procedure");
  procedure.def_static(
      "from_bytes", [](py::handle data) { return procedure_from_bytes(bytes_argument(data, "argument `data` of Procedure.from_bytes")); },
      py::arg("data"),
      R"(from_bytes(data) -> Procedure

The procedure of these bytes. Raises ParseError for bytes that to_bytes does not give.

>>> @vyre.procedure
... def cleared(x: vyre.InOut[vyre.u32]):
...     vyre.clear(x)
>>> vyre.Procedure.from_bytes(cleared.procedure.to_bytes())
<vyre.Procedure cleared(x): 1 step>)");
  procedure.def_static("parse", parse, py::arg("text"),
                       R"(parse(text) -> Procedure

The procedure that Procedure.to_text() wrote, or that a person wrote by hand. Raises ParseError with the line and the column.

>>> cleared = vyre.Procedure.parse('''
... vyre 1
... procedure "cleared"
... in_out x: u32[]
... clear x
... ''')
>>> cleared
<vyre.Procedure cleared(x): 1 step>
>>> vyre.Procedure.parse(cleared.to_text()) == cleared
True)");
  explain_calls(procedure, "Procedure");
  procedure.def_property_readonly(
      "name", [](const Procedure& self) { return lenient_str(self.name()); }, "Its name.");
  procedure.def_property_readonly(
      "programs",
      [](const Procedure& self) {
        py::list made;
        for (const ir::Program& program : self.programs()) made.append(PyProgram(program));
        return made;
      },
      "The programs of its own steps, each once, in the order of first use.");
  procedure.def_property_readonly(
      "procedures", [](const Procedure& self) { return self.procedures(); }, "The procedures that its steps invoke, each once.");
  def_forms(procedure);
  procedure.def("__reduce__", [](const Procedure& self) {
    return py::make_tuple(py::module_::import("vyre._pickle").attr("procedure"), py::make_tuple(py::bytes(self.bytes())));
  });
  procedure.def("__eq__",
                [](const Procedure& self, py::handle other) { return is<Procedure>(other) && self == other.cast<const Procedure&>(); });
  procedure.def("__hash__", [](const Procedure& self) { return static_cast<py::ssize_t>(self.hash() >> 1); });
  procedure.def("__copy__", [](py::object self) { return self; });
  procedure.def("__deepcopy__", [](py::object self, py::handle) { return self; });
  def_html_form(procedure, "procedure");
  procedure.def("__repr__", [](const Procedure& self) {
    std::string names;
    for (const ir::NumberDecl& number : self.numbers()) names += fmt::format(", {}", number.name);
    std::string arrays;
    for (ArrayId id : self.interface()) {
      if (self.arrays()[id].role != ir::ArrayRole::Output)
        arrays += fmt::format("{}{}", arrays.empty() ? "" : ", ", self.arrays()[id].name);
    }
    if (arrays.empty() && !names.empty()) names = names.substr(2);
    const std::size_t steps = self.steps().size();
    return lenient_str(fmt::format("<vyre.Procedure {}({}{}): {} step{}>", self.name(), arrays, names, steps, steps == 1 ? "" : "s"));
  });
  bind_builder(m);
  m.def("_procedure_shapes", shapes_of, py::arg("procedure"));
  m.def("_size_value", [](const std::string& op, const std::vector<std::uint64_t>& operands) {
    std::array<std::uint64_t, 3> given{};
    std::copy_n(operands.begin(), std::min(operands.size(), given.size()), given.begin());
    return ir::apply(op_of(op), given[0], given[1], given[2]);
  });
}

}  // namespace vyre::python
