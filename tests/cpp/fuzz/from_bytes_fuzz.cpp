// Any bytes are a program or a ParseError, within the bound on memory; a program has these bytes and no others, and survives
// its text form too.
#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "fuzz/seeds.hpp"
#include "support/allocation_count.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/parse.hpp"
#include "vyre/ir/print.hpp"
#include "vyre/ir/wire.hpp"

using vyre::ir::Program;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  vyre::test::write_seeds(*argc, *argv, "bytes", [](const Program& program) { return vyre::ir::to_bytes(program); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::optional<Program> program;
  const auto used = vyre::test::peak_bytes([&] {
    try {
      program = vyre::ir::from_bytes(std::as_bytes(std::span(bytes)));
    } catch (const vyre::ParseError&) {
    }
  });
  if (used > vyre::test::allowed_bytes(size)) {
    fmt::print(stderr, "from_bytes held {} bytes for {}\n", used, size);
    std::abort();
  }
  if (!program) return 0;
  if (vyre::ir::to_bytes(*program) != bytes) {
    fmt::print(stderr, "the program has other bytes than it was read from\n");
    std::abort();
  }
  if (!(vyre::ir::parse(vyre::ir::to_text(*program)) == *program)) {
    fmt::print(stderr, "the printed program reads back as another one\n");
    std::abort();
  }
  return 0;
}
