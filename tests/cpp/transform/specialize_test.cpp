// Which elements of Uniform buffers decide something, and what becomes of a program once they are known. That bytes stay the same is shown
// on random programs, in tests/cpp/fuzz_programs.
#include "vyre/transform/specialize.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "vyre/ir/data_type.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::transform {
namespace {

constexpr const char* kHead = R"(vyre 1
workgroup_size 64 1 1
buffer n: uniform u32 binding 0
buffer v: uniform vec4<u32> binding 1
buffer flag: uniform bool binding 2
buffer wide: uniform u64 binding 3
buffer m: uniform vec2<u32> binding 4
buffer a: read u32 binding 5
buffer s: uniform i32 binding 6
buffer out: read_write u32 binding 7 output

)";

validate::ValidProgram valid(const std::string& body) {
  const validate::Verdict verdict = validate::validate(ir::parse(kHead + body), ops::standard_ops());
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic) << "\n" << body;
  return verdict.program.value();
}

// "n[2] v[0]"
std::string deciding(const std::string& body) {
  const validate::ValidProgram program = valid(body);
  std::string text;
  for (const UniformElement& element : deciding_elements(program)) {
    const ir::BufferDecl& buffer = program.program().buffers()[program.bound()[element.slot].index];
    EXPECT_EQ(element.type, buffer.element);
    text += fmt::format("{}{}[{}]", text.empty() ? "" : " ", buffer.name, element.index);
  }
  return text;
}

TEST(DecidingElements, give_loops_their_bounds) {
  EXPECT_EQ(deciding("loop k in 0..n[2] {\n  out[k] = 1\n}\n"), "n[2]");
  EXPECT_EQ(deciding("loop k in n[1]..n[2] {\n  out[k] = 1\n}\n"), "n[1] n[2]");
  EXPECT_EQ(deciding("loop k in 0..lane(m[3], 1) {\n  out[k] = 1\n}\n"), "m[3]");
  EXPECT_EQ(deciding("let x = (n[4] * 2) + 1\nlet y = x\nloop k in 0..y {\n  out[k] = 1\n}\n"), "n[4]");
}

TEST(DecidingElements, give_conditions_and_divisors) {
  EXPECT_EQ(deciding("if n[0] {\n  out[0] = 1\n}\n"), "n[0]");
  EXPECT_EQ(deciding("if flag[1] {\n  out[0] = 1\n}\n"), "flag[1]");
  EXPECT_EQ(deciding("out[0] = select(lane(v[1], 2) == 7, gid.x, 3)\n"), "v[1]");
  EXPECT_EQ(deciding("out[0] = (gid.x / n[5]) + (gid.x % lane(wide[0], 1))\n"), "n[5] wide[0]");
  EXPECT_EQ(deciding("let x = smod(cast(i32, gid.x), s[0])\nout[0] = cast(u32, x)\n"), "s[0]");
}

TEST(DecidingElements, are_known_only_with_literals_alone) {
  EXPECT_EQ(deciding("out[gid.x] = n[0] + n[1]\n"), "") << "they decide nothing";
  EXPECT_EQ(deciding("loop k in 0..a[0] {\n  out[k] = 1\n}\n"), "") << "no Uniform buffer";
  EXPECT_EQ(deciding("loop k in 0..n[gid.x] {\n  out[k] = 1\n}\n"), "") << "whichever element";
  EXPECT_EQ(deciding("loop k in gid.x..n[0] {\n  out[k] = 1\n}\n"), "") << "the number of turns stays open";
  EXPECT_EQ(deciding("if gid.x < n[0] {\n  out[0] = 1\n}\n"), "") << "with an id";
  EXPECT_EQ(deciding("loop k in 0..n[len(a)] {\n  out[k] = 1\n}\n"), "") << "a length is of a call";
  EXPECT_EQ(deciding("let x = n[0]\nx = x + 1\nif x {\n  out[0] = 1\n}\n"), "") << "a variable that is assigned";
  EXPECT_EQ(deciding("loop k in 0..9 {\n  if k + n[0] {\n    out[k] = 1\n  }\n}\n"), "") << "with a loop's variable";
  EXPECT_EQ(deciding("out[0] = n[0] / gid.x\n"), "") << "what is divided";
}

TEST(DecidingElements, are_few) {
  std::string body;
  for (int k = 0; k < 16; ++k) body += fmt::format("if n[{}] {{\n  out[{}] = 1\n}}\n", k, k);
  EXPECT_EQ(deciding_elements(valid(body)).size(), 16u);
  EXPECT_TRUE(deciding_elements(valid(body + "if n[16] {\n  out[0] = 1\n}\n")).empty());
  // More that are loaded do no harm, however many.
  std::string more = "if n[0] {\n  out[0] = 1\n}\n";
  for (int k = 1; k < 200; ++k) more += fmt::format("out[{}] = n[{}]\n", k, k);
  EXPECT_EQ(deciding(more), "n[0]");
}

TEST(DecidingElements, of_large_programs_are_not_looked_for) {
  std::string body = "if n[0] {\n  out[0] = 1\n}\n";
  for (int k = 0; k < 500; ++k) body += "out[0] = gid.x\n";
  EXPECT_EQ(deciding(body), "n[0]");
  for (int k = 0; k < 1500; ++k) body += "out[0] = gid.x\n";
  EXPECT_EQ(deciding(body), "");
}

TEST(Specialize, puts_literals_where_elements_were_loaded) {
  const validate::ValidProgram program = valid(R"(let x = n[2]
out[0] = (n[2] + n[3]) + x
if flag[0] {
  out[1] = lane(v[1], 2) + lane(wide[0], 1)
}
out[2] = cast(u32, s[0])
out[n[2]] = lane(m[0], 1)
out[3] = n[gid.x]
)");
  using ir::DataType;
  const std::vector<UniformElement> elements = {{0, 2, DataType::U32}, {1, 1, DataType::Vec4U32}, {2, 0, DataType::Bool},
                                                {3, 0, DataType::U64}, {4, 0, DataType::Vec2U32}, {6, 0, DataType::I32}};
  const std::vector<ir::Value> values = {ir::scalar(5), {{6, 7, 8, 9}}, ir::scalar(1), {{10, 11, 0, 0}}, {{12, 13, 0, 0}}, ir::scalar(~0u)};
  const validate::ValidProgram known = specialize(program, elements, values);
  EXPECT_EQ(ir::to_text(known.program()), std::string(kHead) + R"(let x = 5
out[0] = (5 + n[3]) + x
if true {
  out[1] = lane(pack(vec4<u32>, 6, 7, 8, 9), 2) + lane(47244640266u64, 1)
}
out[2] = cast(u32, -1i32)
out[5] = lane(pack(vec2<u32>, 12, 13), 1)
out[3] = n[gid.x]
)");
  EXPECT_EQ(ir::to_text(optimize(known).program()), std::string(kHead) + R"(%0 = 5
%1 = 3
out[0] = (%0 + n[%1]) + %0
block {
  out[1] = 19
}
out[2] = 4294967295
out[%0] = 13
out[%1] = n[gid.x]
)");
}

TEST(Specialize, keeps_every_buffer_and_the_rest_of_the_program) {
  const validate::ValidProgram program = valid("out[gid.x] = n[0]\n");
  EXPECT_EQ(ir::to_text(specialize(program, {}, {}).program()), ir::to_text(program.program()));
  const validate::ValidProgram known =
      specialize(program, std::vector<UniformElement>{{0, 0, ir::DataType::U32}}, std::vector<ir::Value>{{}});
  EXPECT_EQ(known.bound(), program.bound());
}

}  // namespace
}  // namespace vyre::transform
