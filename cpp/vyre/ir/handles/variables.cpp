#include "vyre/ir/handles/variables.hpp"

namespace vyre::ir {

void Variables::bind(NameId name, Type type) {
  if (name.index >= names_.size()) names_.resize(name.index + 1);
  Name& known = names_[name];
  changes_.push_back({name, known, environment_});
  const Type before = known.bound ? known.here : known.known ? known.first : type;
  if (!known.known) known.first = type;
  known.known = known.bound = true;
  known.here = type;
  if (before == type) return;
  const auto next = static_cast<std::uint32_t>(environments_.size() + 1);
  environment_ = environments_.try_emplace({environment_, name, type}, next).first->second;
}

void Variables::close() {
  for (; changes_.size() > opened_.back(); changes_.pop_back()) {
    const Change& change = changes_.back();
    Name& name = names_[change.name];
    name.bound = change.before.bound;
    name.here = change.before.here;
    environment_ = change.environment;
  }
  opened_.pop_back();
}

}  // namespace vyre::ir
