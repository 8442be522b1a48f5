#include "vyre/run/registry.hpp"

#include <fmt/format.h>

#include <mutex>

#include "vyre/base/error.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

struct Registry {
  std::mutex mutex;
  ir::OpTable table = ops::standard_ops();
};

Registry& registry() {
  static Registry the_registry;
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

void check_spec(const ir::OpSpec& spec) {
  if (!well_formed(spec.id)) {
    throw ArgumentError(
        fmt::format("operation id `{}` is not made of dotted lower-case words. Fix: use one like acme.mix or acme.hash.mix_2.", spec.id));
  }
  if (spec.version == 0) {
    throw ArgumentError(fmt::format("operation `{}` has version 0. Fix: count versions from 1.", spec.id));
  }
}

}  // namespace

ir::OpTable registered_ops() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.table;
}

ir::OpTable::Spec registered_op(std::string_view id) {
  if (ir::OpTable::Spec spec = registered_ops().find(id)) return spec;
  throw ArgumentError(fmt::format("unknown operation `{}`. Fix: register an Op with id {} before lowering.", id, id));
}

ir::OpTable::Spec register_op(ir::OpSpec spec) {
  check_spec(spec);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (spec.inlinable()) {
    Diagnostics found = validate::validate_op(spec, all.table);
    std::erase_if(found, [](const Diagnostic& diagnostic) { return diagnostic.rule == "V016" || diagnostic.rule == "V017"; });
    if (!found.empty()) throw ValidationError(std::move(found));
  }
  const std::string id = fmt::format("{}@{}", spec.id, spec.version);
  all.table = all.table.with(std::make_shared<const ir::OpSpec>(std::move(spec)));
  return all.table.find(id);
}

}  // namespace vyre::run
