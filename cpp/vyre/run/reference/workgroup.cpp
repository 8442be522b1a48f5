#include "vyre/run/reference/workgroup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "vyre/base/error.hpp"

namespace vyre::run::reference {
namespace {

std::array<std::uint32_t, 3> local_id(std::uint32_t invocation, const ir::WorkgroupSize& size) {
  return {invocation % size[0], invocation / size[0] % size[1], invocation / size[0] / size[1]};
}

// "`entry[2].then[0]` (kernel.py:12)", the way diagnostics name it.
std::string place(const ir::Program& program, NodeId statement) {
  struct List {
    std::string path;
    std::uint32_t next = 0;
  };
  std::vector<List> lists{{"entry"}};
  for (std::uint32_t index = 0;; ++index) {
    const NodeId id{index};
    auto here = [&] { return fmt::format("{}[{}]", lists.back().path, lists.back().next); };
    if (id == statement) {
      const ir::SourcePlace source = program.place(id);
      return source.known() ? fmt::format("`{}` ({}:{})", here(), ir::file_name(source.file), source.line) : fmt::format("`{}`", here());
    }
    auto open = [&](std::string_view list) { lists.push_back({here() + std::string(list)}); };
    auto pass = [&] { ++lists.back().next; };
    match(
        program.node(id), [&](const ir::If&) { open(".then"); }, [&](const ir::Loop&) { open(".body"); },
        [&](const ir::Block&) { open(".body"); },
        [&](const ir::Else&) {
          lists.pop_back();
          open(".otherwise");
        },
        [&](const ir::End&) {
          lists.pop_back();
          pass();
        },
        [&](const ir::Let&) { pass(); }, [&](const ir::Assign&) { pass(); }, [&](const ir::Store&) { pass(); },
        [&](const ir::Barrier&) { pass(); }, [&](const ir::Return&) { pass(); });
  }
}

}  // namespace

Workgroup::Workgroup(const ir::Program& program, const Code& code, Machine& machine, Watch& watch)
    : program_(program), code_(code), machine_(machine), watch_(watch) {
  const ir::WorkgroupSize& size = program.workgroup_size();
  invocations_ = size[0] * size[1] * size[2];  // at most 2^16, checked before
  if (code.barriers) {
    stops_.resize(invocations_);
    kept_.resize(std::size_t{invocations_} * code.kept);
  }
}

void Workgroup::run(std::array<std::uint32_t, 3> id) {
  if (code_.barriers) return run_to_barriers(id);
  // Any order of the invocations is a right one; this is the order of their local ids.
  for (std::uint32_t invocation = 0; invocation < invocations_; ++invocation) {
    watch_.spend(code_.instructions.size());
    set_ids(invocation, id);
    machine_.run(0);
  }
}

void Workgroup::run_to_barriers(std::array<std::uint32_t, 3> id) {
  const std::span<std::uint32_t> live = machine_.kept();
  bool first = true;
  do {
    for (std::uint32_t invocation = 0; invocation < invocations_; ++invocation) {
      watch_.spend(code_.instructions.size());
      const auto kept = kept_.begin() + static_cast<std::ptrdiff_t>(std::size_t{invocation} * code_.kept);
      if (first) {
        set_ids(invocation, id);
        stops_[invocation] = machine_.run(0);
      } else {
        std::copy_n(kept, code_.kept, live.begin());
        stops_[invocation] = machine_.run(stops_[invocation] + 1);
      }
      std::copy(live.begin(), live.end(), kept);
    }
    first = false;
    check_same_stop();
  } while (code_.instructions[stops_.front()].code == Opcode::Barrier);
}

void Workgroup::set_ids(std::uint32_t invocation, std::array<std::uint32_t, 3> id) {
  const ir::WorkgroupSize& size = program_.workgroup_size();
  const std::array<std::uint32_t, 3> local = local_id(invocation, size);
  std::array<std::uint32_t, kIdSlots> ids;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    ids[static_cast<std::size_t>(ir::GridIdKind::Invocation) * 3 + axis] = id[axis] * size[axis] + local[axis];
    ids[static_cast<std::size_t>(ir::GridIdKind::Workgroup) * 3 + axis] = id[axis];
    ids[static_cast<std::size_t>(ir::GridIdKind::Local) * 3 + axis] = local[axis];
  }
  machine_.set_ids(ids);
}

// An invocation that has returned does not excuse the others: a barrier waits for the whole workgroup (semantics 6: a Return under
// divergent control flow makes every later barrier an error).
void Workgroup::check_same_stop() const {
  auto waits = [&](Address stop) { return code_.instructions[stop].code == Opcode::Barrier; };
  for (std::uint32_t other = 1; other < invocations_; ++other) {
    const Address a = stops_.front(), b = stops_[other];
    if (a == b || (!waits(a) && !waits(b))) continue;
    auto describe = [&](std::uint32_t invocation) {
      const Address stop = stops_[invocation];
      const std::array<std::uint32_t, 3> local = local_id(invocation, program_.workgroup_size());
      const std::string who = fmt::format("invocation ({}, {}, {})", local[0], local[1], local[2]);
      const NodeId statement = code_.statements[stop];
      if (!statement.valid()) return fmt::format("{} has run to the end of the program", who);
      return fmt::format("{} {} {}", who, waits(stop) ? "waits at" : "has ended at", place(program_, statement));
    };
    throw DivergentBarrierError(
        fmt::format("barrier was reached by only part of a workgroup: {}, {}. Fix: move the barrier to uniform control flow.", describe(0),
                    describe(other)));
  }
}

}  // namespace vyre::run::reference
