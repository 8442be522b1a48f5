#include "vyre/validate/op_bodies.hpp"

#include <algorithm>

#include "vyre/validate/checks.hpp"
#include "vyre/validate/gate.hpp"

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

void OpBodies::examine(OpBody& root) {
  // Depth first, with the next callee to look at. A body that is met again before it is closed is on a cycle: its depth is endless until
  // then, and so becomes that of all that reach it.
  struct Frame {
    OpBody* body;
    std::size_t next = 0;
  };
  std::vector<Frame> stack;
  auto enter = [&](OpBody& body) {
    if (body.gathered != nullptr || !body.spec->inlinable()) return;
    open(body);
    stack.push_back({&body});
  };
  enter(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.body->gathered->callees.size()) {
      enter(*top.body->gathered->callees[top.next++]);
    } else {
      close(*top.body);
      stack.pop_back();
    }
  }
}

void OpBodies::open(OpBody& body) {
  body.depth = OpBody::kEndless;
  body.gathered = std::make_unique<Gathered>(gather(*body.spec->body, body.spec.get(), *this, options_.limits));
}

void OpBodies::close(OpBody& body) {
  std::uint32_t below = 0;
  for (const OpBody* callee : body.gathered->callees) below = std::max(below, callee->depth);
  if (below != OpBody::kEndless) body.depth = below + 1;
  body.findings = check(*body.gathered, options_);
  const auto cause = std::ranges::find_if(body.findings, [](const Finding& finding) { return finding.rule != Rule::V017; });
  if (cause != body.findings.end()) body.cause = *cause;
  if (body.findings.empty()) body.valid = Gate::pass(body);
}

}  // namespace vyre::validate
