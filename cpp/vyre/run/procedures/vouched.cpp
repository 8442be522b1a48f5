#include "vyre/run/procedures/vouched.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "vyre/base/fork.hpp"

namespace vyre::run {
namespace {

constexpr std::size_t kMostProcedures = 4096;

struct Vouched {
  ForkSafeMutex mutex;
  std::unordered_multimap<std::uint64_t, ir::Procedure> procedures;  // by their hashes

  bool has(const ir::Procedure& procedure) const {
    const auto [begin, end] = procedures.equal_range(procedure.hash());
    return std::any_of(begin, end, [&](const auto& each) { return each.second == procedure; });
  }
};
// Never destroyed, because another thread may use it while the process ends.
Vouched& vouched() {
  static Vouched& all = *new Vouched;
  return all;
}

}  // namespace

void vouch(const ir::Procedure& procedure) {
  Vouched& all = vouched();
  const std::lock_guard lock(all.mutex);
  if (all.has(procedure)) return;
  // Procedures that are forgotten get zeros, and are as right as before.
  if (all.procedures.size() >= kMostProcedures) all.procedures.clear();
  all.procedures.emplace(procedure.hash(), procedure);
}

bool is_vouched(const ir::Procedure& procedure) {
  Vouched& all = vouched();
  const std::lock_guard lock(all.mutex);
  return all.has(procedure);
}

}  // namespace vyre::run
