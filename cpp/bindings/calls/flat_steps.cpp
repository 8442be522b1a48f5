// Gives the flat steps of a procedure (vyre/run/procedures/flat_steps.hpp) to tools that run them one by one: checked execution and
// bisection.

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/check_findings.hpp"
#include "bindings/program.hpp"
#include "bindings/waiting.hpp"
#include "vyre/advise/hints.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/deadline.hpp"
#include "vyre/run/procedures/frame_numbers.hpp"
#include "vyre/run/procedures/procedure.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {
namespace {

using run::FlatSteps;
using Bytes = py::array_t<std::uint8_t, py::array::c_style>;

std::vector<std::byte> contents_of(const FlatSteps::Array& array) {
  std::vector<std::byte> bytes(array.bytes);
  array.table->read(0, bytes, {});
  return bytes;
}

py::bytes python_bytes(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::span<std::byte> span_of(Bytes& array) {
  return {reinterpret_cast<std::byte*>(array.mutable_data()), static_cast<std::size_t>(array.size())};
}

// Refuses arguments that do not fit the procedure. This is a safeguard: only vyre's own Python code calls the functions below, with
// arguments that fit.
void require(bool fits, const char* what) {
  if (!fits) throw ArgumentError(fmt::format("{} do not fit the procedure. Fix: call vyre.check or vyre.bisect.", what));
}

void check_call_fits(const ir::Procedure& procedure, const std::vector<run::Shape>& shapes, const std::vector<std::uint64_t>& numbers) {
  std::size_t given = 0;
  for (const ir::ArrayId id : procedure.interface()) {
    const ir::ArrayDecl& decl = procedure.arrays()[id];
    if (decl.role == ir::ArrayRole::Output) continue;
    require(given < shapes.size() && shapes[given].size() == decl.axes, "the shapes");
    ++given;
  }
  require(given == shapes.size(), "the shapes");
  require(numbers.size() == procedure.numbers().size(), "the numbers");
}

// Flattens a procedure with the limits of the place, and with its tables on a device that need not be that place.
run::Flattened flattened(const ir::Procedure& procedure, const std::vector<run::Shape>& shapes, const std::vector<std::uint64_t>& numbers,
                         const run::ProcedurePlace& place, run::Backend& backend, std::size_t device) {
  const auto table = [&](const ir::ArrayDecl& decl) { return run::table_on(backend, device, decl, {}); };
  return run::flatten(procedure, {shapes, numbers, [&](ir::Limit which) { return run::limit_of(place, which); }, place.valid, table});
}

run::ProcedurePlace device_place(const std::string& backend, std::size_t device, const run::RunOptions& waiting) {
  return run::place_of(*run::find_backend(backend), device, waiting);
}

py::tuple state_of(const FlatSteps::Part& part) { return py::make_tuple(part.array, part.offset, part.bytes); }

// The part that says whether a step does anything (FlatSteps::Dispatch::live), or None.
py::object state_of(const std::optional<FlatSteps::Part>& part) { return part ? py::object(state_of(*part)) : py::none(); }

// ("dispatch", the step's name in messages, index of the program, [part or bytes], grid, counts or None, whether the counts are of
// invocations, what errors of a call begin with, live)
py::tuple state_of(const FlatSteps::Dispatch& dispatch, const FlatSteps& steps, std::uint32_t frame, std::span<const std::uint64_t> late) {
  py::list bound;
  for (const auto& each : dispatch.bound) {
    if (const auto* part = std::get_if<FlatSteps::Part>(&each)) {
      bound.append(state_of(*part));
      continue;
    }
    std::vector<std::uint32_t> words;
    for (const run::Number& word : std::get<FlatSteps::Words>(each)) {
      words.push_back(static_cast<std::uint32_t>(word.late == run::Number::kKnown ? word.value : late[word.late]));
    }
    bound.append(python_bytes(std::as_bytes(std::span(words))));
  }
  return py::make_tuple("dispatch", steps.places[dispatch.place].what, dispatch.program, bound,
                        py::make_tuple(dispatch.grid.x, dispatch.grid.y, dispatch.grid.z), state_of(dispatch.counts),
                        dispatch.role == run::StorageView::Role::Invocations, run::place_text(steps, dispatch.place, frame),
                        state_of(dispatch.live));
}

// Returns (programs, arrays, steps, frames, origins, shapes). An array is (kind, name, element type, bytes, contents of a table or None,
// index of the frame that made it, its ArrayId there), a frame is (caller, step or None), and an origin is (frame, step or None).
py::tuple flat_steps(const ir::Procedure& procedure, const std::vector<run::Shape>& shapes, const std::vector<std::uint64_t>& numbers,
                     const std::string& backend, std::size_t device) {
  check_call_fits(procedure, shapes, numbers);
  run::Flattened flat;
  std::vector<std::uint64_t> late;
  std::vector<std::optional<std::vector<std::byte>>> tables;
  while_waiting({}, [&](const run::RunOptions& waiting) {
    run::ProcedurePlace place = device_place(backend, device, waiting);
    // V010 (uniformity) is not checked, because checked execution finds divergent barriers itself.
    place.valid = [](const ir::Program& program) -> run::ProfiledProgram {
      return std::make_shared<const validate::ValidProgram>(
          validate::accepted(validate::validate(program, run::registered_ops(), {.uniformity = false, .advice = advise::hints})));
    };
    flat = flattened(procedure, shapes, numbers, place, *run::find_backend("reference"), 0);
    late = flat.late.values(numbers);
    for (const FlatSteps::Array& array : flat.steps.arrays) {
      tables.emplace_back();
      if (array.kind == FlatSteps::Array::Kind::Table) tables.back() = contents_of(array);
    }
  });
  py::list programs, arrays, steps, frames, origins;
  for (const run::ProfiledProgram& program : flat.steps.programs) programs.append(py::cast(PyProgram(program->program())));
  static constexpr std::array kKinds = {"given", "scratch", "table"};
  for (std::size_t k = 0; k < flat.steps.arrays.size(); ++k) {
    const FlatSteps::Array& array = flat.steps.arrays[k];
    arrays.append(py::make_tuple(kKinds[static_cast<std::size_t>(array.kind)], array.name, array.element, array.bytes,
                                 tables[k] ? py::object(python_bytes(*tables[k])) : py::none(), array.frame, array.decl));
  }
  for (const FlatSteps::Step& step : flat.steps.steps) {
    if (const auto* dispatch = std::get_if<FlatSteps::Dispatch>(&step)) {
      steps.append(state_of(*dispatch, flat.steps, flat.steps.origins[steps.size()].frame, late));
    } else if (const auto* zero = std::get_if<FlatSteps::Zero>(&step)) {
      steps.append(py::make_tuple(zero->written ? "clear" : "zeros", state_of(zero->part), state_of(zero->live)));
    } else {
      const auto& copy = std::get<FlatSteps::Copy>(step);
      steps.append(py::make_tuple("copy", state_of(copy.from), state_of(copy.to), state_of(copy.live)));
    }
  }
  const auto step_of = [](std::uint32_t step) { return step == FlatSteps::kNoStep ? py::object(py::none()) : py::object(py::int_(step)); };
  for (const FlatSteps::Frame& frame : flat.steps.frames) frames.append(py::make_tuple(frame.caller, step_of(frame.step)));
  for (const FlatSteps::Origin& origin : flat.steps.origins) origins.append(py::make_tuple(origin.frame, step_of(origin.step)));
  return py::make_tuple(programs, arrays, steps, frames, origins, flat.shapes);
}

// Returns (role, name, type, axes) of each input and in_out, then of each output if `outputs` is true, else of each number.
py::list interface_of(const ir::Procedure& procedure, bool outputs) {
  py::list rows;
  for (const ir::ArrayId id : procedure.interface()) {
    const ir::ArrayDecl& decl = procedure.arrays()[id];
    if (decl.role == ir::ArrayRole::Output && !outputs) continue;
    rows.append(py::make_tuple(std::string(ir::kRoleNames[static_cast<std::size_t>(decl.role)]), decl.name, decl.element, decl.axes));
  }
  if (outputs) return rows;
  for (const ir::NumberDecl& number : procedure.numbers()) rows.append(py::make_tuple("number", number.name, number.type, 0));
  return rows;
}

// Returns the places of the results in the interface.
std::vector<std::size_t> results_of(const ir::Procedure& procedure) {
  const std::vector<ir::ArrayId> interface = procedure.interface();
  std::vector<std::size_t> places;
  for (const ir::ArrayId id : procedure.results()) {
    places.push_back(static_cast<std::size_t>(std::ranges::find(interface, id) - interface.begin()));
  }
  return places;
}

// Returns the shapes of the outputs. Throws ArgumentError for sizes that are none.
std::vector<run::Shape> output_shapes(const ir::Procedure& procedure, const std::vector<run::Shape>& shapes,
                                      const std::vector<std::uint64_t>& numbers, const std::string& backend, std::size_t device) {
  check_call_fits(procedure, shapes, numbers);
  std::vector<run::Shape> outputs;
  while_waiting({}, [&](const run::RunOptions& waiting) {
    const run::ProcedurePlace place = device_place(backend, device, waiting);
    outputs = run::output_shapes(procedure, shapes, numbers, [&](ir::Limit which) { return run::limit_of(place, which); });
  });
  return outputs;
}

// Runs one dispatch on the reference with checks. `arrays` has the bytes of its arrays, and `written` the marks of CheckOptions::written
// (None for an array whose bytes are all written). The run changes both in place. Of the time-out, which is for all steps of a call,
// `spent` seconds are over.
py::tuple check_step(const PyProgram& program, std::vector<Bytes> arrays, std::vector<std::optional<Bytes>> written,
                     const std::array<std::uint32_t, 3>& grid, py::handle timeout, double spent, py::handle schedule, py::handle checks,
                     py::handle max_reports, const std::string& function) {
  const auto where = [&](const char* argument) { return fmt::format("argument `{}` of {}", argument, function); };
  run::RunOptions options;
  options.timeout = to_timeout(timeout, function);
  using Clock = std::chrono::steady_clock;
  options.start = Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(spent));
  options.schedule = to_schedule(schedule, where("schedule"));
  run::CheckOptions wanted = to_checks(checks, where("checks"));
  wanted.max_findings = to_max_reports(max_reports, where("max_reports"));
  const validate::ValidProgram valid = valid_but_for_barriers(program.program);
  require(arrays.size() == valid.bound().size() && written.size() == arrays.size(), "the arrays");
  std::vector<run::BufferView> views;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    const ir::BufferDecl& decl = valid.program().buffers()[valid.bound()[slot].index];
    const std::span<std::byte> bytes = span_of(arrays[slot]);
    views.push_back({bytes, run::buffer_length(decl, bytes.size())});
    std::span<std::uint8_t> marks;
    require(!written[slot] || static_cast<std::size_t>(written[slot]->size()) == bytes.size(), "the marks of bytes");
    if (written[slot]) marks = {written[slot]->mutable_data(), static_cast<std::size_t>(written[slot]->size())};
    wanted.written.push_back(marks);
  }
  run::Findings findings;
  while_waiting(options, [&](const run::RunOptions& waiting) {
    run::deadline_of(waiting).check(Awaited::Reference);
    findings = run::check(valid, views, {grid[0], grid[1], grid[2]}, waiting, wanted);
  });
  return py::make_tuple(described(valid.program(), findings.list), findings.complete, names_of(wanted),
                        run::schedule_text(options.schedule));
}

// Runs the first `count` flat steps of a procedure in one submission. `given` has the bytes of the inputs and in_outs. Returns the bytes
// after these steps: of the inputs and in_outs, of the outputs, and of the flat arrays whose indices are in `kept`.
py::list run_steps(const ir::Procedure& procedure, const std::vector<run::Shape>& shapes, std::vector<Bytes> given,
                   const std::vector<std::uint64_t>& numbers, const std::string& backend, std::size_t device, py::handle optimize,
                   py::handle timeout, std::size_t count, const std::vector<std::uint32_t>& kept, const std::string& function) {
  check_call_fits(procedure, shapes, numbers);
  require(given.size() == shapes.size(), "the arrays");
  run::RunOptions options;
  options.timeout = to_timeout(timeout, function);
  const std::optional<run::Optimize> wanted = to_optimize(optimize, fmt::format("argument `optimize` of {}", function));
  std::vector<std::vector<std::byte>> results;
  std::vector<std::span<const std::byte>> bytes;
  bytes.reserve(given.size());
  for (Bytes& array : given) bytes.push_back(span_of(array));
  while_waiting(options, [&](const run::RunOptions& waiting) {
    run::ProcedurePlace place = device_place(backend, device, waiting);
    place.prepare = [&](const run::ProfiledProgram& program) -> std::shared_ptr<run::Executable> {
      return place.backend->prepare(run::with_passes(*program, *place.backend, wanted), device, wanted.value_or(run::Optimize()), waiting);
    };
    run::Flattened flat = flattened(procedure, shapes, numbers, place, *place.backend, device);
    for (std::size_t k = 0; k < bytes.size(); ++k) require(bytes[k].size() == flat.steps.arrays[k].bytes, "the arrays");
    for (const std::uint32_t index : kept) require(index < flat.steps.arrays.size(), "the arrays to keep");
    flat.steps.steps.resize(std::min(count, flat.steps.steps.size()));
    std::vector<std::uint32_t> shown;
    for (std::uint32_t index = 0; index < flat.shapes.size(); ++index) shown.push_back(index);
    for (const std::uint32_t index : kept) {
      const FlatSteps::Array& array = flat.steps.arrays[index];
      shown.push_back(static_cast<std::uint32_t>(flat.steps.arrays.size()));
      const FlatSteps::Part from{index, 0, array.bytes}, to{shown.back(), 0, array.bytes};
      flat.steps.arrays.push_back({FlatSteps::Array::Kind::Given, array.name, array.bytes, nullptr, array.element});
      if (array.bytes > 0) flat.steps.steps.emplace_back(FlatSteps::Copy{from, to});
    }
    run::PlannedSteps planned(flat.steps, *place.backend, device, place.prepare, waiting);
    std::vector<std::shared_ptr<run::Storage>> storages;
    std::vector<run::StorageView> views;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const std::uint64_t size = flat.steps.arrays[shown[k]].bytes;
      storages.push_back(place.backend->allocate(device, size, k >= bytes.size()));
      if (k < bytes.size()) storages.back()->write(0, bytes[k], waiting);
      views.push_back({storages.back().get(), 0, size});
    }
    planned.submit(views, flat.late.values(numbers), waiting);
    for (const run::StorageView& view : views) {
      results.emplace_back(view.bytes);
      view.storage->read(0, results.back(), waiting);
    }
  });
  py::list made;
  for (const std::vector<std::byte>& each : results) made.append(python_bytes(each));
  return made;
}

}  // namespace

void bind_flat_steps(py::module_& m) {
  m.def("_flat_steps", flat_steps, py::arg("procedure"), py::arg("shapes"), py::arg("numbers"), py::arg("backend"), py::arg("device"));
  m.def("_procedure_interface", interface_of, py::arg("procedure"), py::arg("outputs") = false);
  m.def("_procedure_results", results_of, py::arg("procedure"));
  m.def("_output_shapes", output_shapes, py::arg("procedure"), py::arg("shapes"), py::arg("numbers"), py::arg("backend"),
        py::arg("device"));
  // Returns the names of the checks, and the schedule, that a call asks for.
  m.def("_checks_of", [](py::handle checks, py::handle schedule, const std::string& function) {
    const auto where = [&](const char* argument) { return fmt::format("argument `{}` of {}", argument, function); };
    const run::CheckOptions wanted = to_checks(checks, where("checks"));
    return py::make_tuple(names_of(wanted), run::schedule_text(to_schedule(schedule, where("schedule"))));
  });
  m.def("_check_step", check_step, py::arg("program"), py::arg("arrays"), py::arg("written"), py::arg("grid"), py::arg("timeout"),
        py::arg("spent"), py::arg("schedule"), py::arg("checks"), py::arg("max_reports"), py::arg("function"));
  m.def("_run_steps", run_steps, py::arg("procedure"), py::arg("shapes"), py::arg("given"), py::arg("numbers"), py::arg("backend"),
        py::arg("device"), py::arg("optimize"), py::arg("timeout"), py::arg("count"), py::arg("kept"), py::arg("function"));
}

}  // namespace vyre::python
