// The samples of each target, and every file of its corpus, go through it: what was found once stays found, without a fuzzer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/samples.hpp"

namespace vyre::test::fuzz {
namespace {

class Corpus : public testing::TestWithParam<Target> {
 protected:
  static std::map<std::string, std::string> inputs() {
    std::map<std::string, std::string> all = samples_of(GetParam().name);
    const std::filesystem::path folder = std::filesystem::path(VYRE_CORPUS_DIR) / GetParam().name;
    if (!std::filesystem::exists(folder)) return all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      all.emplace(entry.path().string(), std::string{std::istreambuf_iterator<char>(file), {}});
    }
    return all;
  }
};

TEST_P(Corpus, keeps_what_the_target_promises) {
  const auto all = inputs();
  EXPECT_GE(all.size(), 10u);
  for (const auto& [name, bytes] : all) {
    SCOPED_TRACE(name);
    EXPECT_NO_THROW(GetParam().run(bytes));
  }
}

TEST_P(Corpus, keeps_it_when_a_file_ends_early_or_has_one_byte_wrong) {
  for (const auto& [name, whole] : inputs()) {
    SCOPED_TRACE(name);
    for (std::size_t turn = 0; turn < 3; ++turn) {
      const std::size_t at = whole.size() * (turn + 1) / 4;
      EXPECT_NO_THROW(GetParam().run(whole.substr(0, at)));
      std::string changed = whole;
      if (at < changed.size()) changed[at] = static_cast<char>(changed[at] ^ (1 << turn));
      EXPECT_NO_THROW(GetParam().run(changed));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfTarget, Corpus, testing::ValuesIn(kTargets), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace vyre::test::fuzz
