// Calls a Program with arrays that stay on their device. The first call is checked and planned; every call submits the plan.
//
// Most calls give all arrays by position, and plain ints as counts of workgroups. The class's slot of calls (call_by_slot) takes these from
// Python's arguments at once, and leaves all others to `__call__`, which converts arguments and tells mistakes.
#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "convert.hpp"
#include "graph.hpp"
#include "guarded.hpp"
#include "host_value.hpp"
#include "optimize.hpp"
#include "planned.hpp"
#include "prepared.hpp"
#include "program.hpp"
#include "resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/few.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/registry.hpp"
#include "waiting.hpp"
#include "without_gil.hpp"

namespace vyre::python {

// Keeps the values that recent calls gave for Uniform buffers. Each value has memory that is never written again, because a call that is
// still running may read it. Guarded by the GIL.
class ValuesInUse {
 public:
  std::shared_ptr<run::Storage> find(run::Backend* backend, std::size_t device, std::span<const std::byte> bytes) {
    for (auto known = values_.begin(); known != values_.end(); ++known) {
      if (known->backend != backend || known->device != device || !std::ranges::equal(known->bytes, bytes)) continue;
      std::rotate(values_.begin(), known, known + 1);
      return values_.front().storage;
    }
    Value made{backend, device, {bytes.begin(), bytes.end()}, nullptr};
    std::shared_ptr<run::Storage> dropped;
    if (values_.size() >= kMost) {
      dropped = std::move(values_.back().storage);
      values_.pop_back();
    }
    while_waiting({}, [&](const run::RunOptions& options) {
      dropped.reset();
      made.storage = backend->allocate(device, bytes.size(), false);
      made.storage->write(0, bytes, options);
    });
    values_.push_front(made);
    return made.storage;
  }

  // Drops all values after a call failed, because they may be on a device that is lost.
  void clear() {
    std::deque<Value> dropped = std::exchange(values_, {});
    const WithoutGil unlocked;
    dropped.clear();
  }

 private:
  static constexpr std::size_t kMost = 16;
  struct Value {
    run::Backend* backend;
    std::size_t device;
    std::vector<std::byte> bytes;
    std::shared_ptr<run::Storage> storage;
  };
  std::deque<Value> values_;
};

// The grid of a call. `most` has the counts or, if the array `counts` has them, their upper limits.
struct CallGrid {
  run::Grid most;
  const PyArray* counts = nullptr;
  run::StorageView::Role role = run::StorageView::Role::Buffer;  // what `counts` holds; Buffer if it is null
};

// The most recent calls of one program, each with the arrays, the grid and the options that it was planned for. Guarded by the GIL.
class PlannedCalls {
 public:
  explicit PlannedCalls(const ir::Program& program) : program_(program) {
    for (const ir::BufferDecl& decl : program_.buffers()) {
      if (ir::is_bound(decl.access)) bound_.push_back(&decl);
    }
  }

  std::shared_ptr<Planned> find(std::uint64_t generation, std::span<const PyArray* const> arrays, const CallGrid& grid,
                                const std::optional<run::Optimize>& optimize) {
    for (auto known = calls_.begin(); known != calls_.end(); ++known) {
      if (!fits(**known, generation, arrays, grid) || (*known)->optimize != optimize) continue;
      if (known != calls_.begin()) std::rotate(calls_.begin(), known, known + 1);
      return calls_.front();
    }
    return nullptr;
  }

  // Returns the call that it drops; a KeptCall destroys it without the GIL.
  std::shared_ptr<Planned> insert(std::shared_ptr<Planned> call) {
    calls_.push_front(std::move(call));
    if (calls_.size() <= kMost) return nullptr;
    std::shared_ptr<Planned> dropped = std::move(calls_.back());
    calls_.pop_back();
    return dropped;
  }

  void erase(const std::shared_ptr<Planned>& call) { std::erase(calls_, call); }

  // The buffers that a call binds, in order.
  const std::vector<const ir::BufferDecl*>& bound() const { return bound_; }

  ValuesInUse values;

 private:
  // Enough for a program that is called with several sets of arrays in turn. A larger number would keep more command buffers alive.
  static constexpr std::size_t kMost = 16;

  static bool fits(const Planned& call, std::uint64_t generation, std::span<const PyArray* const> arrays, const CallGrid& grid) {
    const run::Grid& most = grid.most;
    if (call.generation != generation || call.grid.x != most.x || call.grid.y != most.y || call.grid.z != most.z) return false;
    if (call.counts != grid.role) return false;
    for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
      if (!(call.places[slot] == Planned::place(arrays, slot))) return false;
    }
    return true;
  }

  const ir::Program program_;  // owns the declarations that bound_ points to
  std::vector<const ir::BufferDecl*> bound_;
  std::deque<std::shared_ptr<Planned>> calls_;
};

namespace {

// Keeps a planned call. If nothing else keeps it, the GIL is released while the call is destroyed, because that may wait for the device.
class KeptCall {
 public:
  KeptCall() = default;
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;
  ~KeptCall() {
    if (call.use_count() != 1) return;
    const WithoutGil unlocked;
    call.reset();
  }

  std::shared_ptr<Planned> call;
};

using ir::BufferAccess;
using ir::BufferDecl;

constexpr char kCall[] = "a Program's call";

std::string buffer_names(const std::vector<const BufferDecl*>& bound) {
  std::string names;
  for (const BufferDecl* decl : bound) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", decl->name);
  return names.empty() ? "none" : names;
}

// The arrays that a call makes itself: values for Uniform buffers and zeros for ReadWrite buffers. They live while the call is planned and
// submitted.
class Made {
 public:
  // Chooses the device of these arrays: that of `beside`, the first vyre.Array of the call, or the one that vyre.empty would choose.
  void place(const PyArray* beside) {
    if (beside != nullptr) {
      backend_ = beside->backend;
      device_ = beside->device;
      return;
    }
    backend_ = to_backend(py::none(), "a Program's call");
    const WithoutGil unlocked;
    device_ = default_device(*backend_);
  }

  // Makes the array that `object` asks for: zeros for a ReadWrite buffer, or the value of a Uniform buffer. Returns null if `object` asks
  // for neither.
  const PyArray* array(ValuesInUse& values, const BufferDecl& decl, py::handle object) {
    if (const auto shape = zeros_of(decl, object)) {
      if (Graph::recording() != nullptr) {
        const std::string fix = "make it before the with-block, with vyre.empty(x)";
        refuse(decl, "a vyre.Array in a graph, whose replays go on with what is in it", given(object), fix);
      }
      PyArray& made = arrays_.emplace_back(blank(decl, *shape));
      while_waiting({}, [&](const run::RunOptions&) { made.storage = backend_->allocate(device_, made.bytes(), true); });
      return &made;
    }
    const py::object value = value_of(decl, object, Home::Device);
    if (!value) return nullptr;
    PyArray& made = arrays_.emplace_back(blank(decl, {1}));
    std::vector<std::byte> bytes(made.bytes());  // on a device a bool takes a word, whose first byte is that of numpy's bool
    std::memcpy(bytes.data(), value.cast<py::array>().data(), made.element->bytes);
    made.storage = values.find(backend_, device_, bytes);
    return &made;
  }

 private:
  PyArray blank(const BufferDecl& decl, std::vector<py::ssize_t> shape) const {
    PyArray made;
    made.backend = backend_;
    made.device = device_;
    made.element = &element_type(decl.element);
    made.shape = std::move(shape);
    return made;
  }

  run::Backend* backend_ = nullptr;
  std::size_t device_ = 0;
  std::deque<PyArray> arrays_;
};

std::string meant(std::string_view name, const std::vector<const BufferDecl*>& bound) {
  std::vector<std::string_view> names;
  names.reserve(bound.size());
  for (const BufferDecl* decl : bound) names.push_back(decl->name);
  return did_you_mean(name, names);
}

// Refuses a name that no buffer has. If it resembles the name of an argument and of no buffer, the message suggests that argument.
[[noreturn]] void refuse_name(const std::string& name, const std::vector<const BufferDecl*>& bound) {
  static constexpr std::string_view kArguments[] = {"workgroups", "at_most", "optimize"};
  const std::string buffer = meant(name, bound);
  if (const auto argument = nearest(name, kArguments); argument && buffer.empty()) {
    throw CallError(
        fmt::format("a Program's call has no argument `{0}` (did you mean `{1}`?). Fix: write {1}= in place of {0}=.", name, *argument));
  }
  throw BindingError(fmt::format("the program binds no buffer `{}`. Fix: use one of {}{}.", name, buffer_names(bound), buffer));
}

bool is_bound(const std::string& name, const std::vector<const BufferDecl*>& bound) {
  return std::any_of(bound.begin(), bound.end(), [&](const BufferDecl* decl) { return decl->name == name; });
}

CallGrid grid_from(const PyArray& counts, PyObject* most, run::StorageView::Role role) {
  if (counts.element != &element_type(ir::DataType::U32) || counts.shape != std::vector<py::ssize_t>{3}) {
    const bool longer = counts.element == &element_type(ir::DataType::U32) && counts.shape.size() == 1 && counts.shape[0] > 3;
    throw ArgumentError(fmt::format(
        "argument `workgroups` of a Program's call must be an array of uint32 with shape (3,), got {}. Fix: {}.", counts.describe(),
        longer ? "pass the three counts along x, y, z, such as counts[0:3]" : "make it with vyre.array([x, y, z], dtype=vyre.u32)"));
  }
  if (most == nullptr || most == Py_None) {
    throw ArgumentError(
        "a Program's call whose `workgroups` is an array needs argument `at_most`: the largest counts along x, y, z, to which it clamps "
        "those in the array. Fix: write at_most=(x, y, z).");
  }
  return {to_grid(most, kCall, "at_most"), &counts, role};
}

// `role` says what the counts mean if `workgroups` is an array: workgroups or invocations.
CallGrid grid_of(const py::kwargs& kwargs, const std::vector<const BufferDecl*>& bound, run::StorageView::Role role) {
  static PyObject* const name = PyUnicode_InternFromString("workgroups");
  static PyObject* const most_name = PyUnicode_InternFromString("at_most");
  PyObject* const found = PyDict_GetItem(kwargs.ptr(), name);
  PyObject* const most = kwargs.size() > 1 ? PyDict_GetItem(kwargs.ptr(), most_name) : nullptr;
  if (found != nullptr && is<PyArray>(found)) return grid_from(py::handle(found).cast<const PyArray&>(), most, role);
  if (found != nullptr && most != nullptr && most != Py_None) {
    throw ArgumentError(
        "argument `at_most` of a Program's call is for counts in an array, and `workgroups` is given by value. Fix: leave `at_most` out.");
  }
  if (found != nullptr) {
    if (const std::optional<std::uint32_t> count = plain_u32(found)) return {{*count, 1, 1}};
    return {to_grid(found, kCall)};
  }
  for (const auto& [key, value] : kwargs) {
    const std::string given = to_text(key, "an argument's name in a Program's call");
    if (given != "optimize" && given != "at_most" && !is_bound(given, bound)) refuse_name(given, bound);
  }
  return {to_grid(py::none(), kCall)};
}

std::optional<run::Optimize> optimize_of(const py::kwargs& kwargs) {
  PyObject* found = kwargs.size() > 1 ? PyDict_GetItemString(kwargs.ptr(), "optimize") : nullptr;
  if (found == nullptr) return std::nullopt;
  return to_optimize(found, "argument `optimize` of a Program's call");
}

// Finds the argument for each bound buffer: by position, in the order of the program's buffers, or by name.
std::vector<py::handle> objects_of(const std::vector<const BufferDecl*>& bound, const py::args& args, const py::kwargs& kwargs) {
  if (args.size() > bound.size()) {
    throw BindingError(fmt::format("the program binds {} buffers, got {} arrays. Fix: pass one array for each of {}.", bound.size(),
                                   args.size(), buffer_names(bound)));
  }
  std::vector<py::handle> objects(bound.size());
  for (std::size_t slot = 0; slot < args.size(); ++slot) objects[slot] = args[slot];
  if (kwargs.size() > 1) {
    for (const auto& [key, value] : kwargs) {
      const std::string name = to_text(key, "an argument's name in a Program's call");
      if (name == "workgroups" || name == "at_most" || name == "optimize") continue;
      const auto found = std::find_if(bound.begin(), bound.end(), [&](const BufferDecl* decl) { return decl->name == name; });
      if (found == bound.end()) refuse_name(name, bound);
      py::handle& object = objects[static_cast<std::size_t>(found - bound.begin())];
      if (object) throw BindingError(fmt::format("buffer `{}` got two arrays: by place and by name. Fix: remove one.", name));
      object = value;
    }
  }
  return objects;
}

// Returns one array for each bound buffer. `made` owns the arrays that the call makes itself.
std::vector<const PyArray*> arrays_of(const std::vector<const BufferDecl*>& bound, const std::vector<py::handle>& objects,
                                      ValuesInUse& values, std::optional<Made>& made) {
  std::vector<const PyArray*> arrays(bound.size(), nullptr);
  const PyArray* first = nullptr;
  bool all = true;
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    if (objects[slot] && py::isinstance<PyArray>(objects[slot])) {
      arrays[slot] = objects[slot].cast<const PyArray*>();
      if (first == nullptr) first = arrays[slot];
    } else {
      all = false;
    }
  }
  if (all) return arrays;
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    if (arrays[slot] != nullptr) continue;
    if (!objects[slot]) {
      throw BindingError(fmt::format("buffer `{}` ({}) has no array. Fix: pass a vyre.Array for each of {}.", bound[slot]->name,
                                     ir::text(bound[slot]->element), buffer_names(bound)));
    }
    if (!made) made.emplace().place(first);
    arrays[slot] = made->array(values, *bound[slot], objects[slot]);
    if (arrays[slot] == nullptr) refuse_value(*bound[slot], objects[slot], Home::Device);
  }
  return arrays;
}

void check_fits(const BufferDecl& decl, const PyArray& array) {
  const ElementType& wanted = element_type(decl.element);
  const bool words = decl.element == ir::DataType::Bool && array.element == &element_type(ir::DataType::U32);
  const std::uint32_t lanes = vector_lanes(decl.element);
  const bool shaped = lanes == 0 || (!array.shape.empty() && array.shape.back() == static_cast<py::ssize_t>(lanes));
  if ((array.element == &wanted || words) && shaped) return;
  throw BindingError(fmt::format("buffer `{}` ({}) wants a vyre.Array of {}{}, got {}. Fix: make it with vyre.array(x.astype(np.{}){}).",
                                 decl.name, ir::text(decl.element), wanted.numpy,
                                 lanes == 0 ? "" : fmt::format(" with shape (n, {})", lanes), array.describe(), wanted.numpy,
                                 lanes == 0 ? "" : fmt::format(".reshape(-1, {})", lanes)));
}

// Fills in a view of each array. `arrays` has one array for each bound buffer and, if an array has the counts of the grid, that array at
// its end.
void fill(std::span<run::StorageView> views, const std::vector<const BufferDecl*>& bound, std::span<const PyArray* const> arrays,
          run::StorageView::Role role) {
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    const PyArray& array = *arrays[slot];
    const std::uint64_t bytes = array.bytes();
    views[slot] = {array.storage.get(), array.offset, bytes, run::buffer_length(*bound[slot], bytes)};
  }
  if (arrays.size() > bound.size()) {
    const PyArray& counts = *arrays.back();
    views.back() = {counts.storage.get(), counts.offset, counts.bytes(), 3, role};
  }
}

// Returns the name of a slot's array for messages.
std::string name_of(const std::vector<const BufferDecl*>& bound, std::size_t slot, run::StorageView::Role role) {
  if (slot < bound.size()) return fmt::format("`{}`", bound[slot]->name);
  return role == run::StorageView::Role::Invocations ? "argument `grid`" : "argument `workgroups`";
}

std::shared_ptr<Planned> plan(const PyProgram& self, const std::vector<const BufferDecl*>& bound, std::span<const PyArray* const> arrays,
                              std::span<const run::StorageView> views, const CallGrid& grid, const std::optional<run::Optimize>& optimize,
                              std::uint64_t generation) {
  if (bound.empty()) {
    throw BindingError("a program without buffers has no device to run on. Fix: run it with vyre.run(program, {}, workgroups).");
  }
  for (std::size_t slot = 0; slot < bound.size(); ++slot) check_fits(*bound[slot], *arrays[slot]);
  for (std::size_t slot = 1; slot < arrays.size(); ++slot) {
    if (arrays[slot]->backend == arrays[0]->backend && arrays[slot]->device == arrays[0]->device) continue;
    const auto place = [](const PyArray& array) { return fmt::format("device {} of backend `{}`", array.device, array.backend->name()); };
    throw BindingError(
        fmt::format("{} `{}` and {} got arrays of two devices: {} and {}. Fix: make both with the same `backend` and "
                    "`device`.",
                    slot < bound.size() ? "buffers" : "buffer", bound[0]->name, name_of(bound, slot, grid.role), place(*arrays[0]),
                    place(*arrays[slot])));
  }
  auto call = std::make_shared<Planned>();
  call->generation = generation;
  call->backend = arrays[0]->backend;
  call->grid = grid.most;
  call->counts = grid.role;
  call->optimize = optimize;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) call->places.push_back(Planned::place(arrays, slot));
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    if (bound[slot]->access == BufferAccess::ReadWrite) call->written.push_back(slot);
  }
  validate::ValidProgram checked = valid(self);
  call->program = std::make_shared<validate::ValidProgram>(checked);
  run::check_call(checked, views, grid.most);
  while_waiting({}, [&](const run::RunOptions& waiting) {
    checked = run::with_passes(checked, *call->backend, optimize);
    call->key = PreparedKey{checked.program(), checked.hash(), call->backend, arrays[0]->device, optimize.value_or(run::Optimize())};
    try {
      call->executable = prepared(checked, *call->key, waiting);
      const run::Span span("plan");
      call->plan = call->executable->plan(views, grid.most, waiting);
    } catch (const DeviceError&) {
      forget_prepared(*call->key);
      throw;
    }
  });
  return call;
}

// Finds the plan of a call with these arrays, or makes one and adds it to `calls`. `dropped` gets the plan that `calls` drops to make room.
void find_plan(KeptCall& kept, KeptCall& dropped, const PyProgram& self, PlannedCalls& calls, std::span<const PyArray* const> arrays,
               std::span<run::StorageView> views, const CallGrid& grid, const std::optional<run::Optimize>& optimize) {
  const std::vector<const BufferDecl*>& bound = calls.bound();
  const std::uint64_t generation = run::op_generation();
  fill(views, bound, arrays, grid.role);
  kept.call = calls.find(generation, arrays, grid, optimize);
  if (kept.call) return;
  kept.call = plan(self, bound, arrays, views, grid, optimize, generation);
  dropped.call = calls.insert(kept.call);
}

// Drops the plan and the values of a call that raised a DeviceError, because they may belong to a device that is lost.
void forget(const KeptCall& kept, PlannedCalls& calls) {
  if (kept.call) {
    calls.erase(kept.call);
    forget_prepared(*kept.call->key);
  }
  calls.values.clear();
}

// Plans a call with these arrays, unless it is planned already, and submits it, or records it if this thread records a graph.
void submit(KeptCall& kept, const PyProgram& self, PlannedCalls& calls, std::span<const PyArray* const> arrays, const CallGrid& grid,
            const std::optional<run::Optimize>& optimize, run::Span& span) {
  Few<run::StorageView> made_views(arrays.size());
  const std::span<run::StorageView> views = made_views.all();
  KeptCall dropped;
  try {
    find_plan(kept, dropped, self, calls, arrays, views, grid, optimize);
    const std::shared_ptr<Planned>& call = kept.call;
    if (span) {
      span.work().program = call->program;
      span.work().grid = grid.most;
    }
    if (Graph* graph = Graph::recording()) {
      graph->add({call->backend, call->key->device.value_or(0)}, arrays, {call, {call->plan, {views.begin(), views.end()}}});
    } else if (dropped.call || !call->plan->submit_at_once(views)) {
      while_waiting({}, [&](const run::RunOptions& options) {
        dropped.call.reset();
        const run::Span submitting("submit");
        call->plan->submit(views, options);
      });
    }
  } catch (const DeviceError&) {
    forget(kept, calls);
    throw;
  }
}

std::shared_ptr<PlannedCalls> calls_of(const PyProgram& self) {
  if (!self.planned) {
    valid(self);  // first, because messages show the names of buffers, and names of an invalid program may contain NUL characters
    self.planned = std::make_shared<PlannedCalls>(self.program);
  }
  return self.planned;
}

// The arguments of a program's call, converted. Whether the arrays fit the program's buffers is checked later, when a plan is made.
struct GivenCall {
  // `role` says what the counts mean if `workgroups` is an array: workgroups or invocations.
  GivenCall(const PyProgram& program, const py::args& args, const py::kwargs& kwargs, run::StorageView::Role role)
      : calls(calls_of(program)),
        grid(grid_of(kwargs, calls->bound(), role)),
        objects(objects_of(calls->bound(), args, kwargs)),
        arrays(arrays_of(calls->bound(), objects, calls->values, made)),
        optimize(optimize_of(kwargs)) {
    if (grid.counts != nullptr) arrays.push_back(grid.counts);
  }

  const std::shared_ptr<PlannedCalls> calls;
  const CallGrid grid;
  const std::vector<py::handle> objects;
  std::optional<Made> made;
  std::vector<const PyArray*> arrays;
  const std::optional<run::Optimize> optimize;
};

// Returns what a call gives: the array of the one ReadWrite buffer, or a tuple of all. `result(slot)` returns the array of a buffer.
template <class Result>
py::object written_arrays(const std::vector<std::size_t>& written, const Result& result) {
  if (written.size() == 1) return result(written[0]);
  py::tuple results(written.size());
  for (std::size_t k = 0; k < written.size(); ++k) results[k] = result(written[k]);
  return results;
}

py::object call_counting(const PyProgram& self, const py::args& args, const py::kwargs& kwargs, run::StorageView::Role role) {
  run::Span span("call");
  const GivenCall given(self, args, kwargs, role);
  KeptCall kept;
  submit(kept, self, *given.calls, given.arrays, given.grid, given.optimize, span);
  return written_arrays(kept.call->written, [&](std::size_t slot) {
    const py::handle object = given.objects[slot];
    return py::isinstance<PyArray>(object) ? py::reinterpret_borrow<py::object>(object) : py::cast(*given.arrays[slot]);
  });
}

// Converts counts of workgroups: a plain int, or a tuple of one to three. Returns nothing for any other object.
std::optional<run::Grid> plain_grid(py::handle given) {
  if (const std::optional<std::uint32_t> count = plain_u32(given)) return run::Grid{*count, 1, 1};
  if (!PyTuple_CheckExact(given.ptr())) return std::nullopt;
  const Py_ssize_t axes = PyTuple_GET_SIZE(given.ptr());
  if (axes < 1 || axes > 3) return std::nullopt;
  std::array<std::uint32_t, 3> counts = {1, 1, 1};
  for (Py_ssize_t axis = 0; axis < axes; ++axis) {
    const std::optional<std::uint32_t> count = plain_u32(PyTuple_GET_ITEM(given.ptr(), axis));
    if (!count) return std::nullopt;
    counts[static_cast<std::size_t>(axis)] = *count;
  }
  return run::Grid{counts[0], counts[1], counts[2]};
}

// Runs a call of arrays by position and counts by value. Returns a null object, and has done nothing, if the arguments are others.
py::object call_of_arrays(PyObject* object, PyObject* args, PyObject* kwargs) {
  static PyObject* const name = PyUnicode_InternFromString("workgroups");
  const auto* const self = exactly<PyProgram>(object);
  if (self == nullptr || kwargs == nullptr || PyDict_GET_SIZE(kwargs) != 1) return {};
  PyObject* const workgroups = PyDict_GetItemWithError(kwargs, name);
  if (workgroups == nullptr) return {};
  const std::optional<run::Grid> grid = plain_grid(workgroups);
  if (!grid) return {};
  const std::span<PyObject* const> given(&PyTuple_GET_ITEM(args, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(args)));
  Few<const PyArray*> arrays(given.size());
  for (std::size_t slot = 0; slot < given.size(); ++slot) {
    arrays[slot] = exactly<PyArray>(given[slot]);
    if (arrays[slot] == nullptr) return {};
  }
  if (!self->planned || self->planned->bound().size() != given.size()) return {};
  run::Span span("call");
  const std::shared_ptr<PlannedCalls> calls = self->planned;
  KeptCall kept;
  submit(kept, *self, *calls, arrays.all(), {*grid}, std::nullopt, span);
  return written_arrays(kept.call->written, [&](std::size_t slot) { return py::reinterpret_borrow<py::object>(given[slot]); });
}

ternaryfunc call_by_method = nullptr;  // the first function of the slot, which calls `__call__`

PyObject* call_by_slot(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* const result = guarded([&] { return call_of_arrays(self, args, kwargs).release().ptr(); });
  return result != nullptr || PyErr_Occurred() != nullptr ? result : call_by_method(self, args, kwargs);
}

// Checks the arguments and keeps the plan, so that the same call finds it later. Submits nothing.
void plan_call(const PyProgram& self, bool counts_invocations, const py::args& args, const py::kwargs& kwargs) {
  const run::Span span("call");
  const GivenCall given(self, args, kwargs, counts_invocations ? run::StorageView::Role::Invocations : run::StorageView::Role::Workgroups);
  Few<run::StorageView> views(given.arrays.size());
  KeptCall kept;
  KeptCall dropped;
  try {
    find_plan(kept, dropped, self, *given.calls, given.arrays, views.all(), given.grid, given.optimize);
  } catch (const DeviceError&) {
    forget(kept, *given.calls);
    throw;
  }
}

py::object call_program(const PyProgram& self, const py::args& args, const py::kwargs& kwargs) {
  return call_counting(self, args, kwargs, run::StorageView::Role::Workgroups);
}

}  // namespace

void call_planned(const PyProgram& program, std::span<const PyArray* const> arrays, run::Grid grid) {
  run::Span span("call");
  const std::shared_ptr<PlannedCalls> calls = calls_of(program);
  KeptCall kept;
  submit(kept, program, *calls, arrays, {grid}, std::nullopt, span);
}

std::shared_ptr<run::Storage> value_in_use(const PyProgram& program, run::Backend* backend, std::size_t device,
                                           std::span<const std::byte> bytes) {
  const std::shared_ptr<PlannedCalls> calls = calls_of(program);
  return calls->values.find(backend, device, bytes);
}

void bind_planned(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  const py::object program = m.attr("Program");
  program.attr("__call__") =
      py::cpp_function(call_program, py::name("__call__"), py::is_method(program),
                       R"(program(*arrays, workgroups, at_most=None, optimize=None, **arrays_by_name) -> Array | tuple of Arrays

Run on arrays that stay on their device, one for each buffer that is neither Workgroup nor Private: in the order of the program's
buffers, or by their names. A buffer that is named like one of the arguments is given by position only. A Uniform buffer of one element takes an integer
as its value. A ReadWrite buffer takes a number or a shape of elements, which makes a new array of zeros. `optimize` is as vyre.run takes
it. ReadWrite arrays are written in place, and the call returns them: the array when there is one, else a tuple.

`workgroups` may be a vyre.Array of three U32, or a slice of one: its counts are read on the device when the call begins, so that an
earlier call may have written them, and each is clamped to that of `at_most`, the largest grid. The call may not write that array.

The first call with some arrays checks and plans it; the same call again submits what was planned. On a GPU the call returns at
once, and its errors come at the latest when one of its arrays is read.

Raises: BindingError (arrays that do not fit, numpy arrays, arrays of two devices), ValidationError, CapabilityError,
    DeviceError.

>>> i = vyre.Expr.gid_x()
>>> add_one = vyre.Program([vyre.BufferDecl.read_write("data", 0, vyre.u32)], (4, 1, 1),
...                        [vyre.Node.store("data", i, vyre.Expr.load("data", i) + 1)])
>>> data = vyre.empty(4, backend="cpu")
>>> add_one(add_one(data, workgroups=1), workgroups=1).numpy()
array([2, 2, 2, 2], dtype=uint32)

>>> counts = vyre.array([9, 1, 1], dtype=vyre.u32, backend="cpu")
>>> add_one(vyre.empty(12, backend="cpu"), workgroups=counts, at_most=2).numpy()
array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0], dtype=uint32))");
  call_by_method = std::exchange(reinterpret_cast<PyTypeObject*>(program.ptr())->tp_call, call_by_slot);
  // For kernels: an array given as `workgroups` has counts of invocations, while `at_most` still counts workgroups.
  m.def("_call_for_invocations", [](const PyProgram& self, const py::args& args, const py::kwargs& kwargs) {
    return call_counting(self, args, kwargs, run::StorageView::Role::Invocations);
  });
  m.def("_plan_call", &plan_call);
}

}  // namespace vyre::python
