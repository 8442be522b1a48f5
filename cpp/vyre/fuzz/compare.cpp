#include "vyre/fuzz/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::fuzz {
namespace {

// A generated program takes about a millisecond.
constexpr std::chrono::seconds kPatience{60};

std::string text(const run::Schedule& schedule) {
  switch (schedule.order) {
    case run::Schedule::Order::InOrder:
      return "in-order";
    case run::Schedule::Order::Reversed:
      return "reversed";
    case run::Schedule::Order::Random:
      break;
  }
  return fmt::format("random:{}", schedule.seed);
}

bool is_reference(const Way& way) { return way.backend->name() == "reference"; }

}  // namespace

std::string to_string(const Way& way) {
  std::string result(way.backend->name());
  if (way.device) result += fmt::format(" device {}", *way.device);
  if (is_reference(way)) result += ", " + text(way.schedule);
  return result + (way.optimize ? ", optimised" : ", as written");
}

std::vector<Array> run_case(const Case& that, const validate::ValidProgram& program, const Way& way) {
  const validate::ValidProgram chosen = is_reference(way) && way.optimize ? transform::optimize(program) : program;
  const std::unique_ptr<run::Executable> executable = way.backend->prepare(chosen, way.device, {.optimize = way.optimize});
  std::vector<Array> arrays = that.arrays;
  VYRE_ASSERT(arrays.size() == program.bound().size());
  std::vector<run::BufferView> views;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    const ir::BufferDecl& decl = program.program().buffers()[program.bound()[slot].index];
    // As the host's language does: Bytes may end within a word, and every array is aligned by its allocation.
    views.push_back({arrays[slot].bytes, run::buffer_length(decl, arrays[slot].bytes.size())});
  }
  run::RunOptions options;
  options.timeout = kPatience;
  options.schedule = way.schedule;
  executable->run(views, {that.grid[0], that.grid[1], that.grid[2]}, options);
  return arrays;
}

std::optional<Difference> first_difference(std::span<const Array> expected, std::span<const Array> got) {
  const auto word = [](const Array& array, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < 4 && 4 * at + k < array.bytes.size(); ++k)
      value |= std::to_integer<std::uint32_t>(array.bytes[4 * at + k]) << 8 * k;
    return value;
  };
  for (std::size_t slot = 0; slot < expected.size(); ++slot) {
    if (expected[slot].bytes == got[slot].bytes) continue;
    const auto [first, other] = std::mismatch(expected[slot].bytes.begin(), expected[slot].bytes.end(), got[slot].bytes.begin());
    const auto at = static_cast<std::size_t>(first - expected[slot].bytes.begin()) / 4;
    return Difference{expected[slot].buffer, at, word(expected[slot], at), word(got[slot], at)};
  }
  return std::nullopt;
}

Judgement judge(const Case& that, std::span<const Way> ways, const ir::OpTable& ops) {
  using Kind = Judgement::Kind;
  const validate::Verdict verdict = validate::validate(that.program, ops);
  if (!verdict.program) return {Kind::Failed, "validation", to_string(verdict.diagnostics.front()), {}};
  Way plain;
  plain.backend = run::find_backend("reference");
  Judgement refused;
  std::vector<Array> expected;
  const Way* current = &plain;
  const auto failed = [&](const Error& error) { return Judgement{Kind::Failed, to_string(*current), error.what(), {}}; };
  try {
    expected = run_case(that, *verdict.program, plain);
    for (const Way& way : ways) {
      current = &way;
      std::vector<Array> got;
      try {
        got = run_case(that, *verdict.program, way);
      } catch (const CapabilityError& error) {
        refused = {Kind::Refused, to_string(way), error.what(), {}};
        continue;
      } catch (const DeviceError& error) {
        // Its kinds (lost, out of memory, timed out) are failures.
        if (typeid(error) != typeid(DeviceError)) return failed(error);
        refused = {Kind::Refused, to_string(way), error.what(), {}};
        continue;
      }
      if (const std::optional<Difference> difference = first_difference(expected, got)) {
        return {Kind::Differs, to_string(way),
                fmt::format("buffer `{}` differs at word {}: expected 0x{:08X}, got 0x{:08X}", difference->buffer, difference->word,
                            difference->expected, difference->got),
                difference};
      }
    }
  } catch (const Error& error) {
    return failed(error);
  }
  return refused;
}

}  // namespace vyre::fuzz
