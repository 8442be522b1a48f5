#include "vyre/run/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "vyre/advise/hints.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/fork.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/validate/procedures/valid_procedure.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

struct Registry {
  ForkSafeMutex mutex;
  OpSnapshot now{ops::standard_ops(), 0};
};

Registry& registry() {
  // Never destroyed: threads that outlive main may still look something up.
  static Registry& the_registry = *new Registry;
  return the_registry;
}

// [a-z][a-z0-9_]*(\.[a-z0-9_]+)+
bool well_formed(std::string_view id) {
  auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  auto word = [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (id.empty() || !lower(id.front())) return false;
  bool dotted = false;
  char before = '.';
  for (char c : id) {
    if (c == '.') {
      if (before == '.') return false;
      dotted = true;
    } else if (!word(c)) {
      return false;
    }
    before = c;
  }
  return dotted && before != '.';
}

// Whether a procedure has what its operation asks for. Throws ArgumentError.
void check_convention(const ir::OpSpec& spec) {
  const ir::Procedure& procedure = *spec.procedure();
  const ir::ConventionV3 own = ir::own_convention(procedure);
  const auto is_written = [](const ir::ArrayDecl& array) {
    return array.role == ir::ArrayRole::InOut || array.role == ir::ArrayRole::Output;
  };
  const auto written = std::ranges::count_if(procedure.arrays(), is_written);
  const auto* v3 = std::get_if<ir::ConventionV3>(&*spec.asked);
  if (v3 != nullptr ? *v3 != own : written != 1 || own.scratch != 0) {
    throw ArgumentError(
        fmt::format("operation `{}` asks for {}, and its procedure is {} and writes {} of its arrays. Fix: leave out `convention`.",
                    spec.id, ir::text(*spec.asked), ir::text(own), written));
  }
  const auto* v2 = std::get_if<ir::ConventionV2>(&*spec.asked);
  if (v2 == nullptr) return;
  const std::vector<ir::ArrayId> interface = procedure.interface();
  const bool is_input =
      v2->lookup_binding < interface.size() && procedure.arrays()[interface[v2->lookup_binding]].role == ir::ArrayRole::Input;
  if (!is_input) {
    throw ArgumentError(
        fmt::format("operation `{}` asks for {}, and its procedure has no input there. Fix: name the position of an input "
                    "among its arrays, from 0.",
                    spec.id, ir::text(*spec.asked)));
  }
}

void check_spec(const ir::OpSpec& spec) {
  if (!well_formed(spec.id)) {
    throw ArgumentError(
        fmt::format("operation id `{}` is not made of dotted lower-case words. Fix: use one like acme.mix or acme.hash.mix_2.", spec.id));
  }
  if (spec.version == 0) {
    throw ArgumentError(fmt::format("operation `{}` has version 0. Fix: count versions from 1.", spec.id));
  }
  if (spec.procedure() != nullptr && spec.asked) check_convention(spec);
}

}  // namespace

OpSnapshot op_snapshot() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.now;
}

std::uint64_t op_generation() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.now.generation;
}

ir::OpTable registered_ops() { return op_snapshot().table; }

ir::OpTable::Spec registered_op(std::string_view id) {
  const ir::OpTable table = registered_ops();
  if (ir::OpTable::Spec spec = table.find(id)) return spec;
  const std::vector<ir::OpTable::Spec> all = table.all();
  std::vector<std::string_view> known;
  known.reserve(all.size());
  for (const ir::OpTable::Spec& spec : all) known.push_back(spec->id);
  const std::size_t at = id.find('@');
  const std::string_view name = id.substr(0, at);
  std::string wanted(name);  // an id that has a version is none that an operation is registered under
  if (at != std::string_view::npos) {
    const std::string_view version = id.substr(at + 1);
    if (version.empty() || version.front() == '0' || version.find_first_not_of("0123456789") != std::string_view::npos) {
      throw ArgumentError(
          fmt::format("operation `{}` names no version behind `@`. Fix: write {}@1, or {} for the highest version.", id, name, name));
    }
    wanted += fmt::format(" and version {}", version);
  }
  const auto meant = nearest(name, known);
  // The first line is the same for every caller, so the hint for Python stands on a line of its own.
  throw ArgumentError(fmt::format("unknown operation `{}`. Fix: register an Op with id {} before lowering.{}", id, wanted,
                                  meant ? fmt::format("\n  In Python: did you mean \"{}\"? vyre.ops.ids() lists all.", *meant) : ""));
}

ir::OpTable::Spec register_op(ir::OpSpec spec) {
  check_spec(spec);
  const std::string id = fmt::format("{}@{}", spec.id, spec.version);
  auto added = std::make_shared<const ir::OpSpec>(std::move(spec));
  Registry& all = registry();
  for (;;) {
    const OpSnapshot seen = op_snapshot();
    if (added->inlinable() || added->procedure() != nullptr) {
      Diagnostics found = added->procedure() != nullptr
                              ? validate::validate(*added->procedure(), seen.table, {.advice = advise::hints}).diagnostics
                              : validate::validate_op(*added, seen.table, {.advice = advise::hints});
      // The body may call operations that are registered later. Unknown operations, and calls that are nested too deeply, are reported when
      // a program calls the operation.
      std::erase_if(found, [](const Diagnostic& diagnostic) { return diagnostic.rule == "V016" || diagnostic.rule == "V017"; });
      if (!found.empty()) throw ValidationError(std::move(found));
    }
    OpSnapshot next{seen.table.with(added), seen.generation + 1};
    if (ir::OpTable::Spec known = seen.table.find(id)) return known;
    const std::lock_guard lock(all.mutex);
    // Another thread has added an operation meanwhile. It may be the same one, or one that this body calls, so everything is checked again.
    if (all.now.generation != seen.generation) continue;
    std::swap(all.now, next);
    return added;
  }
}

}  // namespace vyre::run
