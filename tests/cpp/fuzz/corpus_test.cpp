// Every file of the corpus goes through its target: what was found once stays found, without a fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "fuzz/targets.hpp"
#include "support/programs/random_procedure.hpp"
#include "support/programs/sample_programs.hpp"

namespace vyre::test::fuzz {
namespace {

std::filesystem::path folder_of(const std::string& target) { return std::filesystem::path(VYRE_CORPUS_DIR) / target; }

std::vector<std::filesystem::path> files_of(const std::string& target) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(target))) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Corpus : public testing::TestWithParam<Target> {};

// The sample programs in every form, and some made by chance. Larger ones make a fuzzer slow.
std::map<std::string, std::string> samples_of(const std::string& target) {
  constexpr std::size_t kMostBytes = 12000;
  std::map<std::string, std::string> files;
  const auto add = [&](const std::string& name, std::string bytes) {
    if (bytes.size() <= kMostBytes) files.emplace("sample_" + name, std::move(bytes));
  };
  const auto tagged = [](Form form, const std::string& bytes) { return std::string(1, static_cast<char>(form)) + bytes; };
  const auto add_program = [&](const std::string& name, const ir::Program& program) {
    const std::string text = ir::to_text(program), bytes = ir::to_bytes(program);
    if (target == "parse") add(name + ".vyre", text);
    if (target == "from_bytes") add(name + ".bin", bytes);
    if (target == "validate") add(name, tagged(Form::Bytes, bytes));
    if (target == "whole_path") add(name, tagged(Form::Text, text));
  };
  if (target == "procedure") {
    const auto add_procedure = [&](const std::string& name, const ir::Procedure& procedure) {
      add(name + "_text", tagged(Form::Text, ir::to_text(procedure)));
      add(name + "_bytes", tagged(Form::Bytes, procedure.bytes()));
    };
    add_procedure("sample", sample_procedure());
    for (std::uint64_t seed = 0; seed < 6; ++seed) add_procedure("random_" + std::to_string(seed), random_procedure(seed, 4 + 2 * seed));
    return files;
  }
  for (const SampleProgram& sample : sample_programs()) add_program(sample.name, sample.program);
  for (std::uint64_t seed = 0; seed < 4; ++seed) add_program("random_" + std::to_string(seed), random_program(seed, 10 + 10 * seed));
  if (target == "validate" || target == "whole_path") {
    const Form form = target == "validate" ? Form::AnyProgram : Form::ValidProgram;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Choices choices(seed);
      std::string bytes;
      while (bytes.size() < 100 * (seed + 1)) bytes += static_cast<char>(choices() >> 56);
      add("choices_" + std::to_string(seed), tagged(form, bytes));
    }
  }
  return files;
}

// VYRE_UPDATE_GOLDEN=1 writes the files anew; those of other names are what fuzzing found, and stay.
TEST_P(Corpus, holds_the_sample_programs) {
  const std::filesystem::path folder = folder_of(GetParam().name);
  const auto wanted = samples_of(GetParam().name);
  if (const char* update = std::getenv("VYRE_UPDATE_GOLDEN"); update != nullptr && std::string_view(update) == "1") {
    std::filesystem::create_directories(folder);
    for (const std::filesystem::path& file : files_of(GetParam().name)) {
      if (file.filename().string().starts_with("sample_")) std::filesystem::remove(file);
    }
    for (const auto& [name, bytes] : wanted) std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::map<std::string, std::string> found;
  for (const std::filesystem::path& file : files_of(GetParam().name)) {
    const std::string name = file.filename().string();
    if (name.starts_with("sample_")) found.emplace(name, content(file));
  }
  EXPECT_EQ(found, wanted) << "Fix: run this test with VYRE_UPDATE_GOLDEN=1.";
}

TEST_P(Corpus, keeps_what_the_target_promises) {
  const auto files = files_of(GetParam().name);
  EXPECT_GE(files.size(), 10u);
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    EXPECT_NO_THROW(GetParam().run(content(file)));
  }
}

TEST_P(Corpus, keeps_it_when_a_file_ends_early_or_has_one_byte_wrong) {
  for (const std::filesystem::path& file : files_of(GetParam().name)) {
    SCOPED_TRACE(file.filename().string());
    const std::string whole = content(file);
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
