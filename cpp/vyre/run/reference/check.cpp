// Runs a program with checks: a Checker observes the dispatch. If atomics could make the output depend on the order of invocations, the
// program runs again in other orders, and the outputs are compared.
#include <fmt/format.h>

#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/checks/checked.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/loops.hpp"
#include "vyre/run/reference/checker.hpp"
#include "vyre/run/reference/dispatch.hpp"
#include "vyre/run/reference/order.hpp"
#include "vyre/run/reference/prepare.hpp"

namespace vyre::run {
namespace reference {
namespace {

// Observes the runs in other orders. It reports divergent barriers only, because a program may diverge in some orders and not in others.
struct Second : Unobserved {
  Checker& checker;
  void diverged(const Group& group) { checker.diverged(group); }
};

void check_grid(Grid grid) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t plane = std::uint64_t{grid.x} * grid.y;
  check_limit(plane > kMost ? plane : plane * grid.z, kMost, "the limit of workgroups", "checked execution", "workgroups",
              "check fewer workgroups");
}

// Returns the orders whose outputs are compared with that of `schedule`. InOrder and Reversed run any two invocations in opposite orders,
// so at least one of them runs the two in another order than a random schedule.
std::vector<Schedule> others(const Schedule& schedule) {
  std::vector<Schedule> result;
  for (const Schedule::Order order : {Schedule::Order::InOrder, Schedule::Order::Reversed}) {
    if (order != schedule.order) result.push_back({.order = order});
  }
  return result;
}

std::optional<OrderDependence> compare(const validate::ValidProgram& valid, const Copies& one, const Copies& other) {
  std::optional<OrderDependence> result;
  for (std::size_t slot = 0; slot < valid.bound().size(); ++slot) {
    const std::span<const std::byte> a = one.bytes(slot), b = other.bytes(slot);
    if (std::equal(a.begin(), a.end(), b.begin())) continue;
    const BufferId buffer = valid.bound()[slot];
    const std::uint32_t lanes = std::max(ir::lanes(valid.program().buffers()[buffer.index].element), 1u);
    const Memory left{const_cast<std::byte*>(a.data())}, right{const_cast<std::byte*>(b.data())};
    for (std::size_t k = 0; k < a.size() / sizeof(std::uint32_t); ++k) {
      if (left.read(k) == right.read(k)) continue;
      if (!result) {
        result.emplace();
        result->buffer = buffer;
        result->index = static_cast<std::uint32_t>(k / lanes);
        result->lane = static_cast<std::uint32_t>(k % lanes);
        result->value = left.read(k);
        result->other = right.read(k);
      }
      ++result->count;
    }
  }
  return result;
}

Findings check(const validate::ValidProgram& valid, std::span<const BufferView> buffers, Grid grid, const RunOptions& options,
               const CheckOptions& checks) {
  const ir::Program& program = valid.program();
  const Code code = compile_within_limits(valid);
  const Copies copies(valid, buffers);
  const Job job{program, code, copies.memory(), grid};
  std::vector<bool> blank(program.buffers().size());
  for (std::size_t slot = 0; slot < checks.blank.size(); ++slot) blank[valid.bound()[slot].index] = checks.blank[slot];

  std::vector<std::span<std::uint8_t>> written(checks.written.empty() ? 0 : program.buffers().size());
  for (std::size_t slot = 0; slot < checks.written.size(); ++slot) written[valid.bound()[slot].index] = checks.written[slot];

  std::vector<NodeId> atomics;
  if (checks.order) atomics = ordered_atomics(valid);
  CheckOptions watched = checks;
  // Races are watched as well, because a race may make the outputs differ: they are compared only if none was found.
  watched.races |= !atomics.empty();

  Watch watch(options);
  Checker checker(job, watched, blank, written);
  dispatch(job, options.schedule, watch, checker);

  std::optional<OrderDependence> dependence;
  // A workgroup that diverged did not finish, so its output may differ for that reason alone.
  if (!atomics.empty() && !checker.found_race() && !checker.found_divergence()) {
    for (const Schedule& other : others(options.schedule)) {
      const Copies again(valid, buffers);
      Second second{{}, checker};
      dispatch({program, code, again.memory(), grid}, other, watch, second);
      dependence = compare(valid, copies, again);
      if (!dependence) continue;
      dependence->schedule = options.schedule;
      dependence->other_schedule = other;
      dependence->atomics = std::move(atomics);
      break;
    }
  }
  Findings findings = checker.findings(checks.races);
  if (dependence && findings.list.size() < checks.max_findings) {
    findings.list.emplace_back(std::move(*dependence));
  } else if (dependence) {
    findings.complete = false;
  }
  copies.write_back();
  return findings;
}

}  // namespace
}  // namespace reference

Findings check(const validate::ValidProgram& program, std::span<const BufferView> buffers, Grid grid, const RunOptions& options,
               const CheckOptions& checks) {
  check_call(program, buffers, grid);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    reference::compile_within_limits(program);
    return {};
  }
  reference::check_grid(grid);
  try {
    return naming_loops(program.program(), [&] { return reference::check(program, buffers, grid, options, checks); });
  } catch (const std::bad_alloc&) {
    throw no_memory("the host", "checked execution, which remembers 56 bytes for each element of writable memory");
  }
}

}  // namespace vyre::run
