#include "vyre/validate/valid.hpp"

namespace vyre::validate {

std::uint64_t hash_with_callees(std::uint64_t own, std::span<const std::shared_ptr<const ValidOp>> callees) {
  std::uint64_t hash = own;
  for (const auto& callee : callees) {
    hash = (hash ^ callee->hash()) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::uint64_t ValidProgram::hash() const { return hash_with_callees(program_->hash(), facts_->ops); }

}  // namespace vyre::validate
