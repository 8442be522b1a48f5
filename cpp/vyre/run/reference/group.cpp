#include "vyre/run/reference/group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/error.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/checks/statement_path.hpp"

namespace vyre::run::reference {

Triple local_id(std::uint32_t invocation, const ir::WorkgroupSize& size) {
  return {invocation % size[0], invocation / size[0] % size[1], invocation / size[0] / size[1]};
}

namespace {

// A statement for messages: "`entry[2].then[0]` (kernel.py:12)".
std::string place(const ir::Program& program, NodeId statement) {
  const ir::SourcePlace source = program.place(statement);
  const std::string path = statement_path(program, statement);
  return source.known() ? fmt::format("`{}` ({}:{})", path, ir::file_name(source.file), source.line) : fmt::format("`{}`", path);
}

}  // namespace

Group::Group(const Job& job) : job_(job), memory_(job.memory) {
  for (const BufferId id : job.code.shared) {
    shared_.emplace_back(bytes_of(job.program.buffers()[id.index]));
    own_bytes_ += shared_.back().size();
    memory_[id.index].bytes = shared_.back().data();
  }
  for (const BufferId id : job.code.privates) {
    const std::size_t bytes = bytes_of(job.program.buffers()[id.index]);
    privates_.push_back({id.index, private_.size(), bytes});
    private_.resize(private_.size() + bytes * job.invocations());
  }
  own_bytes_ += private_.size();
  if (job.code.barriers) {
    stops_.resize(job.invocations());
    kept_.resize(std::size_t{job.invocations()} * job.code.kept);
  }
}

void Group::start(const Triple& id) {
  id_ = id;
  started_ = false;
  for (std::vector<std::byte>& bytes : shared_) std::fill(bytes.begin(), bytes.end(), std::byte{0});
  std::fill(private_.begin(), private_.end(), std::byte{0});
}

Address Group::resume(std::uint32_t invocation, std::uint32_t* slots) const {
  if (started_) {
    std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(std::size_t{invocation} * job_.code.kept), job_.code.kept, slots);
    return stops_[invocation] + 1;
  }
  const ir::WorkgroupSize& size = job_.program.workgroup_size();
  const Triple local = local_id(invocation, size);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    slots[id_slot(ir::GridIdKind::Invocation, axis)] = id_[axis] * size[axis] + local[axis];
    slots[id_slot(ir::GridIdKind::Workgroup, axis)] = id_[axis];
    slots[id_slot(ir::GridIdKind::Local, axis)] = local[axis];
  }
  return 0;
}

void Group::suspend(std::uint32_t invocation, const std::uint32_t* slots, Address stop) {
  if (!job_.code.barriers) return;
  stops_[invocation] = stop;
  std::copy_n(slots, job_.code.kept, kept_.begin() + static_cast<std::ptrdiff_t>(std::size_t{invocation} * job_.code.kept));
}

std::uint32_t Group::first_apart() const {
  for (std::uint32_t other = 1; other < stops_.size(); ++other) {
    const Address a = stops_.front(), b = stops_[other];
    if (a != b && (waits(a) || waits(b))) return other;
  }
  return 0;
}

void Group::throw_diverged() const {
  auto describe = [&](std::uint32_t invocation) {
    const Address stop = stops_[invocation];
    const Triple local = local_id(invocation, job_.program.workgroup_size());
    const std::string who = fmt::format("invocation ({}, {}, {})", local[0], local[1], local[2]);
    const NodeId statement = job_.code.statements[stop];
    if (!statement.valid()) return fmt::format("{} has run to the end of the program", who);
    return fmt::format("{} {} {}", who, waits(stop) ? "waits at" : "has ended at", place(job_.program, statement));
  };
  throw DivergentBarrierError(
      fmt::format("barrier was reached by only part of a workgroup: {}, {}. Fix: move the barrier to uniform control flow.", describe(0),
                  describe(first_apart())));
}

}  // namespace vyre::run::reference
