#include "vyre/validate/examine.hpp"

#include <algorithm>

#include "vyre/validate/checks.hpp"
#include "vyre/validate/gate.hpp"
#include "vyre/validate/gather.hpp"

namespace vyre::validate {
namespace {

void open(OpBody& body, OpBodies& bodies, const Options& options) {
  body.depth = OpBody::kEndless;
  body.gathered = std::make_unique<Gathered>(gather(*body.spec->function().body, body.spec.get(), bodies, options.limits));
}

void close(OpBody& body, const Options& options) {
  std::uint32_t below = 0;
  for (const OpBody* callee : body.gathered->callees) below = std::max(below, callee->depth);
  if (below != OpBody::kEndless) body.depth = below + 1;
  body.findings = check(*body.gathered, options);
  const auto cause = std::ranges::find_if(body.findings, [](const Finding& finding) { return finding.rule != Rule::V017; });
  if (cause != body.findings.end()) body.cause = *cause;
  if (body.findings.empty()) body.valid = Gate::pass(body);
}

}  // namespace

void examine(OpBody& root, OpBodies& bodies, const Options& options) {
  // Depth first, with the next callee to look at. A body that is met again before it is closed is on a cycle: its depth is endless until
  // then, and so becomes that of all that reach it.
  struct Frame {
    OpBody* body;
    std::size_t next = 0;
  };
  std::vector<Frame> stack;
  auto enter = [&](OpBody& body) {
    if (body.gathered != nullptr || !body.spec->inlinable()) return;
    open(body, bodies, options);
    stack.push_back({&body});
  };
  enter(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.body->gathered->callees.size()) {
      enter(*top.body->gathered->callees[top.next++]);
    } else {
      close(*top.body, options);
      stack.pop_back();
    }
  }
}

}  // namespace vyre::validate
