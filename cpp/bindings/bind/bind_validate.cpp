// Binds vyre.validate, the classes Diagnostic and Place, and the tables of rules and notes with their explanations.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/lru.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/advise/hints.hpp"
#include "vyre/advise/note_table.hpp"
#include "vyre/advise/notes.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/validate/procedures/rules.hpp"
#include "vyre/validate/procedures/valid_procedure.hpp"
#include "vyre/validate/rules.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {
namespace {

struct VerdictKey {
  ir::Program program;
  std::uint64_t hash;
  std::uint64_t generation;
  bool operator==(const VerdictKey& other) const {
    return hash == other.hash && generation == other.generation && program == other.program;
  }
};
struct VerdictHash {
  std::size_t operator()(const VerdictKey& key) const { return key.hash ^ (key.generation * 0x9E3779B97F4A7C15u); }
};

// Caches the programs that were found valid. Made when the module is loaded and never destroyed, for the same reason as `remembered` in
// prepared.cpp.
auto& verdicts = *new Lru<VerdictKey, validate::ValidProgram, VerdictHash>(64);

py::object or_none(const std::string& text) { return text.empty() ? py::object(py::none()) : py::object(lenient_str(text)); }
py::object or_none(int number) { return number == 0 ? py::object(py::none()) : py::object(py::int_(number)); }

void bind_place(py::module_& m) {
  py::class_<Place> place(m, "Place", py::is_final(), made_whole<Place>(),
                          R"(Where a diagnostic points: in the program, and in the user's source when that is known.

>>> vyre.validate(vyre.Program(workgroup_size=(0, 1, 1)))[0].place.path
'workgroup_size[0]')");
  def_no_new(place, "take the `place` of a Diagnostic");
  place.def_property_readonly(
      "path", [](const Place& self) { return lenient_str(self.path); }, "In the program: entry[2].then[0].value");
  place.def_property_readonly(
      "file", [](const Place& self) { return or_none(self.file); }, "The source file, or None.");
  place.def_property_readonly(
      "line", [](const Place& self) { return or_none(self.line); }, "The line in it, from 1, or None.");
  place.def_property_readonly(
      "column", [](const Place& self) { return or_none(self.column); },
      "The column, from 1, in bytes of UTF-8 as Python counts; None before Python 3.11.");
  place.def_property_readonly(
      "end_column", [](const Place& self) { return or_none(self.end_column); },
      "One past the last column; None when it is not known or in another line.");
  place.def("__eq__", [](const Place& self, py::handle other) { return is<Place>(other) && self == other.cast<const Place&>(); });
  auto state = [](const Place& self) {
    return py::make_tuple(py::bytes(self.path), py::bytes(self.file), self.line, self.column, self.end_column);
  };
  place.def("__hash__", [state](const Place& self) { return py::hash(state(self)); });
  place.def("__reduce__",
            [state](const Place& self) { return py::make_tuple(py::module_::import("vyre._pickle").attr("place"), state(self)); });
  m.def(
      "_place_from_state",
      [](const py::bytes& path, const py::bytes& file, int line, int column, int end_column) {
        return Place{std::string(path), std::string(file), line, column, end_column};
      },
      py::arg("path"), py::arg("file"), py::arg("line"), py::arg("column"), py::arg("end_column") = 0);
  place.def("__repr__", [](const Place& self) {
    const std::string source = source_text(self);
    return lenient_str(source.empty() ? fmt::format("<vyre.Place {}>", self.path) : fmt::format("<vyre.Place {} ({})>", self.path, source));
  });
}

// Returns the text of a diagnostic, with the lines of source that Python can read.
py::str diagnostic_text(const Diagnostic& diagnostic) {
  const py::tuple parts = py::module_::import("vyre._diagnostics").attr("text_parts")(py::cast(diagnostic));
  return lenient_str(to_string(diagnostic, lenient_text(parts[0]), lenient_text(parts[1])));
}

void bind_diagnostic(py::module_& m) {
  py::class_<Diagnostic> diagnostic(m, "Diagnostic", py::is_final(), made_whole<Diagnostic>(),
                                    R"(A broken rule: its id, the full sentence with the Fix, and where.

>>> d = vyre.validate(vyre.Program(entry=[vyre.Node.assign("x", 1)]))[0]
>>> d.rule, d.place.path
('V006', 'entry[0]')
>>> d.message
'vyre IR validation: assignment to undeclared variable `x`. Fix: add `let x = ...;` before this assignment.')");
  def_no_new(diagnostic, "take one from vyre.validate(program)");
  diagnostic.def_property_readonly(
      "rule", [](const Diagnostic& self) { return self.rule; }, "The rule's id, such as V014; N001 and on for notes.");
  diagnostic.def_property_readonly(
      "message", [](const Diagnostic& self) { return lenient_str(self.message); }, "vyre IR validation: <problem>. Fix: <action>.");
  diagnostic.def_property_readonly(
      "hint", [](const Diagnostic& self) { return lenient_str(self.hint); }, "The Fix in Python; empty when the message says it all.");
  diagnostic.def_property_readonly(
      "place", [](const Diagnostic& self) { return self.place; }, "A Place.");
  diagnostic.def("__str__", diagnostic_text);
  diagnostic.def("__repr__", [](const Diagnostic& self) {
    return lenient_str(fmt::format("<vyre.Diagnostic {}>", to_string({self.rule, self.message, self.place})));
  });
  diagnostic.def("_repr_html_",
                 [](const Diagnostic& self) { return py::module_::import("vyre._diagnostics").attr("table")(py::cast(self)); });
  diagnostic.def("__eq__",
                 [](const Diagnostic& self, py::handle other) { return is<Diagnostic>(other) && self == other.cast<const Diagnostic&>(); });
  diagnostic.def("__hash__", [](const Diagnostic& self) {
    return py::hash(py::make_tuple(self.rule, py::bytes(self.message), self.place, py::bytes(self.hint)));
  });
  diagnostic.def("__reduce__", [](const Diagnostic& self) {
    return py::make_tuple(py::module_::import("vyre._pickle").attr("diagnostic"),
                          py::make_tuple(self.rule, py::bytes(self.message), self.place, py::bytes(self.hint)));
  });
  m.def(
      "_diagnostic_from_state",
      [](std::string rule, const py::bytes& message, const Place& place, const py::bytes& hint) {
        return Diagnostic{std::move(rule), std::string(message), place, std::string(hint)};
      },
      py::arg("rule"), py::arg("message"), py::arg("place"), py::arg("hint") = py::bytes());
}

}  // namespace

validate::ValidProgram valid(const PyProgram& program) {
  run::OpSnapshot ops = run::op_snapshot();
  VerdictKey key{program.program, program.hash(), ops.generation};
  const WithoutGil unlocked;
  if (auto known = verdicts.find(key)) return *known;
  const run::Span span("validate");
  validate::ValidProgram made = validate::accepted(validate::validate(program.program, ops.table, {.advice = advise::hints}));
  verdicts.insert(key, made);
  return made;
}

namespace {

template <class Value>
Diagnostics broken_rules(const Value& value) {
  const ir::OpTable ops = run::registered_ops();
  return without_gil([&] { return validate::validate(value, ops, {.advice = advise::hints}).diagnostics; });
}

py::object to_list_of(Diagnostics found) {
  py::list result;
  for (Diagnostic& diagnostic : found) result.append(py::cast(std::move(diagnostic)));
  return py::module_::import("vyre._diagnostics").attr("Diagnostics")(result);
}

std::map<std::string, std::uint32_t, std::less<>> to_lengths(const ir::Program& program, py::handle object) {
  const std::string where = "argument `lengths` of Program.notes";
  std::map<std::string, std::uint32_t, std::less<>> lengths;
  if (object.is_none()) return lengths;
  std::vector<std::string_view> names;
  for (const ir::BufferDecl& decl : program.buffers()) names.push_back(decl.name);
  for (const auto& [key, value] : to_dict(object, where)) {
    const std::string name = to_text(key, "a name in " + where);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      reject_name("a name in " + where, fmt::format("{}", fmt::join(names, ", ")), key, did_you_mean(name, names));
    }
    lengths[name] = to_u32(value, fmt::format("the length of {} in {}", quoted_text(name), where));
  }
  return lengths;
}

}  // namespace

Diagnostics mistakes_of(const ir::Procedure& procedure) { return broken_rules(procedure); }

py::object notes(const PyProgram& program, py::handle lengths, py::handle workgroups, py::handle invocations) {
  advise::NotedCall call{to_lengths(program.program, lengths), {}, {}};
  if (!invocations.is_none()) {
    const run::Grid asked = to_grid(invocations, "Program.notes", "invocations");
    call.invocations = {asked.x, asked.y, asked.z};
  }
  if (!workgroups.is_none()) {
    const run::Grid grid = to_grid(workgroups, "Program.notes");
    call.workgroups = {grid.x, grid.y, grid.z};
  }
  return to_list_of(without_gil([&] {
    // The program is validated anew, because the remembered result of an equal program has that program's lines.
    return advise::notes(validate::accepted(validate::validate(program.program, run::op_snapshot().table, {.advice = advise::hints})),
                         call);
  }));
}

void remember(const PyProgram& program, const validate::ValidProgram& value) {
  verdicts.insert({program.program, program.hash(), run::op_snapshot().generation}, value);
}

void bind_validate(py::module_& m) {
  bind_place(m);
  bind_diagnostic(m);
  m.def(
      "validate",
      [](py::handle program) {
        if (is<ir::Procedure>(program)) {
          return to_list_of(broken_rules(program.cast<const ir::Procedure&>()));
        }
        return to_list_of(broken_rules(to_program(program, "argument `program` of vyre.validate").program));
      },
      py::arg("program"),
      R"(validate(program) -> Diagnostics

Every rule that a Program or a Procedure breaks, in its order: a list, empty when it is valid, that notebooks show as a table.

A procedure's programs are examined as well: the place of what they break begins with programs[k].

>>> [d.rule for d in vyre.validate(vyre.Program(entry=[vyre.Node.store("x", 0, 0)]))]
['V004']
>>> @vyre.procedure
... def unwritten(x: vyre.In[vyre.u32]):
...     return vyre.scratch(vyre.u32, x.length)
>>> for diagnostic in vyre.validate(unwritten.procedure):
...     print(diagnostic)
P011 at arrays[1]: no step writes output `scratch`. Fix: write it, or make it with vyre.scratch(..., zeros=True).)");
  m.def(
      "_explain",
      [](py::handle rule) {
        const std::string id = to_text(rule, "argument `rule` of vyre.explain");
        if (const auto note = advise::parse_note(id)) return lenient_str(advise::explain(*note));
        if (const auto rule = validate::parse_procedure_rule(id)) return lenient_str(validate::explain(*rule));
        const auto found = validate::parse_rule(id);
        std::vector<std::string_view> rule_ids;
        rule_ids.reserve(std::size(validate::kRules) + std::size(advise::kNotes) + std::size(validate::kProcedureRules));
        for (const validate::RuleInfo& row : validate::kRules) rule_ids.push_back(row.id);
        for (const advise::NoteInfo& row : advise::kNotes) rule_ids.push_back(row.id);
        for (const validate::ProcedureRuleInfo& row : validate::kProcedureRules) rule_ids.push_back(row.id);
        if (!found)
          reject_name("argument `rule` of vyre.explain", fmt::format("V001 to {}", validate::kRules.back().id), rule,
                      did_you_mean(id, rule_ids));
        return lenient_str(validate::explain(*found));
      },
      py::arg("rule"));
  const py::object tables = m.attr("_tables");
  const auto told = [](const auto& row) { return py::make_tuple(validate::id(row.rule), row.sentence); };
  const auto rule = [](const auto& row) { return py::make_tuple(row.id, row.title, row.checks, row.why); };
  tables["rules"] = rows_of(validate::kRules, rule);
  tables["messages"] = rows_of(validate::kMessages, told);
  tables["hints"] = rows_of(validate::kHints, told);
  tables["notes"] = rows_of(advise::kNotes, [&](const advise::NoteInfo& row) {
    return py::object(rule(row) + py::make_tuple(row.sentence, row.hint, row.example));
  });
  tables["procedure_rules"] = rows_of(validate::kProcedureRules, [&](const validate::ProcedureRuleInfo& row) {
    py::list said;
    for (const validate::ProcedureMessageInfo& message : validate::kProcedureMessages) {
      if (message.rule == row.rule) said.append(message.sentence);
    }
    return py::object(rule(row) + py::make_tuple(py::tuple(said)));
  });
}

}  // namespace vyre::python
