#include "vyre/run/cpu/machine_code.hpp"

#include <fmt/format.h>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/lanes.hpp"
#if VYRE_NATIVE
#include "vyre/run/cpu/native/native.hpp"
#endif

namespace vyre::run::cpu {

#if VYRE_NATIVE

namespace {

LoweringError without_code(const std::string& why) {
  return LoweringError(
      fmt::format("programs have no machine code here, because {}. Fix: write instructions=\"sse41\", \"avx2\" or \"avx512\".", why));
}

native::Vectors chosen_vectors(const std::optional<std::string>& instructions) {
  if (instructions) {
    for (const native::InstructionSet& each : native::kInstructionSets) {
      if (each.name == *instructions) return each.vectors;
    }
    throw ArgumentError(must_be("argument `instructions` of vyre.lower", "\"sse41\", \"avx2\" or \"avx512\"", *instructions));
  }
  const AskedLanes& asked = asked_lanes();
  if (!asked.refusal.empty()) throw ArgumentError(asked.refusal);
  if (asked.is_named) {
    for (const native::InstructionSet& each : native::kInstructionSets) {
      if (each.name == asked.lanes->name) return each.vectors;
    }
    throw without_code(fmt::format("the environment says VYRE_INSTRUCTIONS={}, which interprets", asked.lanes->name));
  }
  const std::vector<native::Vectors> available = native::available_vectors();
  if (available.empty()) {
    throw without_code("the processor lacks SSE4.1");
  }
  return available.back();
}

MachineCode::Part part_of(const native::Mark& mark, const lower::Traced& traced, const IdVector<NodeId, std::uint32_t>& lines) {
  const auto instruction = [&](std::string_view before) {
    const NodeId statement = traced.statements[mark.position];
    return MachineCode::Part{mark.offset, std::string(before) + lower::to_text(traced.kernel, mark.position),
                             statement.valid() ? lines[statement] : 0};
  };
  switch (mark.part) {
    case native::Part::Entry:
      return {.offset = mark.offset, .text = "entry", .label = "entry"};
    case native::Part::Full:
      return {.offset = mark.offset, .text = "groups of lanes that all exist"};
    case native::Part::Rest:
      return {.offset = mark.offset, .text = "the rest of the lanes, under masks"};
    case native::Part::Instruction:
      return instruction("");
    case native::Part::Rare:
      return instruction("rare: ");
    case native::Part::Next:
      return {.offset = mark.offset, .text = "next group"};
    case native::Part::Leave:
      return {.offset = mark.offset, .text = "leave", .label = "leave"};
    case native::Part::Poll:
      return {.offset = mark.offset, .text = "asks whether to go on", .label = "poll"};
  }
  return {};
}

std::vector<MachineCode::Name> context_names(const lower::Kernel& kernel) {
  using native::Context, native::Extent;
  std::vector<MachineCode::Name> names = {
      {offsetof(Context, frame), "frame"},         {offsetof(Context, crossing), "crossing"}, {offsetof(Context, privates), "privates"},
      {offsetof(Context, local_ids), "local_ids"}, {offsetof(Context, lanes), "lanes"},       {offsetof(Context, stopped), "stopped"},
      {offsetof(Context, left), "left"},           {offsetof(Context, poll), "poll"},         {offsetof(Context, saved), "saved"}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto name = [&](std::size_t offset, std::string_view id) {
      names.push_back({offset + axis * sizeof(native::Word), fmt::format("{}.{}", id, "xyz"[axis])});
    };
    name(offsetof(Context, workgroup), "workgroup_id");
    name(offsetof(Context, local), "local_id");
    name(offsetof(Context, invocation), "invocation_id");
  }
  std::size_t offset = offsetof(Context, extents);
  const auto extent = [&](char kind, std::size_t slot) {
    const auto name = [&](std::size_t member, std::string_view text) {
      names.push_back({offset + member, fmt::format("{}{}.{}", kind, slot, text)});
    };
    name(offsetof(Extent, words), "words");
    name(offsetof(Extent, length), "length");
    name(offsetof(Extent, full), "full");
    name(offsetof(Extent, full_vector), "full_vector");
    offset += sizeof(Extent);
  };
  for (std::size_t slot = 0; slot < kernel.buffers.size(); ++slot) extent('b', slot);
  for (std::size_t slot = 0; slot < kernel.shared.size(); ++slot) extent('s', slot);
  return names;
}

}  // namespace

MachineCode machine_code(const validate::ValidProgram& program, const Optimize& optimize, const std::optional<std::string>& instructions) {
  const native::Vectors vectors = chosen_vectors(instructions);
  if (!optimize.compilation) {
    throw LoweringError(
        "programs have no machine code without the row \"compilation\" of `optimize`. "
        "Fix: write optimize=[\"compilation\"] for the code of the program as it is written.");
  }
  const lower::Traced traced = lower::lower_traced(program, optimize, lower::kCpuTarget);
  native::Refusal refusal;
  std::optional<native::Translation> made = native::translate(traced.kernel, vectors, refusal);
  if (!made) {
    throw LoweringError(
        fmt::format("the program has no machine code and is interpreted, because {}. Fix: {}.", refusal.reason, refusal.fix));
  }
  MachineCode result;
  result.instructions = native::name(vectors);
  IdVector<NodeId, std::uint32_t> lines;
  result.program = ir::to_text(traced.program.program(), lines);
  result.width = made->width;
  result.lanes = made->lanes;
  result.code = std::move(made->code);
  result.constants = std::move(made->constants);
  result.context = context_names(traced.kernel);
  for (const native::Mark& mark : made->marks) result.parts.push_back(part_of(mark, traced, lines));
  return result;
}

#else

MachineCode machine_code(const validate::ValidProgram&, const Optimize&, const std::optional<std::string>&) {
  throw LoweringError("this build of vyre makes no machine code. Fix: build it for x86-64 with xbyak's headers (Debian: libxbyak-dev).");
}

#endif

}  // namespace vyre::run::cpu
