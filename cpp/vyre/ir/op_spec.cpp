#include "vyre/ir/op_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/hash.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::ir {
namespace {

bool before(const OpTable::Spec& spec, std::string_view id, std::uint32_t version) {
  return spec->id != id ? spec->id < id : spec->version < version;
}

}  // namespace

std::uint32_t OpSignature::min_input_bytes() const {
  std::uint32_t sum = 0;
  for (DataType type : inputs) sum += min_bytes(type);
  return sum;
}

const ValueFunction& OpSpec::function() const {
  const auto* function = std::get_if<ValueFunction>(&work);
  VYRE_ASSERT(function != nullptr);
  return *function;
}

ValueFunction& OpSpec::function() {
  auto* function = std::get_if<ValueFunction>(&work);
  VYRE_ASSERT(function != nullptr);
  return *function;
}

std::string text(const Convention& convention) {
  return match(
      convention, [](const ConventionV1&) { return std::string("Convention.V1()"); },
      [](const ConventionV2& v2) { return fmt::format("Convention.V2(lookup_binding={})", v2.lookup_binding); },
      [](const ConventionV3& v3) {
        return fmt::format("Convention.V3(inputs={}, outputs={}, params={}, scratch={})", v3.inputs, v3.outputs, v3.params, v3.scratch);
      });
}

ConventionV3 own_convention(const Procedure& procedure) {
  ConventionV3 counted;
  for (const ArrayDecl& array : procedure.arrays()) {
    switch (array.role) {
      case ArrayRole::Input:
      case ArrayRole::InOut:
        ++counted.inputs;
        break;
      case ArrayRole::Output:
        ++counted.outputs;
        break;
      case ArrayRole::Scratch:
        ++counted.scratch;
        break;
      case ArrayRole::Table:
        break;
    }
  }
  counted.params = static_cast<std::uint32_t>(procedure.numbers().size());
  return counted;
}

Convention OpSpec::convention() const {
  if (asked) return *asked;
  return procedure() != nullptr ? Convention(own_convention(*procedure())) : ConventionV1{};
}

std::uint64_t OpSpec::hash() const {
  Fnv1a result;
  result.add(id);
  result.add(version);
  if (asked) result.add(text(*asked));
  if (procedure() != nullptr) {
    result.add("procedure");
    result.add(procedure()->hash());
    return result.value();
  }
  for (DataType type : function().signature.inputs) result.add(static_cast<unsigned>(type));
  result.add(static_cast<unsigned>(function().signature.output));
  for (const std::string& parameter : function().parameters) result.add(parameter);
  result.add(function().body ? function().body->hash() : 0);
  return result.value();
}

OpTable::Spec OpTable::find(std::string_view id) const {
  std::string_view base = id;
  if (auto at = id.rfind('@'); at != std::string_view::npos) {
    base = id.substr(0, at);
    const std::string_view digits = id.substr(at + 1);
    std::uint32_t version = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
    if (error != std::errc() || end != digits.data() + digits.size()) return nullptr;
    auto found = std::partition_point(specs_.begin(), specs_.end(), [&](const Spec& spec) { return before(spec, base, version); });
    return found != specs_.end() && (*found)->id == base && (*found)->version == version ? *found : nullptr;
  }
  // The last of this id is its highest version.
  auto after = std::partition_point(specs_.begin(), specs_.end(), [&](const Spec& spec) { return spec->id <= base; });
  return after != specs_.begin() && (*std::prev(after))->id == base ? *std::prev(after) : nullptr;
}

std::vector<OpTable::Spec> OpTable::all() const { return specs_; }

OpTable OpTable::with(Spec spec) const {
  OpTable result = *this;
  auto at = std::partition_point(result.specs_.begin(), result.specs_.end(),
                                 [&](const Spec& other) { return before(other, spec->id, spec->version); });
  if (at != result.specs_.end() && (*at)->id == spec->id && (*at)->version == spec->version) {
    if ((*at)->hash() != spec->hash()) {
      throw ArgumentError(fmt::format(
          "operation `{}` version {} is registered with a different body. Fix: register it under a new version.", spec->id, spec->version));
    }
    return result;
  }
  result.specs_.insert(at, std::move(spec));
  return result;
}

}  // namespace vyre::ir
