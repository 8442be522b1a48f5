#include "vyre/fuzz/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/hash.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checks.hpp"

namespace vyre::fuzz {
namespace {

std::uint64_t hash(std::span<const Arrays> calls) {
  Fnv1a result;
  for (const Arrays& arrays : calls) {
    for (const Array& array : arrays) {
      result.add_bytes(array.buffer.data(), array.buffer.size());
      result.add(0);
      result.add_bytes(array.bytes.data(), array.bytes.size());
    }
  }
  return result.value();
}

bool is_reference(const Way& way) { return way.backend->name() == "reference"; }

}  // namespace

std::string to_string(const Way& way) {
  std::string result(way.backend->name());
  if (way.device) result += fmt::format(" device {}", *way.device);
  if (is_reference(way)) result += ", " + run::schedule_text(way.schedule);
  if (way.optimize.addresses) result += ", by address";
  std::string chosen;
  bool all = true;
  for (const run::Speedup& row : run::kSpeedups) {
    if (way.optimize.*row.chosen) chosen += fmt::format("{}{}", chosen.empty() ? ", with " : ", ", row.name);
    all = all && way.optimize.*row.chosen;
  }
  if (all) return result + ", optimised";
  return result + (chosen.empty() ? ", as written" : chosen);
}

Arrays run_case(const Case& that, const validate::ValidProgram& program, const Way& way) {
  Arrays result;
  run_calls(that, program, way, [&](std::size_t, Arrays after) {
    result = std::move(after);
    return false;
  });
  return result;
}

void run_calls(const Case& that, const validate::ValidProgram& program, const Way& way,
               const std::function<bool(std::size_t call, Arrays after)>& take, Patience patience) {
  const validate::ValidProgram chosen = run::with_passes(program, *way.backend, way.optimize);
  const std::unique_ptr<run::Executable> executable = way.backend->prepare(chosen, way.device, way.optimize);
  run::RunOptions options;
  options.timeout = patience;
  options.schedule = way.schedule;
  for (std::size_t call = 0; call < calls(that); ++call) {
    Arrays arrays = arrays_of(that, call);
    VYRE_ASSERT(arrays.size() == program.bound().size());
    std::vector<run::BufferView> views;
    for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
      const ir::BufferDecl& decl = program.program().buffers()[program.bound()[slot].index];
      // As the host's language does: Bytes may end within a word, and every array is aligned by its allocation.
      views.push_back({arrays[slot].bytes, run::buffer_length(decl, arrays[slot].bytes.size())});
    }
    const run::Grid grid{that.grid[0], that.grid[1], that.grid[2]};
    run::check_call(program, views, grid);
    executable->run(views, grid, options);
    if (!take(call, std::move(arrays))) return;
  }
}

std::optional<Difference> first_difference(std::span<const Array> expected, std::span<const Array> got) {
  const auto word = [](const Array& array, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < 4 && 4 * at + k < array.bytes.size(); ++k)
      value |= std::to_integer<std::uint32_t>(array.bytes[4 * at + k]) << 8 * k;
    return value;
  };
  for (const Array& array : expected) {
    const auto other = std::find_if(got.begin(), got.end(), [&](const Array& candidate) { return candidate.buffer == array.buffer; });
    VYRE_ASSERT(other != got.end() && other->bytes.size() == array.bytes.size());
    const auto [first, there] = std::mismatch(array.bytes.begin(), array.bytes.end(), other->bytes.begin());
    if (first == array.bytes.end()) continue;
    const auto at = static_cast<std::size_t>(first - array.bytes.begin()) / 4;
    return Difference{0, array.buffer, at, word(array, at), word(*other, at)};
  }
  return std::nullopt;
}

Way plain_reference() {
  Way plain;
  plain.backend = run::find_backend("reference");
  return plain;
}

namespace {

// Whether the error is a refusal because of a device's limits, or of a driver that is known to be wrong. The other kinds of DeviceError
// (lost, out of memory, timed out) are failures.
bool is_refusal(const Error& error) {
  return typeid(error) == typeid(DeviceError) || dynamic_cast<const CapabilityError*>(&error) != nullptr;
}

// "expected" where the reference is right by definition; of two other ways either may be wrong.
std::string text(const Difference& difference, const Way& way, const Way& against) {
  const std::string call = difference.call == 0 ? std::string() : fmt::format("in call {}, ", difference.call + 1);
  const std::string place = fmt::format("{}buffer `{}` differs at word {}: ", call, difference.buffer, difference.word);
  if (is_reference(against)) return place + fmt::format("expected 0x{:08X}, got 0x{:08X}", difference.expected, difference.got);
  return place + fmt::format("0x{:08X} by {}; 0x{:08X} by {}", difference.got, to_string(way), difference.expected, to_string(against));
}

}  // namespace

Judgement judge(const Case& that, std::span<const Way> ways, const ir::OpTable& ops, const Entering& entering, Patience patience,
                const Way& against) {
  return judge(that, that, ways, ops, entering, patience, against);
}

Judgement judge(const Case& that, const Case& tried, std::span<const Way> ways, const ir::OpTable& ops, const Entering& entering,
                Patience patience, const Way& against) {
  using Kind = Judgement::Kind;
  const validate::Verdict verdict = validate::validate(that.program, ops);
  const validate::Verdict other = &tried == &that ? verdict : validate::validate(tried.program, ops);
  for (const validate::Verdict* each : {&verdict, &other}) {
    if (!each->program) return {Kind::Failed, "validation", to_string(each->diagnostics.front()), {}, {}, 0};
  }
  Judgement result;
  const auto is = [&](Kind kind, std::optional<std::size_t> index, std::string message) {
    result.kind = kind;
    result.index = index;
    result.way = to_string(index ? ways[*index] : against);
    result.message = std::move(message);
  };
  std::optional<std::size_t> current;
  try {
    if (entering) entering(0);
    std::vector<Arrays> expected;
    const auto keep = [&](std::size_t, Arrays after) {
      expected.push_back(std::move(after));
      return true;
    };
    run_calls(that, *verdict.program, against, keep, patience);
    result.output = hash(expected);
    for (std::size_t index = 0; index < ways.size(); ++index) {
      current = index;
      if (entering) entering(index + 1);
      std::optional<Difference> difference;
      try {
        const auto compare = [&](std::size_t call, const Arrays& after) {
          difference = first_difference(expected.at(call), after);
          if (difference) difference->call = call;
          return !difference;
        };
        run_calls(tried, *other.program, ways[index], compare, patience);
      } catch (const Error& error) {
        if (!is_refusal(error)) throw;
        is(Kind::Refused, index, error.what());
        continue;
      }
      if (difference) {
        is(Kind::Differs, index, text(*difference, ways[index], against));
        result.difference = difference;
        return result;
      }
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    is(!current && !is_reference(against) && is_refusal(error) ? Kind::Refused : Kind::Failed, current, error.what());
  } catch (const BugError& error) {
    is(Kind::Failed, current, error.what());
  }
  return result;
}

}  // namespace vyre::fuzz
