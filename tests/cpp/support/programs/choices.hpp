// Where a maker of programs takes its decisions from: random numbers of a seed, or the bytes of a fuzzer, which can then steer it.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace vyre::test {

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}
  // One byte a decision, so that a fuzzer's change of a byte changes one. After the last come zeros.
  explicit Choices(std::string_view bytes) : steered_(true), bytes_(bytes) {}

  std::uint64_t operator()() {
    if (!steered_) return random_();
    if (bytes_.empty()) return 0;
    const auto next = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return next;
  }

 private:
  bool steered_ = false;
  std::string_view bytes_;
  std::mt19937_64 random_;  // of one seed it gives the same numbers in every library
};

}  // namespace vyre::test
