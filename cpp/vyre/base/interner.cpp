#include "vyre/base/interner.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace vyre {
namespace {

constexpr std::size_t kFirstChunk = 64;
constexpr std::size_t kLargestChunk = std::size_t{1} << 16;

}  // namespace

Interner::Interner(const Interner& other) {
  for (std::string_view text : other.texts_) intern(text);
}

void Interner::swap(Interner& other) noexcept {
  texts_.swap(other.texts_);
  slots_.swap(other.slots_);
  chunks_.swap(other.chunks_);
  std::swap(chunk_size_, other.chunk_size_);
  std::swap(room_, other.room_);
  std::swap(free_, other.free_);
}

// Where the text is, or where it would go.
std::size_t Interner::slot(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>()(text) & mask;
  while (slots_[at].valid() && texts_[slots_[at].index] != text) at = (at + 1) & mask;
  return at;
}

std::string_view Interner::keep(std::string_view text) {
  if (text.empty()) return {};
  char* place = nullptr;
  if (text.size() > room_ && text.size() > chunk_size_ / 4 && text.size() > kFirstChunk / 4) {
    // A long text gets a chunk of its own, so that the room left in the shared one is not lost.
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
    place = chunks_.back().get();
  } else {
    if (text.size() > room_) {
      chunk_size_ = std::clamp(chunk_size_ * 2, kFirstChunk, kLargestChunk);
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_size_));
      free_ = chunks_.back().get();
      room_ = chunk_size_;
    }
    place = free_;
    free_ += text.size();
    room_ -= text.size();
  }
  std::copy(text.begin(), text.end(), place);
  return {place, text.size()};
}

void Interner::grow() {
  slots_.assign(std::max<std::size_t>(8, slots_.size() * 2), NameId{});
  for (std::uint32_t index = 0; index < texts_.size(); ++index) slots_[slot(texts_[index])] = NameId{index};
}

NameId Interner::intern(std::string_view text) {
  if (texts_.size() * 4 >= slots_.size() * 3) grow();
  NameId& entry = slots_[slot(text)];
  if (!entry.valid()) {
    // Memory may run out in keeping it; the table must not know the text then.
    texts_.push_back(keep(text));
    entry = NameId{static_cast<std::uint32_t>(texts_.size() - 1)};
  }
  return entry;
}

NameId Interner::find(std::string_view text) const { return slots_.empty() ? NameId{} : slots_[slot(text)]; }

}  // namespace vyre
