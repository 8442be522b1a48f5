#include "vyre/run/procedures/fills.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>

#include "vyre/base/assert.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

struct Element {
  std::uint32_t bytes;
  const char* type;
  const char* zero;
};
constexpr std::array<Element, 4> kElements = {
    {{16, "vec4<u32>", "pack(vec4<u32>, 0, 0, 0, 0)"}, {4, "u32", "0"}, {2, "u16", "0"}, {1, "u8", "0"}}};

using FillPrograms = std::array<ProfiledProgram, kElements.size()>;

// Invocations beyond the end of the array have no effect, because a store out of bounds is dropped.
FillPrograms made(const char* from, const char* value) {
  FillPrograms programs;
  for (std::size_t k = 0; k < kElements.size(); ++k) {
    const std::string text =
        fmt::format("vyre 1\nworkgroup_size {} 1 1\n{}buffer to: read_write {} binding 1 output\n\nto[gid.x] = {}\n", kFillInvocations,
                    fmt::format(fmt::runtime(from), kElements[k].type), kElements[k].type, value == nullptr ? kElements[k].zero : value);
    const validate::Verdict verdict = validate::validate(ir::parse(text), ir::OpTable());
    VYRE_ASSERT(verdict.program.has_value());
    programs[k] = std::make_shared<const validate::ValidProgram>(*verdict.program);
  }
  return programs;
}

const ProfiledProgram& of(const FillPrograms& programs, std::uint32_t element_bytes) {
  std::size_t k = 0;
  while (kElements[k].bytes != element_bytes) ++k;
  return programs[k];
}

}  // namespace

std::uint32_t fill_element(std::uint64_t offset, std::uint64_t bytes) {
  for (const Element& element : kElements) {
    if (offset % element.bytes == 0 && bytes % element.bytes == 0) return element.bytes;
  }
  return 1;
}

// The programs are never destroyed, because another thread may use them while the process ends.
const ProfiledProgram& zero_program(std::uint32_t element_bytes) {
  static const FillPrograms& programs = *new FillPrograms(made("", nullptr));
  return of(programs, element_bytes);
}

const ProfiledProgram& copy_program(std::uint32_t element_bytes) {
  static const FillPrograms& programs = *new FillPrograms(made("buffer from: read {} binding 0\n", "from[gid.x]"));
  return of(programs, element_bytes);
}

}  // namespace vyre::run
