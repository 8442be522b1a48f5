// Typed indices: an ExprId cannot be given where a NodeId is wanted.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace vyre {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t index = kNone;

  constexpr bool valid() const { return index != kNone; }
  constexpr auto operator<=>(const Id&) const = default;
};

// A vector that is indexed by one kind of id only.
template <class IdType, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t size, const T& value = T()) : items_(size, value) {}

  // vector<bool> hands out proxies, hence decltype(auto).
  decltype(auto) operator[](IdType id) { return items_[id.index]; }
  decltype(auto) operator[](IdType id) const { return items_[id.index]; }

  IdType push_back(T value) {
    items_.push_back(std::move(value));
    return IdType{static_cast<std::uint32_t>(items_.size() - 1)};
  }
  void resize(std::size_t size) { items_.resize(size); }
  void resize(std::size_t size, const T& value) { items_.resize(size, value); }
  void reserve(std::size_t size) { items_.reserve(size); }
  void clear() { items_.clear(); }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  const std::vector<T>& items() const { return items_; }
  bool operator==(const IdVector&) const = default;

 private:
  std::vector<T> items_;
};

struct ExprTag;
struct NodeTag;
struct BufferTag;
struct NameTag;
struct LocalTag;

using ExprId = Id<ExprTag>;      // an expression of a Program
using NodeId = Id<NodeTag>;      // a statement of a Program
using BufferId = Id<BufferTag>;  // a declaration in Program::buffers()
using NameId = Id<NameTag>;      // an interned text of a Program
using LocalId = Id<LocalTag>;    // a Let binding or loop variable, see validate/facts.hpp

}  // namespace vyre

template <class Tag>
struct std::hash<vyre::Id<Tag>> {
  std::size_t operator()(vyre::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>()(id.index); }
};
