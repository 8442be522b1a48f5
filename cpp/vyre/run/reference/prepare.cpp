#include "vyre/run/reference/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/reference/code.hpp"

namespace vyre::run::reference {
namespace {

// The most bytes that the invocations of a workgroup may keep over barriers. The documents set no limit.
constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{4} << 30;

}  // namespace

Code compile_within_limits(const validate::ValidProgram& program) {
  check_host_limits(program, "the reference");
  check_expansion(program);
  Code code = compile(program);
  const ir::WorkgroupSize& size = program.program().workgroup_size();
  const std::uint64_t kept = std::uint64_t{size[0]} * size[1] * size[2] * code.kept * sizeof(std::uint32_t);
  if (code.barriers) {
    check_limit(kept, kMaxKeptBytes, "the limit of memory kept over barriers", "the reference", "bytes of variables a workgroup",
                "use a smaller workgroup_size");
  }
  return code;
}

Copies::Copies(const validate::ValidProgram& valid, std::span<const BufferView> buffers)
    : buffers_(buffers), memory_(valid.program().buffers().size()), bytes_(buffers.size()) {
  const std::vector<ir::BufferDecl>& decls = valid.program().buffers();
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    const std::uint32_t index = valid.bound()[slot].index;
    const BufferView& view = buffers[slot];
    memory_[index] = {view.bytes.data(), view.length};
    if (decls[index].access != ir::BufferAccess::ReadWrite) continue;
    bytes_[slot].assign(view.bytes.begin(), view.bytes.end());
    memory_[index].bytes = bytes_[slot].data();
    memory_[index].writable = true;
  }
  for (std::size_t index = 0; index < decls.size(); ++index) {
    if (decls[index].access == ir::BufferAccess::Workgroup) memory_[index] = {nullptr, decls[index].count, true};
    if (decls[index].access == ir::BufferAccess::Private) memory_[index] = {nullptr, decls[index].count, false};
  }
}

void Copies::write_back() const {
  for (std::size_t slot = 0; slot < bytes_.size(); ++slot) {
    std::copy(bytes_[slot].begin(), bytes_[slot].end(), buffers_[slot].bytes.begin());
  }
}

}  // namespace vyre::run::reference
