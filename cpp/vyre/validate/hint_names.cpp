// Writes the hints for names: one that is misspelt, bound later or in an inner block, or taken.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "vyre/base/nearest.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/validate/hint_text.hpp"
#include "vyre/validate/hints.hpp"
#include "vyre/validate/python_text.hpp"

namespace vyre::validate {
namespace {

using ir::DataType;

// Blocks around a let that are looked at; more than V018 allows is an error of its own.
constexpr int kMostBlocks = 64;

std::string block_name(const ir::Node& node) {
  if (std::holds_alternative<ir::If>(node)) return "If";
  return std::holds_alternative<ir::Loop>(node) ? "Loop" : "Block";
}

}  // namespace

std::string Hints::undeclared_variable(NameId id, NodeId at, bool assigned) {
  const std::string_view plain = program_.text(id);
  const std::string name = python_name(plain);
  const StepId root = gathered_.roots[at].first;
  const DataType type = assigned ? or_u32(gathered_.step(root).type) : DataType::U32;
  const std::string value = assigned ? code(root, "value") : python_zero(type);

  const Scopes& all = scopes();
  if (const auto found = all.of.find(id); found != all.of.end()) {
    for (const Binding& binding : found->second) {
      if (++comparisons_ > kMostComparisons) break;
      const auto* let = std::get_if<ir::Let>(&program_.node(binding.statement));
      if (let == nullptr) continue;
      const std::string zero = python_zero(or_u32(gathered_.step(gathered_.roots[binding.statement].first).type));
      if (binding.statement == at) return say<Hint::OwnInitialiser>(name, zero, name);
      if (binding.statement.index > at.index) {
        // Moved before this statement, it is seen here when its list is this statement's, or is around it.
        const NodeId opener = binding.opener;
        if (!opener.valid() || opener.index < at.index) return say<Hint::BoundLater>(name, place(binding.statement, at));
        return say<Hint::BindEarlier>(name, zero, name, code(gathered_.roots[binding.statement].first, "value"),
                                      place(binding.statement, at));
      }
      NodeId outermost = binding.opener;
      for (int k = 0; k < kMostBlocks && outermost.valid(); ++k) {
        const NodeId around = all.openers.at(outermost);
        if (!around.valid()) break;
        const std::uint32_t end = match(
            program_.node(around), [](const ir::If& it) { return it.end.index; }, [](const ir::Loop& it) { return it.end.index; },
            [](const ir::Block& it) { return it.end.index; }, [](const auto&) { return 0u; });
        if (end > at.index) break;  // it holds this statement too
        outermost = around;
      }
      if (!outermost.valid()) continue;
      const std::string block = block_name(program_.node(outermost));
      return say<Hint::BindOutside>(name, place(binding.statement, at), block, name, zero, block, name,
                                    code(gathered_.roots[binding.statement].first, "value"));
    }
  }
  if (buffers().contains(plain)) {
    return assigned ? say<Hint::StoreInstead>(name, name, value) : say<Hint::LoadInstead>(name, name);
  }
  std::vector<std::string_view> seen;
  if (comparisons_ < kMostComparisons) {
    if (gathered_.op != nullptr)
      seen.insert(seen.end(), gathered_.op->function().parameters.begin(), gathered_.op->function().parameters.end());
    for (const auto& [known, bindings] : all.of) {
      for (const Binding& binding : bindings) {
        ++comparisons_;
        if (binding.first_seen <= at.index && at.index <= binding.last_seen) seen.push_back(program_.text(known));
      }
    }
    std::ranges::sort(seen);
  }
  if (const auto meant = similar(plain, seen)) return say<Hint::NearestLocal>(python_name(*meant), name, python_zero(type));
  if (assigned) return say<Hint::BindInstead>(name, value, gathered_.op == nullptr ? "`entry`" : "`body`", name, python_zero(type));
  return say<Hint::BindBefore>(name, value);
}

std::string Hints::duplicate_local(NodeId at) {
  const ir::Node& node = program_.node(at);
  const auto* let = std::get_if<ir::Let>(&node);
  const NameId id = let != nullptr ? let->name : std::get<ir::Loop>(node).variable;
  const std::string other = python_name(unused_name(program_.text(id)));
  const Scopes& all = scopes();
  if (const auto found = all.of.find(id); let != nullptr && found != all.of.end()) {
    for (const Binding& binding : found->second) {
      if (++comparisons_ > kMostComparisons) break;
      const bool seen = binding.first_seen <= at.index && at.index <= binding.last_seen && binding.statement != at;
      if (!seen || !std::holds_alternative<ir::Let>(program_.node(binding.statement))) continue;
      const DataType first = gathered_.step(gathered_.roots[binding.statement].first).type;
      const StepId value = gathered_.roots[at].first;
      if (!known(first) || gathered_.step(value).type != first) break;
      return say<Hint::AssignOrRename>(python_name(program_.text(id)), code(value, "value"), place(binding.statement, at), other);
    }
  }
  return say<Hint::RenameLocal>(other);
}

std::string Hints::loop_variable(NodeId at) const {
  const std::string_view name = program_.text(gathered_.node<ir::Assign>(at).name);
  return say<Hint::CopyLoopVariable>(python_name(unused_name(name)), python_name(name));
}

std::string Hints::unknown_op(StepId id) {
  if (!op_ids_) {
    op_ids_.emplace();
    for (const ir::OpTable::Spec& spec : gathered_.table->all()) op_ids_->push_back(spec->id);
  }
  std::string_view name = program_.text(gathered_.expr<ir::Call>(id).op);
  name = name.substr(0, name.find('@'));
  const std::vector<std::string_view> ids(op_ids_->begin(), op_ids_->end());
  // Another version of a known operation is no misspelling, but its id is what there is.
  const auto meant = std::ranges::find(ids, name) != ids.end() ? std::optional(name) : similar(name, ids);
  return meant ? say<Hint::NearestOp>(python_name(*meant)) : say<Hint::RegisterOp>();
}

std::string Hints::new_name(std::string_view like) const {
  return program_.names().find(like).valid() ? unused_name(like) : std::string(like);
}

std::string Hints::unused_name(std::string_view like) const {
  constexpr std::size_t kLongestStem = 40;
  std::string stem(like.substr(0, kLongestStem));
  while (!is_utf8(stem)) stem.pop_back();
  std::string name;
  // Tries small numbers first. If these are taken, goes on with numbers above the count of names, which are rarely taken.
  constexpr std::size_t kSmall = 50;
  for (std::size_t k = 2; name.empty() || program_.names().find(name).valid(); ++k) {
    name = fmt::format("{}_{}", stem, k < kSmall ? k : program_.names().size() + k);
  }
  return name;
}

std::optional<std::string_view> Hints::similar(std::string_view name, const std::vector<std::string_view>& known) {
  if (comparisons_ >= kMostComparisons) return std::nullopt;
  comparisons_ += known.size() * (name.size() + 1);
  return nearest(name, known);
}

const Hints::Scopes& Hints::scopes() {
  if (scopes_) return *scopes_;
  Scopes& all = scopes_.emplace();
  struct Open {
    NodeId opener;
    std::vector<std::pair<NameId, std::size_t>> names;
  };
  std::vector<Open> open(1);
  const auto close = [&](std::uint32_t last) {
    for (const auto& [name, position] : open.back().names) all.of[name][position].last_seen = last;
    open.back().names.clear();
  };
  const auto bind = [&](NameId name, NodeId id, NodeId opener) {
    std::vector<Binding>& bindings = all.of[name];
    open.back().names.emplace_back(name, bindings.size());
    bindings.push_back({id, id.index + 1, ~0u, opener});
  };
  for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
    const NodeId id{index};
    const auto enter = [&] {
      all.openers.emplace(id, open.back().opener);
      open.push_back({id, {}});
    };
    match(
        program_.node(id), [&](const ir::Let& let) { bind(let.name, id, open.back().opener); },
        [&](const ir::Loop& loop) {
          enter();
          bind(loop.variable, id, id);
        },
        [&](const ir::If&) { enter(); }, [&](const ir::Block&) { enter(); }, [&](const ir::Else&) { close(index); },
        [&](const ir::End&) {
          close(index);
          open.pop_back();
        },
        [](const auto&) {});
  }
  return all;
}

}  // namespace vyre::validate
