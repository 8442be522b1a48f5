// As many elements as a call asks for: on the stack while they are few, because an allocation takes longer than the work on them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace vyre {

template <class T, std::size_t kFew = 8>
class Few {
 public:
  explicit Few(std::size_t count) : count_(count) {
    if (count > kFew) many_.resize(count);
  }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;

  std::size_t size() const { return count_; }
  T* data() { return count_ > kFew ? many_.data() : few_.data(); }
  T& operator[](std::size_t index) { return data()[index]; }
  T* begin() { return data(); }
  T* end() { return data() + count_; }
  std::span<T> all() { return {data(), count_}; }
  std::span<const T> all() const { return {count_ > kFew ? many_.data() : few_.data(), count_}; }

 private:
  const std::size_t count_;
  std::array<T, kFew> few_{};
  std::vector<T> many_;
};

}  // namespace vyre
