// Binds the core of vyre.fuzz. Python sees cases as tuples. Cases are generated and compared with the GIL released.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/fuzz/checked.hpp"
#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/fuzz/reduce.hpp"
#include "vyre/fuzz/rewrite.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/statement_path.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::python {
namespace {

fuzz::Options to_options(std::uint32_t statements, std::uint32_t work, bool clean, bool independent,
                         const std::optional<std::string>& plant) {
  fuzz::Options options;
  options.statements = statements;
  options.work = work;
  options.clean = clean;
  options.independent = independent;
  if (!plant) return options;
  std::string names;
  for (const fuzz::PlantInfo& row : fuzz::kPlants) {
    if (row.name == *plant) {
      options.plant = row.plant;
      return options;
    }
    names += (names.empty() ? "`" : ", `") + std::string(row.name) + "`";
  }
  reject_name("argument `plant` of vyre.fuzz.generate", names + " or None", py::str(*plant), "");
}

std::string_view defect_name(fuzz::Defect defect) {
  switch (defect) {
    case fuzz::Defect::Race:
      return "race";
    case fuzz::Defect::OutOfBounds:
      return "out-of-bounds";
    case fuzz::Defect::Uninitialised:
      return "uninitialised";
    case fuzz::Defect::DivergentBarrier:
      return "divergent-barrier";
    case fuzz::Defect::OrderDependence:
      return "order-dependence";
    case fuzz::Defect::Nothing:
      return "nothing";
  }
  return {};
}

// ((buffer, bytes, zeros), ...)
using PyArrays = std::vector<std::tuple<std::string, py::bytes, bool>>;

py::tuple from_arrays(const fuzz::Arrays& arrays) {
  py::list result;
  for (const fuzz::Array& array : arrays) {
    result.append(py::make_tuple(lenient_str(array.buffer),
                                 py::bytes(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()), array.zeros));
  }
  return py::tuple(result);
}

fuzz::Arrays to_arrays(const PyArrays& given) {
  fuzz::Arrays result;
  for (const auto& [buffer, bytes, zeros] : given) {
    const std::string_view view = bytes;
    const auto* first = reinterpret_cast<const std::byte*>(view.data());
    result.push_back({buffer, {first, first + view.size()}, zeros});
  }
  return result;
}

// (program, arrays, grid, arrays of later calls)
py::tuple from_case(const fuzz::Case& that) {
  py::list later;
  for (const fuzz::Arrays& arrays : that.later) later.append(from_arrays(arrays));
  return py::make_tuple(py::cast(PyProgram(that.program)), from_arrays(that.arrays),
                        py::make_tuple(that.grid[0], that.grid[1], that.grid[2]), py::tuple(later));
}

using PyCase = std::tuple<py::object, PyArrays, fuzz::Grid, std::vector<PyArrays>>;

fuzz::Case to_case(const PyCase& given) {
  const auto& [program, arrays, grid, later] = given;
  fuzz::Case result;
  result.program = to_program(program, "argument `program`").program;
  result.arrays = to_arrays(arrays);
  result.grid = grid;
  for (const PyArrays& more : later) result.later.push_back(to_arrays(more));
  return result;
}

// (backend, device, schedule, optimize)
using PyWay = std::tuple<std::string, std::optional<std::size_t>, py::object, py::object>;

std::vector<fuzz::Way> to_ways(const std::vector<PyWay>& given) {
  std::vector<fuzz::Way> result;
  for (const auto& [backend, device, schedule, optimize] : given) {
    fuzz::Way way;
    way.backend = named_backend(py::str(backend), "argument `backend` of a vyre.fuzz.Way");
    way.device = device;
    way.schedule = to_schedule(schedule, "a schedule of vyre.fuzz");
    way.optimize = to_optimize(optimize, "`optimize` of a vyre.fuzz.Way").value_or(run::Optimize());
    result.push_back(way);
  }
  return result;
}

// Returns the way that the other ways are compared with: the reference if none is given.
fuzz::Way to_against(const std::optional<PyWay>& given) { return given ? to_ways({*given}).front() : fuzz::plain_reference(); }

std::string_view kind_name(fuzz::Judgement::Kind kind) {
  switch (kind) {
    case fuzz::Judgement::Kind::Agrees:
      return "agrees";
    case fuzz::Judgement::Kind::Refused:
      return "refused";
    case fuzz::Judgement::Kind::Differs:
      return "differs";
    case fuzz::Judgement::Kind::Failed:
      return "failed";
  }
  return {};
}

// (kind, way, message, number of the way or None, hash of the output, number of the call that differs)
py::tuple from_judgement(const fuzz::Judgement& judgement) {
  return py::make_tuple(lenient_str(kind_name(judgement.kind)), lenient_str(judgement.way), lenient_str(judgement.message), judgement.index,
                        judgement.output, judgement.difference ? judgement.difference->call : 0);
}

py::object generate(std::uint64_t seed, std::uint32_t statements, std::uint32_t work, bool clean, bool independent,
                    const std::optional<std::string>& plant) {
  const fuzz::Options options = to_options(statements, work, clean, independent, plant);
  const fuzz::Case that = without_gil([&] { return fuzz::generate(seed, options); });
  py::object planted = py::none();
  if (that.planted) {
    const fuzz::PlantInfo& row = fuzz::info(that.planted->plant);
    const auto path = [&](NodeId id) { return run::statement_path(that.program, id); };
    planted = py::make_tuple(lenient_str(row.name), lenient_str(defect_name(row.defect)),
                             py::tuple(lenient_list(that.planted->statements, path)), lenient_str(that.planted->buffer));
  }
  return py::make_tuple(from_case(that), planted);
}

// The progress of a sweep, for a watcher in another process: the seed, and the number of its runs that have begun. Both words are written
// before a run begins, so if a driver crashes the process, they name the run that caused the crash.
class Progress {
 public:
  explicit Progress(const py::object& buffer) {
    if (buffer.is_none()) return;
    // Only integers are accepted: an array of objects has a buffer too, but its bytes are pointers.
    const bool got = PyObject_GetBuffer(buffer.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT) == 0;
    PyErr_Clear();
    const std::string_view format = got && view_.format != nullptr ? view_.format : "B";
    const bool integers = format.size() == 1 && std::string_view("bBhHiIlLqQ").find(format[0]) != std::string_view::npos;
    if (got && integers && view_.len >= 16 && reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(std::uint64_t) == 0) {
      words_ = static_cast<std::uint64_t*>(view_.buf);
      return;
    }
    if (got) PyBuffer_Release(&view_);
    reject("argument `progress`", "16 bytes of memory that can be written, at a multiple of 8", buffer);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (words_ != nullptr) PyBuffer_Release(&view_);
  }
  void seed(std::uint64_t now) {
    set(1, 0);  // no run has begun: a crash while the program is generated belongs to no run
    set(0, now);
  }
  void run(std::size_t now) { set(1, now + 1); }

 private:
  void set(std::size_t word, std::uint64_t value) {
    if (words_ != nullptr) std::atomic_ref(words_[word]).store(value);
  }
  Py_buffer view_{};
  std::uint64_t* words_ = nullptr;
};

// Adds the seed of a program to the seeds of random schedules, so that each program runs in orders of its own.
std::vector<fuzz::Way> ways_for(std::uint64_t seed, std::vector<fuzz::Way> ways) {
  for (fuzz::Way& way : ways) {
    if (way.schedule.order == run::Schedule::Order::Random) way.schedule.seed += seed;
  }
  return ways;
}

// Judges the programs of the seeds from `first` on, until `count` are judged or `seconds` have passed; at least one program is judged.
// Returns (hash of the program, judgement ...) for each.
py::list sweep(std::uint64_t first, std::uint64_t count, double seconds, const std::vector<PyWay>& given, std::uint32_t statements,
               std::uint32_t work, bool clean, bool independent, std::uint32_t rewrites, const py::object& progress_object,
               const std::optional<PyWay>& other) {
  struct Row {
    std::uint64_t hash;
    fuzz::Judgement judgement;
  };
  const std::vector<fuzz::Way> ways = to_ways(given);
  const fuzz::Way against = to_against(other);
  const fuzz::Options options = to_options(statements, work, clean, independent, std::nullopt);
  Progress progress(progress_object);
  std::vector<Row> rows;
  {
    const WithoutGil unlocked;
    const ir::OpTable ops = run::registered_ops();
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (rows.size() < count) {
      const std::uint64_t seed = first + rows.size();
      progress.seed(seed);
      const fuzz::Case that = fuzz::generate(seed, options);
      const fuzz::Case tried = rewrites == 0 ? that : fuzz::rewrite(that, rewrites, seed, ops);
      rows.push_back({that.program.hash(), fuzz::judge(
                                               that, tried, ways_for(seed, ways), ops, [&](std::size_t run) { progress.run(run); },
                                               fuzz::kPatience, ways_for(seed, {against}).front())});
      if (std::chrono::steady_clock::now() >= end) break;
    }
  }
  py::list result;
  for (const Row& row : rows) result.append(py::make_tuple(row.hash) + from_judgement(row.judgement));
  return result;
}

// Like sweep(), but runs the programs with checks, whose findings must be right (fuzz::misjudged). Returns (hash of the program, what is
// wrong with the findings or "") for each seed. The seed chooses one of the three orders of the schedule.
py::list sweep_checked(std::uint64_t first, std::uint64_t count, double seconds, std::uint32_t statements, std::uint32_t work, bool clean,
                       const std::optional<std::string>& plant, const py::object& progress_object) {
  struct Row {
    std::uint64_t hash;
    std::string wrong;
  };
  const fuzz::Options options = to_options(statements, work, clean, false, plant);
  Progress progress(progress_object);
  std::vector<Row> rows;
  {
    const WithoutGil unlocked;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (rows.size() < count) {
      const std::uint64_t seed = first + rows.size();
      progress.seed(seed);
      progress.run(0);
      using Order = run::Schedule::Order;
      const Order order = std::array{Order::InOrder, Order::Reversed, Order::Random}[seed % 3];
      const fuzz::Case that = fuzz::generate(seed, options);
      const run::Findings findings = fuzz::check_case(that, {.order = order, .seed = seed});
      rows.push_back({that.program.hash(), fuzz::misjudged(that, options, findings).value_or("")});
      if (std::chrono::steady_clock::now() >= end) break;
    }
  }
  py::list result;
  for (const Row& row : rows) result.append(py::make_tuple(row.hash, lenient_str(row.wrong)));
  return result;
}

py::tuple judge(const PyCase& defined, const std::optional<PyCase>& tried, const std::vector<PyWay>& given, double patience,
                const py::object& progress_object, const std::optional<PyWay>& other) {
  const fuzz::Case first = to_case(defined);
  std::optional<fuzz::Case> second;
  if (tried) second = to_case(*tried);
  const std::vector<fuzz::Way> ways = to_ways(given);
  const fuzz::Way against = to_against(other);
  Progress progress(progress_object);
  return from_judgement(without_gil([&] {
    return fuzz::judge(
        first, second ? *second : first, ways, run::registered_ops(), [&](std::size_t run) { progress.run(run); }, fuzz::Patience(patience),
        against);
  }));
}

py::tuple reduce(const PyCase& given, const py::function& still_fails, std::uint32_t tries) {
  const fuzz::Reduced reduced = fuzz::reduce(
      to_case(given), [&](const fuzz::Case& candidate) { return py::bool_(still_fails(from_case(candidate))).cast<bool>(); },
      run::registered_ops(), tries);
  return py::make_tuple(from_case(reduced.smallest), reduced.tries);
}

// `how` names a rewrite, or is a number of rewrites of any kind. Returns None if the rewrite applies nowhere in the program.
py::object rewrite(const PyCase& given, const std::variant<std::uint32_t, std::string>& how, std::uint64_t seed) {
  const fuzz::Case that = to_case(given);
  const ir::OpTable ops = run::registered_ops();
  if (const std::uint32_t* count = std::get_if<std::uint32_t>(&how)) return from_case(fuzz::rewrite(that, *count, seed, ops));
  std::string names;
  for (const fuzz::RewriteInfo& row : fuzz::kRewrites) {
    if (row.name == std::get<std::string>(how)) {
      const std::optional<fuzz::Case> result = fuzz::rewrite(that, row.rewrite, seed, ops);
      return result ? py::object(from_case(*result)) : py::none();
    }
    names += (names.empty() ? "`" : ", `") + std::string(row.name) + "`";
  }
  reject_name("argument `how` of vyre.fuzz.rewrite", "a number of rewrites, " + names, py::str(std::get<std::string>(how)), "");
}

}  // namespace

void bind_fuzz(py::module_& m) {
  m.attr("_fuzz_plants") = rows_of(fuzz::kPlants, [](const fuzz::PlantInfo& row) {
    return py::make_tuple(lenient_str(row.name), lenient_str(defect_name(row.defect)), lenient_str(row.meaning));
  });
  m.def("_fuzz_register", [] {
    for (const ir::OpTable::Spec& spec : fuzz::operations()) run::register_op(*spec);
  });
  m.def(
      "_fuzz_hash", [](py::handle program) { return to_program(program, "argument `program`").hash(); }, py::arg("program"));
  m.def(
      "_fuzz_size",
      [](py::handle program) {
        const auto nodes = to_program(program, "argument `program`").program.nodes();
        return std::count_if(nodes.begin(), nodes.end(), [](const ir::Node& node) {
          return !std::holds_alternative<ir::Else>(node) && !std::holds_alternative<ir::End>(node);
        });
      },
      py::arg("program"));
  m.def("_fuzz_generate", generate, py::arg("seed"), py::arg("statements"), py::arg("work"), py::arg("clean"), py::arg("independent"),
        py::arg("plant"));
  m.def("_fuzz_sweep", sweep, py::arg("first"), py::arg("count"), py::arg("seconds"), py::arg("ways"), py::arg("statements"),
        py::arg("work"), py::arg("clean"), py::arg("independent"), py::arg("rewrites"), py::arg("progress") = py::none(),
        py::arg("against") = py::none());
  m.def("_fuzz_sweep_checked", sweep_checked, py::arg("first"), py::arg("count"), py::arg("seconds"), py::arg("statements"),
        py::arg("work"), py::arg("clean"), py::arg("plant"), py::arg("progress") = py::none());
  m.def("_fuzz_judge", judge, py::arg("defined"), py::arg("tried"), py::arg("ways"), py::arg("patience") = fuzz::kPatience.count(),
        py::arg("progress") = py::none(), py::arg("against") = py::none());
  m.def("_fuzz_reduce", reduce, py::arg("case"), py::arg("still_fails"), py::arg("tries"));
  m.attr("_fuzz_rewrites") = rows_of(fuzz::kRewrites, [](const fuzz::RewriteInfo& row) {
    return py::make_tuple(lenient_str(row.name), lenient_str(row.meaning), lenient_str(row.when));
  });
  m.def("_fuzz_rewrite", rewrite, py::arg("case"), py::arg("how"), py::arg("seed"));
}

}  // namespace vyre::python
