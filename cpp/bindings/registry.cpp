#include "registry.hpp"

#include <mutex>

#include "vyre/base/error.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {
namespace {

struct Registry {
  std::mutex mutex;
  OpSnapshot now{ops::standard_ops(), 0};
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

}  // namespace

OpSnapshot registered_ops() {
  std::lock_guard lock(registry().mutex);
  return registry().now;
}

void register_op(ir::OpTable::Spec spec) {
  std::lock_guard lock(registry().mutex);
  OpSnapshot& now = registry().now;
  if (Diagnostics found = validate::validate_op(*spec, now.table); !found.empty()) throw ValidationError(std::move(found));
  now = {now.table.with(std::move(spec)), now.generation + 1};
}

}  // namespace vyre::python
