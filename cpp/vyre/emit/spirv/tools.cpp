// Validation and assembly text by SPIRV-Tools, for tests and for debugging; running a program does not need them.
#include <spirv-tools/libspirv.hpp>

#include "vyre/emit/spirv/emit.hpp"

namespace vyre::spirv {
namespace {

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

}  // namespace

std::string validation_error(std::span<const std::uint32_t> words) {
  std::string problem;
  spvtools::SpirvTools validator(kEnvironment);
  validator.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& position, const char* message) {
    if (!problem.empty()) problem += '\n';
    problem += "word " + std::to_string(position.index) + ": " + message;
  });
  const bool valid = validator.Validate(words.data(), words.size());
  if (valid) return {};
  return problem.empty() ? "invalid" : problem;
}

std::string disassemble(std::span<const std::uint32_t> words) {
  const spvtools::SpirvTools tools(kEnvironment);
  std::string text;
  constexpr std::uint32_t kOptions = SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_INDENT;
  if (!tools.Disassemble(words.data(), words.size(), &text, kOptions)) return {};
  return text;
}

}  // namespace vyre::spirv
