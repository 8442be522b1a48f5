// Binds the classes BufferDecl and Program, and parse(), which reads the text form.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/convert/pickle.hpp"
#include "bindings/program.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/validate/resolution.hpp"

namespace vyre::python {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;

BufferDecl declared_buffer(py::handle name, py::handle binding, BufferAccess access, py::handle element, py::handle count,
                           const char* function) {
  BufferDecl result;
  result.name = to_text(name, argument("name", function));
  result.binding = to_u32(binding, argument("binding", function));
  result.access = access;
  result.element = to_type(element, argument("element", function));
  result.count = to_u32(count, argument("count", function));
  result.made_at = {caller()};
  return result;
}

// Binds the properties of a declaration, and the methods that make it a value: equality, hash, copies, repr and pickling.
void bind_declared(py::class_<BufferDecl>& decl) {
  // A declaration is not the array: expressions and statements access the buffer by its name, so indexing a declaration raises.
  const auto refuse = [](const BufferDecl& self, const char* fix) -> py::object {
    throw ArgumentError(
        fmt::format("a BufferDecl has no elements. Fix: write {}.", fmt::format(fmt::runtime(fix), quoted_text(self.name))));
  };
  decl.def("__getitem__", [=](const BufferDecl& self, py::handle) { return refuse(self, "Expr.load({}, index)"); });
  decl.def("__setitem__", [=](const BufferDecl& self, py::handle, py::handle) { refuse(self, "Node.store({}, index, value)"); });
  decl.def("__len__", [=](const BufferDecl& self) { return refuse(self, "Expr.buf_len({})"); });
  decl.def("__bool__", [](const BufferDecl&) { return true; });
  decl.def("__iter__", [=](const BufferDecl& self) { return refuse(self, "Node.loop(var, 0, Expr.buf_len({}), body)"); });
  decl.def_property_readonly(
      "name", [](const BufferDecl& self) { return lenient_str(self.name); }, "The name that expressions and inputs use.");
  decl.def_property_readonly(
      "binding", [](const BufferDecl& self) { return self.binding; }, "The program's number for it; 0 for workgroup and private memory.");
  decl.def_property_readonly(
      "access", [](const BufferDecl& self) { return self.access; }, "A BufferAccess.");
  decl.def_property_readonly(
      "element", [](const BufferDecl& self) { return self.element; }, "The DataType of an element.");
  decl.def_property_readonly(
      "count", [](const BufferDecl& self) { return self.count; }, "Elements; 0 when the host's array decides.");
  decl.def_property_readonly(
      "is_output", [](const BufferDecl& self) { return self.output; }, "Whether it is marked as the result.");
  decl.def_property_readonly(
      "atomic", [](const BufferDecl& self) { return self.atomic; }, "Whether it is workgroup memory that atomics may target.");
  decl.def("__eq__",
           [](const BufferDecl& self, py::handle other) { return is<BufferDecl>(other) && self == other.cast<const BufferDecl&>(); });
  auto state = [](const BufferDecl& self) {
    return py::make_tuple(py::bytes(self.name), self.binding, self.access, self.element, self.count, self.output, self.atomic);
  };
  decl.def("__hash__", [state](const BufferDecl& self) { return py::hash(state(self)); });
  decl.def("__copy__", [](py::object self) { return self; });
  decl.def("__deepcopy__", [](py::object self, py::handle) { return self; });
  decl.def("__repr__", [](const BufferDecl& self) { return lenient_str(brief(self)); });
  decl.def("__reduce__", [state](const BufferDecl& self) {
    return py::make_tuple(py::module_::import("vyre._pickle").attr("buffer_decl"), state(self));
  });
}

// Binds the declarations of workgroup and private memory, to which the host binds no array.
void def_memory(py::class_<BufferDecl>& decl) {
  decl.def_static(
      "workgroup",
      [](py::handle name, py::handle count, py::handle element, py::handle atomic) {
        BufferDecl result = BufferDecl::workgroup(
            to_text(name, argument("name", "BufferDecl.workgroup")), to_u32(count, argument("count", "BufferDecl.workgroup")),
            to_type(element, argument("element", "BufferDecl.workgroup")), to_bool(atomic, argument("atomic", "BufferDecl.workgroup")));
        result.made_at = {caller()};
        return result;
      },
      py::arg("name"), py::arg("count"), py::arg("element"), py::kw_only(), py::arg("atomic") = false,
      R"(workgroup(name, count, element, *, atomic=False) -> BufferDecl

Memory shared by one workgroup: `count` elements, which are zero when the workgroup starts; it has no binding. Atomics may target it
(V025) only if it is declared atomic, which is allowed for elements of U32 (V036).

>>> vyre.BufferDecl.workgroup("tile", 64, vyre.u32)
BufferDecl.workgroup('tile', 64, DataType.U32)
>>> vyre.BufferDecl.workgroup("counts", 256, vyre.u32, atomic=True)
BufferDecl.workgroup('counts', 256, DataType.U32, atomic=True))");
  decl.def_static(
      "private",
      [](py::handle name, py::handle count, py::handle element) {
        BufferDecl result = BufferDecl::private_of(to_text(name, argument("name", "BufferDecl.private")),
                                                   to_u32(count, argument("count", "BufferDecl.private")),
                                                   to_type(element, argument("element", "BufferDecl.private")));
        result.made_at = {caller()};
        return result;
      },
      py::arg("name"), py::arg("count"), py::arg("element"),
      R"(private(name, count, element) -> BufferDecl

Memory of one invocation: `count` elements, which are zero when the invocation starts; it has no binding. All private buffers of a
program together hold at most 16,384 bytes for each invocation (V037).

>>> vyre.BufferDecl.private("stack", 16, vyre.u32)
BufferDecl.private('stack', 16, DataType.U32))");
}

void bind_buffer_decl(py::module_& m) {
  py::class_<BufferDecl> decl(m, "BufferDecl", py::is_final(), made_whole<BufferDecl>(),
                              R"(A buffer of a program: name, binding, access, element type and length.

`count` is 0 when the host's array decides the length; otherwise it is the exact number of elements.

>>> vyre.BufferDecl.read("left", 0, vyre.u32)
BufferDecl.read('left', 0, DataType.U32))");
  def_no_new(decl, "write BufferDecl.read(name, binding, element), read_write, output, uniform, workgroup, private or storage");

  decl.def_static(
      "storage",
      [](py::handle name, py::handle binding, py::handle access, py::handle element, py::handle count) {
        return declared_buffer(name, binding, to_access(access, argument("access", "BufferDecl.storage")), element, count,
                               "BufferDecl.storage");
      },
      py::arg("name"), py::arg("binding"), py::arg("access"), py::arg("element"), py::kw_only(), py::arg("count") = 0,
      R"(storage(name, binding, access, element, *, count=0) -> BufferDecl

A buffer of any access.

>>> vyre.BufferDecl.storage("data", 0, vyre.BufferAccess.ReadWrite, vyre.u32)
BufferDecl.read_write('data', 0, DataType.U32))");

  struct Row {
    const char* name;
    const char* function;
    BufferAccess access;
    bool output;
    const char* meaning;
  };
  static constexpr Row kRows[] = {
      {"read", "BufferDecl.read", BufferAccess::ReadOnly, false, "A buffer that the program only reads."},
      {"read_write", "BufferDecl.read_write", BufferAccess::ReadWrite, false,
       "A buffer that the program reads and writes; it comes back from a run."},
      {"output", "BufferDecl.output", BufferAccess::ReadWrite, true,
       "A ReadWrite buffer that is marked as the result; at most one (V035)."},
      {"uniform", "BufferDecl.uniform", BufferAccess::Uniform, false, "A small read-only buffer: at most 65,536 bytes."},
  };
  for (const Row& row : kRows) {
    decl.def_static(
        row.name,
        [&row](py::handle name, py::handle binding, py::handle element, py::handle count) {
          BufferDecl result = declared_buffer(name, binding, row.access, element, count, row.function);
          result.output = row.output;
          return result;
        },
        py::arg("name"), py::arg("binding"), py::arg("element"), py::kw_only(), py::arg("count") = 0,
        fmt::format("{0}(name, binding, element, *, count=0) -> BufferDecl\n\n{1}\n\n>>> vyre.BufferDecl.{0}(\"data\", 0, "
                    "vyre.u32)\nBufferDecl.{0}('data', 0, "
                    "DataType.U32)",
                    row.name, row.meaning)
            .c_str());
  }
  def_memory(decl);

  explain_calls(decl, "BufferDecl");
  bind_declared(decl);
  m.def("_buffer_decl_from_state", [](const py::args& saved) {
    if (saved.size() != 6 && saved.size() != 7) throw not_pickled("BufferDecl");
    BufferDecl result;
    result.name = std::string(saved[0].cast<py::bytes>());
    result.binding = to_u32(saved[1], "the binding of a pickled BufferDecl");
    result.access = to_access(saved[2], "the access of a pickled BufferDecl");
    result.element = to_type(saved[3], "the element of a pickled BufferDecl");
    result.count = to_u32(saved[4], "the count of a pickled BufferDecl");
    result.output = to_bool(saved[5], "the mark of a pickled BufferDecl");
    // Pickles of releases without atomic workgroup memory end here.
    if (saved.size() == 7) result.atomic = to_bool(saved[6], "the atomic mark of a pickled BufferDecl");
    if (result.atomic && result.access != BufferAccess::Workgroup) {
      throw not_pickled("BufferDecl");
    }
    return result;
  });
}

std::vector<BufferDecl> to_buffers(py::handle object) {
  const std::string where = argument("buffers", "Program");
  std::vector<BufferDecl> result;
  for_each(object, where, "a list of BufferDecls", [&](const py::object& item) {
    if (!is<BufferDecl>(item)) {
      reject(fmt::format("element {} of {}", result.size(), where), "a BufferDecl", item);
    }
    result.push_back(item.cast<const BufferDecl&>());
  });
  return result;
}

ir::WorkgroupSize to_workgroup_size(py::handle object) {
  const std::string where = argument("workgroup_size", "Program");
  if (is_integer(object)) reject(where, "three integers", object);
  const std::vector<py::object> items = to_list(object, where, "three integers");
  if (items.size() != 3) reject(where, "three integers", fmt::format("{} of them", items.size()));
  ir::WorkgroupSize result;
  for (std::size_t axis = 0; axis < 3; ++axis) result[axis] = to_u32(items[axis], fmt::format("element {} of {}", axis, where));
  return result;
}

PyProgram from_bytes(const std::string& bytes) {
  const WithoutGil unlocked;
  return PyProgram(ir::from_bytes(std::as_bytes(std::span(bytes))));
}

py::bytes to_bytes(const PyProgram& self) {
  return py::bytes(without_gil([&] { return ir::to_bytes(self.program); }));
}

py::str to_text_form(const PyProgram& self) {
  return lenient_str(without_gil([&] { return ir::to_text(self.program); }));
}

void bind_parts(py::class_<PyProgram>& program) {
  program.def_property_readonly(
      "buffers",
      [](const PyProgram& self) {
        py::tuple result(self.program.buffers().size());
        for (std::size_t slot = 0; slot < result.size(); ++slot) result[slot] = py::cast(self.program.buffers()[slot]);
        return result;
      },
      "The BufferDecls, in order.");
  program.def_property_readonly(
      "workgroup_size",
      [](const PyProgram& self) {
        const ir::WorkgroupSize& size = self.program.workgroup_size();
        return py::make_tuple(size[0], size[1], size[2]);
      },
      "Invocations of a workgroup along x, y, z.");
  program.def_property_readonly(
      "entry",
      [](const PyProgram& self) {
        std::vector<ir::NodeHandle> nodes = without_gil([&] { return ir::entry_handles(self.program); });
        py::tuple result(nodes.size());
        for (std::size_t index = 0; index < nodes.size(); ++index) result[index] = py::cast(PyNode{std::move(nodes[index])});
        return result;
      },
      "The Nodes, in order; made anew at each access.");
}

void bind_shown(py::class_<PyProgram>& program) {
  program.def("__repr__", [](const PyProgram& self) { return lenient_str(brief(self.program)); });
  def_html_form(program, "program");
}

py::arg_v unknown(const char* name) { return py::arg(name) = py::none(); }

void bind_program_class(py::module_& m) {
  py::class_<PyProgram> program(m, "Program", py::is_final(), made_whole<PyProgram>(),
                                R"(Program(buffers=(), workgroup_size=(1, 1, 1), entry=())

A compute program: an immutable value that compares, hashes and pickles. Any program can be built; vyre.validate says what is
wrong with one.

Args:
    buffers: BufferDecls, in order.
    workgroup_size: invocations of a workgroup along x, y, z.
    entry: Nodes that every invocation runs.

>>> p = vyre.Program([vyre.BufferDecl.output("out", 0, vyre.u32)], (4, 1, 1),
...                  [vyre.Node.store("out", vyre.Expr.gid_x(), vyre.Expr.gid_x() * 2)])
>>> p
<vyre.Program (out: read_write u32) workgroup_size=(4, 1, 1), 1 statement, 4 expressions>
>>> vyre.parse(p.to_text()) == p
True)");
  def_new(program, [](const py::args& args, const py::kwargs& kwargs) {
    static const Signature signature{"Program", {"buffers", "workgroup_size", "entry"}, 0, 3};
    const std::vector<py::object> given = bind_arguments(signature, args, kwargs);
    std::vector<BufferDecl> decls;
    ir::WorkgroupSize size = {1, 1, 1};
    std::vector<ir::NodeHandle> nodes;
    if (given[0]) decls = to_buffers(given[0]);
    if (given[1]) size = to_workgroup_size(given[1]);
    if (given[2]) nodes = to_nodes(given[2], argument("entry", "Program"));
    const ir::SourcePlace place = caller();
    const WithoutGil unlocked;
    return PyProgram(resolved(decls, size, nodes, {}, place));
  });
  bind_parts(program);
  program.def(
      "check", [](const PyProgram& self) { valid(self); },
      R"(check() -> None

Raises vyre.ValidationError with all broken rules, unless the program is valid.

>>> vyre.Program(workgroup_size=(0, 1, 1)).check()
Traceback (most recent call last):
...
vyre.errors.ValidationError: V003 at workgroup_size[0] (...): vyre IR validation: workgroup_size[0] is 0. Fix: all workgroup dimensions must be >= 1.
    vyre.Program(workgroup_size=(0, 1, 1)).check()
    ...)");
  program.def("notes", notes, py::kw_only(), unknown("lengths"), unknown("workgroups"), unknown("invocations"),
              R"(notes(*, lengths=None, workgroups=None, invocations=None) -> Diagnostics

Probable mistakes in a valid program, in program order. A note never stops a program. vyre.explain("N001") says more about a note.

Args:
    lengths: elements of the buffers of a call, by name. With workgroups, N004 looks for elements that no invocation stores to.
    workgroups, invocations: of that call, along each axis. N005 reads which ids differ, N006 how many invocations rounding up adds.

Raises vyre.ValidationError for a program that breaks a rule.

>>> p = vyre.Program([vyre.BufferDecl.output("out", 0, vyre.u32)], entry=[vyre.Node.store("out", 0, vyre.Expr.buf_len("out") < 0)])
>>> [(note.rule, note.message) for note in p.notes()]
[('N003', 'vyre IR note: comparison `< 0` of u32 is always false. Fix: compare with a positive bound, or cast to I32.')])");
  program.def("to_text", to_text_form,
              R"(to_text() -> str

The text form: readable, stable, and read back by vyre.parse as exactly this program, valid or not.

>>> p = vyre.Program(entry=[vyre.Node.let("x", 1)])
>>> vyre.parse(p.to_text()) == p
True)");
  program.def("to_bytes", to_bytes,
              R"(to_bytes() -> bytes

The binary form: versioned and deterministic, equal for equal programs.

>>> p = vyre.Program(entry=[vyre.Node.let("x", 1)])
>>> vyre.Program.from_bytes(p.to_bytes()) == p
True)");
  program.def_static(
      "from_bytes", [](py::handle data) { return from_bytes(bytes_argument(data, argument("data", "Program.from_bytes"))); },
      py::arg("data"),
      R"(from_bytes(data) -> Program

The program that to_bytes() wrote. Raises ParseError for other bytes. Never takes more than 64 bytes of memory for each byte that it reads.

>>> vyre.Program.from_bytes(b"garbage")
Traceback (most recent call last):
...
vyre.errors.ParseError: ...)");
  program.def("__eq__", [](const PyProgram& self, py::handle other) {
    if (!is<PyProgram>(other)) return false;
    const auto& theirs = other.cast<const PyProgram&>();
    if (self.known_hash && theirs.known_hash && *self.known_hash != *theirs.known_hash) return false;
    return self.program == theirs.program;
  });
  program.def("__hash__", [](const PyProgram& self) { return static_cast<py::ssize_t>(self.hash() >> 1); });
  bind_shown(program);
  program.def("__copy__", [](py::object self) { return self; });
  program.def("__deepcopy__", [](py::object self, py::handle) { return self; });
  program.def("__reduce__", [](const py::object& self) {
    return py::make_tuple(py::module_::import("vyre._pickle").attr("program"), py::make_tuple(to_bytes(self.cast<const PyProgram&>())));
  });
}

}  // namespace

ir::Program resolved(const std::vector<BufferDecl>& buffers, ir::WorkgroupSize workgroup_size, std::span<const ir::NodeHandle> entry,
                     std::vector<std::pair<std::string, ir::DataType>> variables, ir::SourcePlace place) {
  ir::Surroundings surroundings;
  surroundings.operations = run::registered_ops;
  surroundings.variables = std::move(variables);
  ir::Resolved resolved = ir::resolve(buffers, workgroup_size, entry, surroundings, place);
  if (!resolved.mistakes.empty()) throw ValidationError(validate::diagnose(resolved, run::registered_ops()));
  return std::move(resolved.program);
}

const PyProgram& to_program(py::handle object, const std::string& where) {
  if (is<PyProgram>(object)) return object.cast<const PyProgram&>();
  reject(where, "a vyre.Program", object);
}

void bind_program(py::module_& m) {
  bind_buffer_decl(m);
  bind_program_class(m);
  m.def(
      "parse",
      [](py::handle text) {
        const std::string source = to_text(text, argument("text", "vyre.parse"));
        const WithoutGil unlocked;
        return PyProgram(ir::parse(source));
      },
      py::arg("text"),
      R"(parse(text) -> Program

The program that Program.to_text() wrote, or that a person wrote by hand. Raises ParseError with the line and the column.

>>> vyre.parse(vyre.Program().to_text()) == vyre.Program()
True)");
}

}  // namespace vyre::python
