#include "vyre/fuzz/checked.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/assert.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::fuzz {
namespace {

Defect defect_of(const run::Finding& finding) {
  return match(
      finding, [](const run::Race&) { return Defect::Race; }, [](const run::UninitialisedRead&) { return Defect::Uninitialised; },
      [](const run::OutOfBounds&) { return Defect::OutOfBounds; }, [](const run::DivergentBarrier&) { return Defect::DivergentBarrier; },
      [](const run::OrderDependence&) { return Defect::OrderDependence; });
}

std::string_view name(Defect defect) {
  static constexpr std::string_view kNames[] = {
      "race", "access out of bounds", "uninitialised read", "divergent barrier", "dependence on order", "finding"};
  return kNames[static_cast<std::size_t>(defect)];
}

bool at_planted(const Case& that, const run::Finding& finding) {
  const Planted& planted = *that.planted;
  const auto takes_part = [&](NodeId id) {
    return std::find(planted.statements.begin(), planted.statements.end(), id) != planted.statements.end();
  };
  const auto on_buffer = [&](BufferId id) { return that.program.buffers()[id.index].name == planted.buffer; };
  return match(
      finding,
      [&](const run::Race& it) { return on_buffer(it.buffer) && takes_part(it.first.statement) && takes_part(it.second.statement); },
      [&](const run::UninitialisedRead& it) { return on_buffer(it.buffer) && takes_part(it.witness.statement); },
      [&](const run::OutOfBounds& it) { return on_buffer(it.buffer) && takes_part(it.witness.statement); },
      [&](const run::DivergentBarrier& it) {
        return std::any_of(it.stops.begin(), it.stops.end(), [&](const auto& stop) { return stop.waits && takes_part(stop.statement); });
      },
      // Another buffer changes; its cause is planted.
      [&](const run::OrderDependence& it) { return std::any_of(it.atomics.begin(), it.atomics.end(), takes_part); });
}

}  // namespace

run::Findings check_case(const Case& that, const run::Schedule& schedule) {
  const validate::Verdict verdict = validate::validate(that.program, op_table(), {.limits = true, .uniformity = false});
  VYRE_ASSERT(verdict.program.has_value());
  std::vector<Array> arrays = that.arrays;
  std::vector<run::BufferView> views;
  run::CheckOptions checks;
  checks.promised_zeros = true;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    const ir::BufferDecl& decl = that.program.buffers()[verdict.program->bound()[slot].index];
    views.push_back({arrays[slot].bytes, run::buffer_length(decl, arrays[slot].bytes.size())});
    checks.blank.push_back(arrays[slot].zeros);
  }
  run::RunOptions options;
  options.timeout = std::chrono::seconds(60);
  options.schedule = schedule;
  run::Findings findings = run::check(*verdict.program, views, {that.grid[0], that.grid[1], that.grid[2]}, options, checks);
  // Generated programs fill workgroup memory before they read it, but not private memory.
  std::erase_if(findings.list, [&](const run::Finding& finding) {
    const auto* zero = std::get_if<run::PromisedZero>(&finding);
    return zero != nullptr && that.program.buffers()[zero->buffer.index].access == ir::BufferAccess::Private;
  });
  return findings;
}

std::optional<std::string> misjudged(const Case& that, const Options& options, const run::Findings& findings) {
  bool found = false;
  for (const run::Finding& finding : findings.list) {
    const Defect defect = defect_of(finding);
    if (that.planted && info(that.planted->plant).defect == Defect::Nothing) return fmt::format("a {} that is none", name(defect));
    if (that.planted) {
      if (defect != info(that.planted->plant).defect) return fmt::format("a {} that was not planted", name(defect));
      if (!at_planted(that, finding)) return fmt::format("a {} at another place", name(defect));
      found = true;
    } else if (options.clean || (defect != Defect::OutOfBounds && defect != Defect::Uninitialised)) {
      return fmt::format("a {} that is none", name(defect));
    }
  }
  if (that.planted && !found && info(that.planted->plant).defect != Defect::Nothing)
    return fmt::format("no {}", name(info(that.planted->plant).defect));
  return std::nullopt;
}

}  // namespace vyre::fuzz
