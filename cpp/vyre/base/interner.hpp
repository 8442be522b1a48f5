// Text <-> NameId, each text once, in order of first use.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "vyre/base/id.hpp"

namespace vyre {

// Some 30 bytes a name beside its text: readers of foreign programs answer for what they allocate.
class Interner {
 public:
  Interner() = default;
  Interner(const Interner& other);
  // An empty deque takes memory too, so this can throw.
  Interner(Interner&& other) : Interner() { swap(other); }
  Interner& operator=(Interner other) noexcept {
    swap(other);
    return *this;
  }

  NameId intern(std::string_view text);
  // An invalid id when the text was never interned.
  NameId find(std::string_view text) const;
  // Stays where it is for as long as this interner, or the one it is moved to, lives.
  std::string_view text(NameId id) const { return texts_[id.index]; }
  std::size_t size() const { return texts_.size(); }
  bool operator==(const Interner& other) const { return texts_ == other.texts_; }

 private:
  void swap(Interner& other) noexcept;
  std::size_t slot(std::string_view text) const;
  std::string_view keep(std::string_view text);
  void grow();

  std::deque<std::string_view> texts_;  // into chunks_; a deque, because a growing vector holds everything twice
  std::vector<NameId> slots_;           // a hash table of a power of two, at most three quarters full
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_size_ = 0;  // of the last chunk that is shared by several texts
  std::size_t room_ = 0;        // bytes left in it
  char* free_ = nullptr;
};

}  // namespace vyre
