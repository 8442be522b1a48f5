// Writes the samples of each fuzz target as files, FOLDER/<target>/<name>, for libFuzzer to begin with.
#include <filesystem>
#include <fstream>

#include "fuzz/samples.hpp"

int main(int, char** arguments) {
  namespace fuzz = vyre::test::fuzz;
  for (const fuzz::Target& target : fuzz::kTargets) {
    const std::filesystem::path folder = std::filesystem::path(arguments[1]) / target.name;
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] : fuzz::samples_of(target.name)) std::ofstream(folder / name, std::ios::binary) << bytes;
  }
}
