// The types of the variables in scope while a program is made from handles.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/fwd.hpp"

namespace vyre::ir {

// While each name has one type wherever it is bound, environment() stays 0.
class Variables {
 public:
  using Type = std::optional<DataType>;  // nothing when a mistake hides the type

  Type type(NameId name) const { return name.index < names_.size() && names_[name].bound ? names_[name].here : std::nullopt; }
  // Equal for two places only if every name has the same type at both, as far as it has one.
  std::uint32_t environment() const { return environment_; }

  // Until the scope that was opened last is closed.
  void bind(NameId name, Type type);
  void open() { opened_.push_back(changes_.size()); }
  void close();

 private:
  struct Name {
    bool known = false, bound = false;
    Type first;  // the type with which the program binds the name first
    Type here;
  };
  struct Change {
    NameId name;
    Name before;
    std::uint32_t environment;
  };

  IdVector<NameId, Name> names_;
  std::vector<Change> changes_;
  std::vector<std::size_t> opened_;
  std::map<std::tuple<std::uint32_t, NameId, Type>, std::uint32_t> environments_;
  std::uint32_t environment_ = 0;
};

}  // namespace vyre::ir
