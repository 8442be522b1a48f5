#include "support/check_program.hpp"

#include "vyre/run/checks/checks.hpp"

namespace vyre::test {

run::Findings check_program(const ir::Program& program, std::vector<Words>& arrays, run::Grid grid, const run::CheckOptions& checks,
                            run::Schedule schedule) {
  const validate::ValidProgram checked = valid(program, {.limits = true, .uniformity = false});
  std::vector<run::BufferView> views;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(arrays[slot]));
    views.push_back({bytes, run::buffer_length(program.buffers()[checked.bound()[slot].index], bytes.size())});
  }
  run::RunOptions options;
  options.schedule = schedule;
  return run::check(checked, views, grid, options, checks);
}

const std::vector<run::Schedule>& all_schedules() {
  using Order = run::Schedule::Order;
  static const std::vector<run::Schedule> all{{}, {.order = Order::Reversed}, {.order = Order::Random, .seed = 5}};
  return all;
}

}  // namespace vyre::test
