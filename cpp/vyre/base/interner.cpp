#include "vyre/base/interner.hpp"

namespace vyre {

Interner::Interner(const Interner& other) {
  for (const std::string& text : other.texts_) intern(text);
}

Interner& Interner::operator=(const Interner& other) {
  if (this != &other) {
    Interner copy(other);
    *this = std::move(copy);
  }
  return *this;
}

NameId Interner::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  NameId id{static_cast<std::uint32_t>(texts_.size())};
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), id);
  return id;
}

NameId Interner::find(std::string_view text) const {
  auto found = ids_.find(text);
  return found == ids_.end() ? NameId{} : found->second;
}

}  // namespace vyre
