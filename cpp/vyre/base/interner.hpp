// Text <-> NameId, each text once, in order of first use.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "vyre/base/id.hpp"

namespace vyre {

class Interner {
 public:
  Interner() = default;
  Interner(const Interner& other);
  Interner& operator=(const Interner& other);
  Interner(Interner&&) = default;
  Interner& operator=(Interner&&) = default;

  NameId intern(std::string_view text);
  // An invalid id when the text was never interned.
  NameId find(std::string_view text) const;
  std::string_view text(NameId id) const { return texts_[id.index]; }
  std::size_t size() const { return texts_.size(); }
  bool operator==(const Interner& other) const { return texts_ == other.texts_; }

 private:
  std::deque<std::string> texts_;  // a deque, so that the keys below stay where they are
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace vyre
