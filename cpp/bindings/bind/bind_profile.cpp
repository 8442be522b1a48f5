// Binds the core of vyre.profile: the handle of a profile, and its report as plain tuples.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/waiting.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::python {
namespace {

using run::Profile;
using run::ProfileEvent;
using run::ProfileReport;

// The handle of a profile. Destroying the handle of an open profile closes the profile without waiting for the device.
struct PyProfile {
  explicit PyProfile(std::size_t most_events) : profile(Profile::begin(most_events)) {}
  PyProfile(PyProfile&&) = default;
  PyProfile& operator=(PyProfile&&) = delete;
  ~PyProfile() {
    if (profile) profile->abandon();
  }

  std::shared_ptr<Profile> profile;
};

// Returns the source place of the first statement that has a known place. It stands for the place where the program was made, and is
// unknown if no statement has one.
ir::SourcePlace source_place_of(const ir::Program& program) {
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    if (const ir::SourcePlace place = program.place(NodeId{index}); place.known()) return place;
  }
  return {};
}

std::string hash_text(const validate::ValidProgram& valid) { return fmt::format("{:016x}", valid.hash()); }

// (hash, names of the buffers that it writes, file or None, line or None)
py::tuple described_program(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  py::list written;
  for (const BufferId buffer : valid.bound()) {
    const ir::BufferDecl& decl = program.buffers()[buffer.index];
    if (decl.access == ir::BufferAccess::ReadWrite) written.append(lenient_str(decl.name));
  }
  const ir::SourcePlace place = source_place_of(program);
  const py::object file = place.known() ? py::object(lenient_str(ir::file_name(place.file))) : py::none();
  const py::object line = place.known() && place.line > 0 ? py::object(py::int_(place.line)) : py::none();
  return py::make_tuple(hash_text(valid), py::tuple(written), file, line);
}

// Describes each program once. The report refers to a program by its index in `described`.
class Programs {
 public:
  py::object index(const run::ProfiledProgram& program) {
    if (!program) return py::none();
    const auto [place, added] = known_.emplace(program.get(), known_.size());
    if (added) described.append(described_program(*program));
    return py::int_(place->second);
  }
  py::list described;

 private:
  std::map<const validate::ValidProgram*, std::size_t> known_;
};

py::object device_index(std::size_t device) { return device == ProfileEvent::kHost ? py::object(py::none()) : py::int_(device); }

py::dict report(const PyProfile& self) {
  const ProfileReport report = without_gil([&] { return self.profile->report(); });
  Programs programs;
  py::list devices, rows, events;
  for (const ProfileReport::Device& device : report.devices) {
    devices.append(py::make_tuple(device.label.backend, device.label.index, lenient_str(device.label.name), device.clock,
                                  device.error ? py::object(py::int_(*device.error)) : py::none()));
  }
  for (const ProfileReport::Row& row : report.rows) {
    rows.append(py::make_tuple(row.name, device_index(row.device), programs.index(row.program), row.observed, row.calls, row.total, row.min,
                               row.max));
  }
  for (const ProfileEvent& event : report.events) {
    const run::Grid& grid = event.work.grid;
    events.append(py::make_tuple(event.work.name, device_index(event.device), programs.index(event.work.program), event.observed,
                                 event.thread, event.submitted, event.start, event.duration, py::make_tuple(grid.x, grid.y, grid.z),
                                 event.work.bytes));
  }
  py::dict result;
  result["open"] = report.open;
  result["began"] = report.began;
  result["ended"] = report.ended;
  result["devices"] = devices;
  result["programs"] = programs.described;
  result["rows"] = rows;
  result["events"] = events;
  result["left_out"] = report.left_out;
  result["notes"] = lenient_list(report.notes);
  return result;
}

}  // namespace

void bind_profile(py::module_& m) {
  py::class_<PyProfile> type(m, "_Profile", py::is_final(), made_whole<PyProfile>());
  def_no_new(type, "write vyre.profile()");
  def_no_pickle(type, "a profile that still records");
  type.def("end", [](const PyProfile& self) { while_waiting({}, [&](const run::RunOptions& options) { self.profile->end(options); }); });
  type.def("report", report);
  m.def(
      "_profile_hash", [](const PyProgram& program) { return hash_text(valid(program)); }, py::arg("program"));
  m.def(
      "_profile", [](std::size_t most_events) { return std::make_unique<PyProfile>(most_events); }, py::arg("most_events"));
}

}  // namespace vyre::python
