#include "vyre/validate/op_bodies.hpp"

namespace vyre::validate {

OpBody* OpBodies::find(std::string_view id) {
  ir::OpTable::Spec spec = table_.find(id);
  if (candidate_ != nullptr) {
    const bool unpinned = id == candidate_->id && (spec == nullptr || spec->version <= candidate_->version);
    if (unpinned || id == candidate_->id + "@" + std::to_string(candidate_->version)) spec = candidate_;
  }
  return spec == nullptr ? nullptr : record(spec);
}

OpBody* OpBodies::record(const ir::OpTable::Spec& spec) {
  std::unique_ptr<OpBody>& body = records_[spec.get()];
  if (body == nullptr) {
    body = std::make_unique<OpBody>();
    body->spec = spec;
  }
  return body.get();
}

}  // namespace vyre::validate
