// The command line tool that runs a procedure from a file.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "support/directory.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/ir/text/procedure_print.hpp"

namespace vyre::test {
namespace {

using namespace sample;

// y = x * times, for two axes, and the count of x's elements into n.
ir::Procedure scaled() {
  const ir::Program program =
      Sample().in("x").uniform("times").out("y").size(64).add(store("y", gid(0), load("x", gid(0)) * load("times", u32(0)))).make();
  const ir::Program count = Sample().in("x").out("n").size(1).add(store("n", gid(0), load("n", gid(0)) + len("x"))).make();
  ir::ProcedureBuilder b("scaled");
  const ir::ArrayId x = b.array({"x", ir::ArrayRole::Input, DataType::U32, 2, {}, false, nullptr});
  const ir::ArrayId n = b.array({"n", ir::ArrayRole::InOut, DataType::U32, 1, {}, false, nullptr});
  const std::uint32_t times = b.declare({"times", DataType::U32});
  const ir::SizeId one = b.literal(1), rows = b.length(x, 0), columns = b.length(x, 1);
  const ir::ArrayId y = b.array({"y", ir::ArrayRole::Output, DataType::U32, 2, {rows, columns}, false, nullptr});
  const ir::SizeId groups = b.apply(ir::SizeOp::CeilDiv, b.apply(ir::SizeOp::Mul, rows, columns), b.literal(64));
  const ir::ArrayPart all_x{x, {}, {}, {}}, all_y{y, {}, {}, {}}, all_n{n, {}, {}, {}};
  b.dispatch({"scaled", b.program(program), {all_x, ir::Words{b.number(times)}, all_y}, {{groups, one, one}, {}, false}});
  b.dispatch({"count", b.program(count), {all_x, all_n}, {{one, one, one}, {}, false}});
  b.result(y);
  return b.finish();
}

class Tool : public testing::Test {
 protected:
  // The exit status, and what it wrote.
  std::pair<int, std::string> run(const std::string& arguments) const {
    const std::string command = "cd '" + directory_.path.string() + "' && '" VYRE_RUN_TOOL "' " + arguments + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    return {WEXITSTATUS(pclose(pipe)), text};
  }
  void write(const std::string& name, const void* data, std::size_t bytes) const {
    std::ofstream(directory_.path / name, std::ios::binary).write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  }
  Words read(const std::string& name) const {
    std::ifstream file(directory_.path / name, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    Words words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), 4 * words.size());
    return words;
  }

  Directory directory_;
};

TEST_F(Tool, runs_a_procedure_from_a_file) {
  const std::string bytes = scaled().bytes(), source = ir::to_text(scaled());
  write("scaled.vyre", bytes.data(), bytes.size());
  write("scaled.txt", source.data(), source.size());
  const Words x = {1, 2, 3, 4, 5, 6}, n = {10};
  write("x.bin", x.data(), 24);
  write("n.bin", n.data(), 4);
  for (const std::string file : {"scaled.vyre --backend cpu", "scaled.txt --backend cpu", "scaled.txt --backend reference"}) {
    const auto [status, text] = run(file + " x=x.bin:2,3 n=n.bin=m.bin times=7 y=y.bin");
    EXPECT_EQ(text,
              "n: u32 (1,), 4 bytes: 10000000\n"
              "y: u32 (2, 3), 24 bytes: 070000000e000000150000001c000000...\n");
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read("y.bin"), (Words{7, 14, 21, 28, 35, 42}));
    EXPECT_EQ(read("m.bin"), Words{16});
    EXPECT_EQ(read("n.bin"), n);
  }
}

TEST_F(Tool, refuses_a_size_that_a_word_does_not_hold_and_runs_what_the_fix_says) {
  const std::string source = ir::to_text(scaled()), word = "words(times)", large = "words((times * 4))";
  const auto text = [&](const std::string& words) {
    std::string changed = source;
    return changed.replace(changed.find(word), word.size(), words);
  };
  const std::string wrong = text(large), mended = text("words(((times * 4) % 4294967296))");
  write("wrong.txt", wrong.data(), wrong.size());
  write("mended.txt", mended.data(), mended.size());
  const Words x = {1, 2, 3, 4, 5, 6}, n = {10};
  write("x.bin", x.data(), 24);
  write("n.bin", n.data(), 4);
  for (const std::string backend : {"cpu", "reference"}) {
    const std::string rest = " --backend " + backend + " x=x.bin:2,3 n=n.bin times=1073741825 y=y.bin";
    const auto [status, told] = run("wrong.txt" + rest);
    EXPECT_EQ(told,
              "vyre-run: dispatch `scaled` in procedure `scaled` at steps[0]: word 0 of buffer `times` is 4294967300, and a u32 is at most "
              "4294967295. "
              "Fix: write `(size % 4294967296)` for the low 32 bits of the size.\n");
    EXPECT_EQ(status, 1);
    EXPECT_EQ(run("mended.txt" + rest).first, 0);
    EXPECT_EQ(read("y.bin"), (Words{4, 8, 12, 16, 20, 24}));
  }
}

TEST_F(Tool, gives_a_negative_number_to_an_i32_and_refuses_it_as_a_size) {
  const std::string source =
      "vyre 1\nprocedure p\nnumber k: i32\noutput y: i32[1]\nprogram 0 {\n  vyre 1\n  workgroup_size 1 1 1\n  buffer k: uniform i32 "
      "binding "
      "0 count 1\n  buffer y: read_write i32 binding 1\n  y[0] = k[0]\n}\ndispatch copy program 0 (words(k), y) workgroups (1, 1, "
      "1)\nreturn y\n";
  const std::string size = "(k + 1)";
  std::string computed = source;
  computed.replace(computed.find("words(k)"), 8, "words(" + size + ")");
  write("bits.txt", source.data(), source.size());
  write("size.txt", computed.data(), computed.size());
  EXPECT_EQ(run("bits.txt k=-2"), (std::pair<int, std::string>{0, "y: i32 (1,), 4 bytes: feffffff\n"}));
  EXPECT_EQ(run("size.txt k=2"), (std::pair<int, std::string>{0, "y: i32 (1,), 4 bytes: 03000000\n"}));
  EXPECT_EQ(
      run("size.txt k=-2"),
      (std::pair<int, std::string>{
          1,
          "vyre-run: dispatch `copy` in procedure `p` at steps[0]: number `k` of procedure `p` is -2, and a size is an integer from 0 "
          "on. Fix: pass a number from 0 to 2147483647; an i32 parameter of a kernel takes negative ones, where it is given the number "
          "itself.\n"}));
  for (const std::string wrong : {"2147483648", "-2147483649", "x", ""}) {
    EXPECT_EQ(run("bits.txt k=" + wrong),
              (std::pair<int, std::string>{1, "vyre-run: k must be a number from -2147483648 to 2147483647, got " + wrong +
                                                  ". Fix: pass a number from -2147483648 to 2147483647.\n"}));
  }
}

TEST_F(Tool, says_what_is_wrong_with_its_arguments) {
  const std::string bytes = scaled().bytes();
  write("scaled.vyre", bytes.data(), bytes.size());
  write("x.bin", "12345", 5);
  const std::string wrong = "vyre 1\nprocedure p\noutput y: u32[1]\nreturn y\n", misspelt = "vyre 1\nprocedure p\nclaer y\n";
  write("wrong.txt", wrong.data(), wrong.size());
  write("misspelt.txt", misspelt.data(), misspelt.size());
  const std::string usage = "vyre-run FILE [--backend NAME] [--device K] [NAME=VALUE ...]";
  const std::array<std::pair<std::string, std::string>, 9> cases = {
      {{"", "no procedure is named. Fix: write " + usage + "."},
       {"scaled.vyre -v", "argument `-v` is not understood. Fix: write " + usage + "."},
       {"missing.vyre", "file `missing.vyre` cannot be read. Fix: name a file that is there."},
       {"scaled.vyre", "`times` has no value. Fix: write " + usage + "."},
       {"wrong.txt", "P011 at arrays[0]: no step writes output `y`. Fix: write it, or make it with vyre.scratch(..., zeros=True)."},
       {"misspelt.txt",
        "line 3, column 1: expected a step or a declaration, found `claer`. Fix: begin the line with dispatch, invoke, repeat, when, "
        "swap, clear, require, return, number, input, in_out, output, scratch, table, program, procedure or `%<number> =`."},
       {"x.bin",
        "line 1, column 1: expected `vyre` and the version of the text form, found `12345`. Fix: start the text with the line "
        "`vyre 1`."},
       {"scaled.vyre times=x", "times must be a number from 0 to 2^64 - 1, got x. Fix: pass a number from 0 to 2^64 - 1."},
       {"scaled.vyre times=5 x=x.bin:1,1",
        "file `x.bin` has 5 bytes, which are no array of u32 with 2 axes for `x`. Fix: write x=FILE:LENGTH,LENGTH."}}};
  for (const auto& [arguments, message] : cases) {
    const auto [status, text] = run(arguments);
    EXPECT_EQ(text, "vyre-run: " + message + "\n");
    EXPECT_EQ(status, 1);
  }
}

}  // namespace
}  // namespace vyre::test
