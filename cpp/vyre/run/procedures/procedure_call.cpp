#include "vyre/run/procedures/procedure_call.hpp"

#include <fmt/format.h>

#include <map>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::run {
namespace {

using ir::ArrayId;
using ir::ArrayRole;

bool is_given(const ir::ArrayDecl& array) { return array.role == ArrayRole::Input || array.role == ArrayRole::InOut; }

std::vector<ArrayId> given_of(const ir::Procedure& procedure) {
  std::vector<ArrayId> given = procedure.interface();
  std::erase_if(given, [&](ArrayId id) { return !is_given(procedure.arrays()[id]); });
  return given;
}

void check_shapes(const ir::Procedure& procedure, std::span<const Shape> shapes) {
  const std::vector<ArrayId> given = given_of(procedure);
  if (shapes.size() != given.size()) {
    throw BindingError(must_be(fmt::format("the arrays of procedure `{}`", procedure.name()), std::to_string(given.size()),
                               std::to_string(shapes.size())));
  }
  for (std::size_t k = 0; k < given.size(); ++k) {
    const ir::ArrayDecl& array = procedure.arrays()[given[k]];
    if (shapes[k].size() != array.axes) {
      throw BindingError(must_be(fmt::format("array `{}` of procedure `{}`", array.name, procedure.name()),
                                 fmt::format("one of {} axes", array.axes), "shape " + text_of(shapes[k])));
    }
  }
}

void check_numbers(const ir::Procedure& procedure, std::span<const std::uint64_t> numbers) {
  if (numbers.size() != procedure.numbers().size()) {
    throw ArgumentError(must_be(fmt::format("the numbers of procedure `{}`", procedure.name()), std::to_string(procedure.numbers().size()),
                                std::to_string(numbers.size())));
  }
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const ir::NumberDecl& number = procedure.numbers()[k];
    const std::uint64_t most = largest_number(number.type);
    if (numbers[k] > most) {
      throw ArgumentError(must_be(fmt::format("number `{}` of procedure `{}`", number.name, procedure.name()),
                                  fmt::format("an integer from 0 to {}", most), std::to_string(numbers[k])));
    }
  }
}

// Finds the validated form of each program of a valid procedure, so that planning need not validate programs again.
class ValidPrograms {
 public:
  explicit ValidPrograms(const validate::ValidProcedure& procedure) { add(procedure); }
  ProfiledProgram operator()(const ir::Program& program) const {
    const auto [begin, end] = known_.equal_range(program.hash());
    for (auto at = begin; at != end; ++at) {
      if (at->second->program() == program) return at->second;
    }
    VYRE_ASSERT(false);  // a valid procedure has every program that is asked for
    return nullptr;
  }

 private:
  // Recurses over invocations, which are nested at most kMostInvocations deep.
  void add(const validate::ValidProcedure& procedure) {
    for (const validate::ValidProgram& each : procedure.programs()) {
      known_.emplace(each.program().hash(), std::make_shared<const validate::ValidProgram>(each));
    }
    for (const validate::ValidProcedure& each : procedure.procedures()) add(each);
  }
  std::multimap<std::uint64_t, ProfiledProgram> known_;
};

}  // namespace

std::shared_ptr<PlannedProcedure> plan(const validate::ValidProcedure& procedure, std::span<const Shape> shapes,
                                       std::span<const std::uint64_t> numbers, Backend& backend, std::size_t device,
                                       const RunOptions& waiting, const ir::OpSpec* operation) {
  check_shapes(procedure.procedure(), shapes);
  check_numbers(procedure.procedure(), numbers);
  ProcedurePlace place = place_of(backend, device, waiting);
  place.valid = ValidPrograms(procedure);
  const auto table = [&](const ir::ArrayDecl& decl) { return table_on(backend, device, decl, waiting); };
  return std::make_shared<PlannedProcedure>(procedure.procedure(), shapes, numbers, place, table, waiting, operation);
}

std::vector<HostArray> run(const validate::ValidProcedure& procedure, std::span<const HostArray> arrays,
                           std::span<const std::uint64_t> numbers, Backend& backend, std::size_t device, const RunOptions& options) {
  backend.check_nothing_is_abandoned(device);
  std::vector<Shape> shapes;
  for (const HostArray& each : arrays) shapes.push_back(each.shape);
  const std::shared_ptr<PlannedProcedure> planned = plan(procedure, shapes, numbers, backend, device, options);
  const auto& decls = procedure.procedure().arrays();
  const std::vector<ArrayId> interface = procedure.procedure().interface();
  std::vector<std::unique_ptr<Storage>> storages;
  std::vector<StorageView> views;
  std::vector<HostArray> results;
  wait_or_abandon(backend, device, [&] {
    for (std::size_t k = 0; k < interface.size(); ++k) {
      const std::uint64_t bytes = bytes_of(decls[interface[k]].element, planned->shapes()[k]);
      if (k < arrays.size() && arrays[k].bytes.size() != bytes) {
        throw BindingError(must_be(fmt::format("array `{}` of procedure `{}`", decls[interface[k]].name, procedure.procedure().name()),
                                   fmt::format("the {} bytes of its shape {}", bytes, text_of(planned->shapes()[k])),
                                   std::to_string(arrays[k].bytes.size())));
      }
      storages.push_back(backend.allocate(device, bytes, false));
      if (k < arrays.size()) storages.back()->write(0, arrays[k].bytes, options);
      views.push_back({storages.back().get(), 0, bytes});
    }
    planned->submit(views, numbers, options);
    for (std::size_t k = 0; k < interface.size(); ++k) {
      if (decls[interface[k]].role == ArrayRole::Input) continue;
      results.push_back({planned->shapes()[k], std::vector<std::byte>(views[k].bytes)});
      storages[k]->read(0, results.back().bytes, options);
    }
  });
  return results;
}

}  // namespace vyre::run
