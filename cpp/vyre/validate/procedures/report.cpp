#include "vyre/validate/procedures/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <variant>

#include "vyre/base/overloaded.hpp"

namespace vyre::validate {

StepPlaces::StepPlaces(const ir::Procedure& procedure) : procedure_(procedure), rows_(procedure.steps().size()) {
  std::vector<Row> open;
  Row next;
  for (std::uint32_t index = 0; index < procedure.steps().size(); ++index) {
    const ir::StepId id{index};
    const ir::StepKind& step = procedure.steps()[id];
    if (std::holds_alternative<ir::Otherwise>(step) || std::holds_alternative<ir::EndStep>(step)) {
      rows_[id] = open.back();
      if (std::holds_alternative<ir::Otherwise>(step)) {
        next.position = 0;
        continue;
      }
      next = open.back();
      open.pop_back();
      ++next.position;
      continue;
    }
    rows_[id] = next;
    if (std::holds_alternative<ir::Repeat>(step) || std::holds_alternative<ir::When>(step)) {
      open.push_back(next);
      next = {.opener = id, .position = 0, .depth = next.depth + 1};
    } else {
      ++next.position;
    }
  }
}

std::string StepPlaces::path(ir::StepId id) const {
  std::string result;
  while (rows_[id].opener.valid()) {
    const ir::StepId opener = rows_[id].opener;
    const auto* when = std::get_if<ir::When>(&procedure_.steps()[opener]);
    const char* list = when == nullptr ? "body" : when->otherwise.valid() && id > when->otherwise ? "otherwise" : "then";
    result = fmt::format(".{}[{}]{}", list, rows_[id].position, result);
    id = opener;
  }
  return fmt::format("steps[{}]{}", rows_[id].position, result);
}

void StepPlaces::note_line(ir::StepId id, Place& place) const {
  const std::string_view line = procedure_.line(id);
  const std::size_t colon = line.rfind(':');
  int number = 0;
  const char* const end = line.data() + line.size();
  // A cell of a notebook has no file.
  if (colon == std::string_view::npos || std::from_chars(line.data() + colon + 1, end, number).ptr != end) return;
  place.file = line.substr(0, colon);
  place.line = number;
}

Diagnostics ProcedureReport::in_order() && {
  std::stable_sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.section, a.index, a.rule) < std::tie(b.section, b.index, b.rule);
  });
  Diagnostics result;
  for (Kept& each : kept_) result.push_back(std::move(each.diagnostic));
  return result;
}

KnownUses::KnownUses(const ir::Procedure& procedure, const std::vector<std::optional<ValidProgram>>& valid) {
  for (const ir::Procedure& inner : procedure.procedures()) {
    std::vector<ArrayUse>& uses = procedures_.emplace_back();
    for (ir::ArrayId id : inner.interface()) {
      const bool writes = inner.arrays()[id].role != ir::ArrayRole::Input;
      uses.push_back({{}, !writes, writes});
    }
  }
  for (const std::optional<ValidProgram>& each : valid) {
    std::vector<ArrayUse>& uses = programs_.emplace_back();
    if (!each) continue;
    std::vector<ArrayUse> of_buffers(each->program().buffers().size());
    for (const Step& step : each->facts().steps) {
      if (!step.buffer.valid()) continue;
      const ir::Expr& expr = each->program().expr(step.expr);
      if (std::holds_alternative<ir::Load>(expr)) of_buffers[step.buffer.index].reads = true;
      if (std::holds_alternative<ir::Atomic>(expr)) of_buffers[step.buffer.index].reads = of_buffers[step.buffer.index].writes = true;
    }
    for (const Statement& statement : each->facts().statements) {
      if (statement.buffer.valid()) of_buffers[statement.buffer.index].writes = true;
    }
    for (BufferId id : each->bound()) uses.push_back(of_buffers[id.index]);
  }
}

std::vector<ArrayUse> KnownUses::of(const ir::StepKind& step) const {
  std::vector<ArrayUse> result;
  const auto add = [&](const ir::ArrayPart& part, const ArrayUse& use) { result.push_back({part.array, use.reads, use.writes, &part}); };
  std::visit(overloaded{[&](const ir::Dispatch& dispatch) {
                          const std::vector<ArrayUse>& uses = programs_[dispatch.program];
                          for (std::size_t k = 0; k < std::min(dispatch.bound.size(), uses.size()); ++k) {
                            if (const auto* part = std::get_if<ir::ArrayPart>(&dispatch.bound[k])) add(*part, uses[k]);
                          }
                          if (dispatch.grid.counts) add(*dispatch.grid.counts, {{}, true, false});
                        },
                        [&](const ir::Invoke& invoke) {
                          const std::vector<ArrayUse>& uses = procedures_[invoke.procedure];
                          for (std::size_t k = 0; k < std::min(invoke.arrays.size(), uses.size()); ++k) add(invoke.arrays[k], uses[k]);
                        },
                        [&](const ir::Clear& clear) {
                          add(clear.part, {{}, false, true});
                        },
                        [&](const ir::Repeat& repeat) {
                          if (repeat.until) add(*repeat.until, {{}, true, false});
                        },
                        [](const auto&) {}},
             step);
  return result;
}

std::string step_name(const ir::Procedure& procedure, const ir::StepKind& step) {
  return std::visit(
      overloaded{[](const ir::Dispatch& each) { return fmt::format("dispatch `{}`", each.name); },
                 [&](const ir::Invoke& each) { return fmt::format("invocation `{}`", procedure.procedures()[each.procedure].name()); },
                 [](const ir::Repeat&) { return std::string("a repetition"); }, [](const ir::When&) { return std::string("a condition"); },
                 [](const ir::Swap&) { return std::string("a swap"); }, [](const ir::Clear&) { return std::string("a clear"); },
                 [](const ir::Require&) { return std::string("a requirement"); },
                 [](const auto&) { return std::string("the end of a block"); }},
      step);
}

}  // namespace vyre::validate
