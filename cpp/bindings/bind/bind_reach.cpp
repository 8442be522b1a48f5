// Binds what is known of a call without running it: which buffers it stores to as a whole.
#include <pybind11/stl.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "vyre/run/reach/reach.hpp"

namespace vyre::python {
namespace {

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

}  // namespace

void bind_reach(py::module_& m) {
  m.def("_whole_stores", &whole_stores, py::arg("program"), py::arg("lengths"), py::arg("words"), py::arg("workgroups"));
}

}  // namespace vyre::python
