// Any text is a program or a ParseError, within the bound on memory, and a program prints as text that reads back as itself.
#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "fuzz/seeds.hpp"
#include "support/allocation_count.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/parse.hpp"
#include "vyre/ir/print.hpp"

using vyre::ir::Program;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  vyre::test::write_seeds(*argc, *argv, "text", [](const Program& program) { return vyre::ir::to_text(program); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<Program> program;
  const auto used = vyre::test::peak_bytes([&] {
    try {
      program = vyre::ir::parse(text);
    } catch (const vyre::ParseError&) {
    }
  });
  if (used > vyre::test::allowed_bytes(size)) {
    fmt::print(stderr, "parse held {} bytes for {}\n", used, size);
    std::abort();
  }
  if (program && !(vyre::ir::parse(vyre::ir::to_text(*program)) == *program)) {
    fmt::print(stderr, "the printed program reads back as another one\n");
    std::abort();
  }
  return 0;
}
