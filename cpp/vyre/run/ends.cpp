#include "vyre/run/ends.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "vyre/base/assert.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

// The first two buffers are read, and the third one is written.
ProfiledProgram program_of(const std::string& first, const char* second, const char* third, const char* body) {
  const std::string text =
      fmt::format("vyre 1\nworkgroup_size 1 1 1\n{}{}buffer {}: read_write u32 binding 2 output\n\n{}", first, second, third, body);
  const validate::Verdict verdict = validate::validate(ir::parse(text), ir::OpTable());
  VYRE_ASSERT(verdict.program.has_value());
  return std::make_shared<const validate::ValidProgram>(*verdict.program);
}

struct Programs {
  static constexpr const char* kState = "buffer state: read u32 binding 0\n";
  static constexpr const char* kMark = "buffer mark: read u32 binding 1\n";

  Programs() {
    for (const ir::TypeInfo& type : ir::kTypes) {
      if (type.components != 1 || type.bytes == 0) continue;
      turn[type.number] = program_of(fmt::format("buffer element: read {} binding 0\n", type.text), kMark, "state",
                                     "if state[0] != 0 {\n  state[3] = mark[0]\n"
                                     "  if cast(bool, element[0]) {\n    state[0] = 0\n    state[1] = 0\n    state[2] = 0\n  }\n}\n");
    }
  }

  std::array<ProfiledProgram, ir::kTypes.size()> turn;
  ProfiledProgram begin =
      program_of(kState, "", "copy", "copy[0] = state[0]\ncopy[1] = state[1]\ncopy[2] = state[2]\ncopy[3] = state[3]\n");
  ProfiledProgram counts = program_of(kState, "buffer given: read u32 binding 1\n", "counts",
                                      "if state[0] != 0 {\n  counts[0] = given[0]\n  counts[1] = given[1]\n  counts[2] = given[2]\n"
                                      "} else {\n  counts[0] = 0\n  counts[1] = 0\n  counts[2] = 0\n}\n");
  ProfiledProgram ended_at = program_of(kState, kMark, "counts",
                                        "let all = select((state[0] == 0) & (state[3] == mark[0]), 0xffffffff, 0)\n"
                                        "counts[0] = all\ncounts[1] = all\ncounts[2] = all\n");
};

// Never destroyed, because another thread may use them while the process ends.
const Programs& programs() {
  static const Programs& all = *new Programs;
  return all;
}

}  // namespace

const ProfiledProgram& begin_program() { return programs().begin; }
const ProfiledProgram& turn_program(ir::DataType element) { return programs().turn[ir::info(element).number]; }
const ProfiledProgram& counts_program() { return programs().counts; }
const ProfiledProgram& ended_at_program() { return programs().ended_at; }

}  // namespace vyre::run
