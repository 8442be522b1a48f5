// Writes the hints whose fix is another declaration of a buffer.
#include <array>
#include <vector>

#include "vyre/validate/hint_text.hpp"
#include "vyre/validate/hints.hpp"
#include "vyre/validate/python_text.hpp"

namespace vyre::validate {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

}  // namespace

std::string Hints::undeclared_buffer(NameId name) {
  if (!written_) {
    written_.emplace();
    for (NodeId id : gathered_.nodes<ir::Store>()) {
      written_->emplace(gathered_.node<ir::Store>(id).buffer, or_u32(gathered_.step(gathered_.roots[id].second).type));
    }
    for (StepId id : gathered_.steps(ir::ExprKind::Atomic)) (*written_)[gathered_.expr<ir::Atomic>(id).buffer] = DataType::U32;
  }
  BufferDecl decl;
  decl.name = program_.text(name);
  decl.binding = free_binding(decl.name);
  if (const auto found = written_->find(name); found != written_->end()) {
    decl.access = BufferAccess::ReadWrite;
    decl.element = found->second;
  }
  std::vector<std::string_view> names;
  if (comparisons_ < kMostComparisons) {
    for (const BufferDecl& known : program_.buffers()) names.push_back(known.name);
  }
  const auto meant = similar(decl.name, names);
  if (!meant) return say<Hint::DeclareBuffer>(python_declaration(decl));
  return say<Hint::NearestBuffer>(python_name(*meant), python_declaration(decl));
}

std::string Hints::bytes_buffer(const BufferDecl& decl, Hint bound, Hint memory) const {
  BufferDecl words = decl;
  words.element = DataType::U32;
  const std::string text = python_declaration(words);
  return filled(info(ir::is_bound(decl.access) ? bound : memory).sentence, std::array{text});
}

BufferDecl Hints::declared(BufferId id, BufferAccess access, DataType element) const {
  BufferDecl decl = gathered_.buffer(id);
  decl.access = access;
  decl.element = element;
  return decl;
}

// Workgroup and Private memory has no binding of its own, and its length is not the host array's.
BufferDecl Hints::as_storage(const BufferDecl& decl) {
  BufferDecl result = decl;
  if (!ir::is_bound(decl.access)) {
    result.binding = free_binding(decl.name);
    result.count = 0;
  }
  result.access = BufferAccess::ReadWrite;
  result.atomic = false;
  return result;
}

// The declaration with which atomics may target the buffer.
BufferDecl Hints::with_atomics(const BufferDecl& decl) const {
  BufferDecl result = decl;
  result.atomic = !ir::is_bound(decl.access);
  result.access = result.atomic ? BufferAccess::Workgroup : BufferAccess::ReadWrite;
  result.element = DataType::U32;
  return result;
}

BufferDecl Hints::unique(BufferId id) {
  BufferDecl decl = gathered_.buffer(id);
  if (buffers().at(decl.name) != id.index) decl.name = unused_name(decl.name);
  if (ir::is_bound(decl.access) && first_with_binding().at(decl.binding) != id.index) decl.binding = free_binding(decl.name);
  return decl;
}

const std::unordered_map<std::string_view, std::uint32_t>& Hints::buffers() {
  if (buffers_) return *buffers_;
  buffers_.emplace();
  for (std::uint32_t index = 0; index < program_.buffers().size(); ++index) buffers_->emplace(program_.buffers()[index].name, index);
  return *buffers_;
}

// The hints of one program can be applied together: each buffer gets a binding of its own.
std::uint32_t Hints::free_binding(std::string_view name) {
  const auto [found, added] = free_bindings_.emplace(name, next_binding_);
  if (!added) return found->second;
  while (first_with_binding().contains(next_binding_)) ++next_binding_;
  return found->second = next_binding_++;
}

const std::unordered_map<std::uint32_t, std::uint32_t>& Hints::first_with_binding() {
  if (bindings_) return *bindings_;
  bindings_.emplace();
  for (std::uint32_t index = 0; index < program_.buffers().size(); ++index) {
    const BufferDecl& decl = program_.buffers()[index];
    if (ir::is_bound(decl.access)) bindings_->emplace(decl.binding, index);
  }
  return *bindings_;
}

}  // namespace vyre::validate
