// Binds what is known of a call without running it: what it costs, and which buffers it stores to as a whole.
#include <pybind11/stl.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/run/reach/cost.hpp"
#include "vyre/run/reach/reach.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::python {
namespace {

py::object to_count(run::Tally count) {
  const py::int_ low(static_cast<std::uint64_t>(count)), high(static_cast<std::uint64_t>(count >> 64));
  return count >> 64 == 0 ? py::object(low) : (high << py::int_(64)) | low;
}
py::object to_turns(const std::optional<run::Count>& count) {
  return count ? py::object(py::make_tuple(to_count(count->most), count->exact)) : py::none();
}
// A list of (name, most, exact) for each of CostRow::What.
py::tuple to_rows(const run::CostRows& rows) {
  std::array<py::list, 4> lists;
  for (const run::CostRow& row : rows) {
    lists[static_cast<std::size_t>(row.what)].append(py::make_tuple(lenient_str(row.name), to_count(row.count.most), row.count.exact));
  }
  return py::cast(lists);
}

using KnownLengths = std::map<std::string, std::uint64_t>;
using KnownWords = std::map<std::string, std::vector<std::optional<std::uint32_t>>>;  // None for those that are not known
using Workgroups = std::array<std::uint32_t, 3>;

std::vector<run::ReachedBuffer> buffers_of(const validate::ValidProgram& program, const KnownLengths& lengths, const KnownWords& words) {
  std::vector<run::ReachedBuffer> buffers;
  for (const BufferId id : program.bound()) {
    const std::string& name = program.program().buffers()[id.index].name;
    run::ReachedBuffer& made = buffers.emplace_back();
    if (const auto found = words.find(name); found != words.end()) made.words = found->second;
    const auto length = lengths.find(name);
    made.length = length == lengths.end() ? made.words.size() : length->second;
  }
  return buffers;
}

// Returns the names of the buffers that run::is_whole tells of.
py::set whole_stores(const PyProgram& program, const KnownLengths& lengths, const KnownWords& words, const Workgroups& workgroups) {
  const validate::ValidProgram value = valid(program);
  const std::vector<run::ReachedBuffer> buffers = buffers_of(value, lengths, words);
  const std::vector<run::Reach> reach = run::reach_of(value, buffers, {workgroups[0], workgroups[1], workgroups[2]}, true);
  py::set found;
  for (std::size_t slot = 0; slot < reach.size(); ++slot) {
    if (run::is_whole(reach[slot], buffers[slot].length)) found.add(lenient_str(program.program.buffers()[value.bound()[slot].index].name));
  }
  return found;
}

// Returns the counts of a dispatch, or the most of one invocation, and for each loop (place, turns, loop around, has_known_end, counts).
py::tuple costs(const PyProgram& program, const KnownLengths& lengths, const KnownWords& words, const Workgroups& workgroups,
                bool of_invocation) {
  const validate::ValidProgram value = valid(program);
  const std::vector<run::ReachedBuffer> buffers = buffers_of(value, lengths, words);
  const run::Grid grid{workgroups[0], workgroups[1], workgroups[2]};
  run::Cost found;
  std::vector<Place> places;
  {
    const WithoutGil unlocked;
    found = run::cost_of(value, buffers, grid, of_invocation ? run::CostOf::Invocation : run::CostOf::Dispatch);
    std::vector<validate::Site> sites;
    for (const run::LoopCost& loop : found.loops) sites.push_back(validate::Site::of(loop.statement));
    places = validate::locate(value, sites);
  }
  py::list loops;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const run::LoopCost& loop = found.loops[k];
    loops.append(py::make_tuple(places[k], to_turns(loop.turns), loop.within, loop.has_known_end, to_rows(loop.turn)));
  }
  return py::make_tuple(to_rows(found.rows), loops);
}

}  // namespace

void bind_reach(py::module_& m) {
  m.def("_whole_stores", &whole_stores, py::arg("program"), py::arg("lengths"), py::arg("words"), py::arg("workgroups"));
  m.def("_cost", &costs, py::arg("program"), py::arg("lengths"), py::arg("words"), py::arg("workgroups"), py::arg("of_invocation") = false);
}

}  // namespace vyre::python
