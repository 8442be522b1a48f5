// V001 V002 V003 V024 V035 V036 V037: what a program declares.
#include <unordered_set>

#include "vyre/ir/data_type.hpp"
#include "vyre/validate/checks.hpp"
#include "vyre/validate/limits.hpp"

namespace vyre::validate {
namespace {

template <class Visit>
void for_each_buffer(const Gathered& program, Visit&& visit) {
  for (std::uint32_t index = 0; index < program.program->buffers().size(); ++index) {
    visit(BufferId{index}, program.program->buffers()[index]);
  }
}

}  // namespace

void check_V001(const Gathered& program, Report& report) {
  std::unordered_set<std::string_view> names;
  for_each_buffer(program, [&](BufferId id, const ir::BufferDecl& buffer) {
    if (buffer.name.empty()) return;  // V033
    if (!names.insert(buffer.name).second) report.add<Message::DuplicateBuffer>(id, buffer.name);
  });
}

void check_V002(const Gathered& program, Report& report) {
  std::unordered_set<std::uint32_t> bindings;
  for_each_buffer(program, [&](BufferId id, const ir::BufferDecl& buffer) {
    if (!ir::is_bound(buffer.access)) return;
    if (!bindings.insert(buffer.binding).second) report.add<Message::DuplicateBinding>(id, buffer.binding, buffer.name);
  });
}

void check_V003(const Gathered& program, Report& report) {
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    if (program.program->workgroup_size()[axis] == 0) report.add<Message::WorkgroupSizeZero>(Site::axis(axis), axis);
  }
}

void check_V024(const Gathered& program, Report& report) {
  for_each_buffer(program, [&](BufferId id, const ir::BufferDecl& buffer) {
    if (buffer.access == ir::BufferAccess::Workgroup && buffer.count == 0) report.add<Message::WorkgroupCount>(id, buffer.name);
  });
}

void check_V036(const Gathered& program, Report& report) {
  for_each_buffer(program, [&](BufferId id, const ir::BufferDecl& buffer) {
    if (buffer.atomic && buffer.element != ir::DataType::U32) {
      report.add<Message::AtomicDeclaration>(id, buffer.name, ir::text(buffer.element));
    }
  });
}

void check_V037(const Gathered& program, Report& report) {
  std::uint64_t bytes = 0;
  BufferId crossing;
  for_each_buffer(program, [&](BufferId id, const ir::BufferDecl& buffer) {
    if (buffer.access != ir::BufferAccess::Private) return;
    if (buffer.element == ir::DataType::Bytes) report.add<Message::PrivateBytes>(id, buffer.name);
    if (buffer.count == 0) report.add<Message::PrivateCount>(id, buffer.name);
    bytes += std::uint64_t{4} * ir::lanes(buffer.element) * buffer.count;
    if (bytes > kMaxPrivateBytes && !crossing.valid()) crossing = id;
  });
  if (crossing.valid()) report.add<Message::PrivateSize>(crossing, bytes);
  for (StepId id : program.steps(ir::ExprKind::Atomic)) {
    const BufferId buffer = program.step(id).buffer;
    if (!buffer.valid() || program.buffer(buffer).access != ir::BufferAccess::Private) continue;
    report.add<Message::AtomicOnPrivate>(id, program.buffer(buffer).name);
  }
}

void check_V035(const Gathered& program, Report& report) {
  bool seen = false;
  for_each_buffer(program, [&](BufferId id, const ir::BufferDecl& buffer) {
    if (!buffer.output) return;
    if (buffer.access != ir::BufferAccess::ReadWrite) report.add<Message::OutputAccess>(id, buffer.name);
    if (seen) report.add<Message::OutputCount>(id, buffer.name);
    seen = true;
  });
}

}  // namespace vyre::validate
