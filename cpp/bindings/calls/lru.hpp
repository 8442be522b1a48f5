// A cache of the most recently used values, by key. It spares a second call of vyre.run the validation and preparation of the program.
// Every thread may use it, and so may a forked child.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "vyre/base/fork.hpp"

namespace vyre::python {

template <class Key, class Value, class Hash>
class Lru {
 public:
  explicit Lru(std::size_t capacity) : capacity_(capacity) {}

  std::optional<Value> find(const Key& key) {
    std::lock_guard lock(mutex_);
    auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    items_.splice(items_.begin(), items_, found->second);
    return found->second->second;
  }

  void insert(const Key& key, Value value) {
    std::list<std::pair<Key, Value>> dropped;  // destroyed after the lock is released, because destroying a value may take long
    std::lock_guard lock(mutex_);
    if (auto found = places_.find(key); found != places_.end()) {
      dropped.splice(dropped.begin(), items_, found->second);
      places_.erase(found);
    }
    items_.emplace_front(key, std::move(value));
    places_[key] = items_.begin();
    while (items_.size() > capacity_) {
      places_.erase(items_.back().first);
      dropped.splice(dropped.begin(), items_, std::prev(items_.end()));
    }
  }

  void erase(const Key& key) {
    std::list<std::pair<Key, Value>> dropped;
    std::lock_guard lock(mutex_);
    if (auto found = places_.find(key); found != places_.end()) {
      dropped.splice(dropped.begin(), items_, found->second);
      places_.erase(found);
    }
  }

  void clear() {
    std::list<std::pair<Key, Value>> dropped;
    std::lock_guard lock(mutex_);
    places_.clear();
    dropped.swap(items_);
  }

 private:
  using List = std::list<std::pair<Key, Value>>;
  std::size_t capacity_;
  ForkSafeMutex mutex_;
  List items_;
  std::unordered_map<Key, typename List::iterator, Hash> places_;
};

}  // namespace vyre::python
