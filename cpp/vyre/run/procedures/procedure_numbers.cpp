#include "vyre/run/procedures/procedure_numbers.hpp"

#include <fmt/format.h>

#include <array>

#include "vyre/base/error.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/number.hpp"

namespace vyre::run {
namespace {

using ir::ArrayId;
using ir::SizeId;
using ir::SizeOp;
using ir::StepId;

// Finds the structural numbers (see structural_numbers) of a procedure and of the procedures that it invokes, once for each procedure.
class Structure {
 public:
  const std::vector<bool>& numbers_of(const ir::Procedure& procedure) {
    const auto known = known_.find(&procedure.bytes());
    if (known != known_.end()) return known->second;
    std::vector<bool> marked(procedure.sizes().size(), false);
    const auto mark = [&](SizeId id) {
      if (id.valid()) marked[id.index] = true;
    };
    const auto mark_part = [&](const ir::ArrayPart& part) {
      mark(part.offset);
      mark(part.length);
    };
    for (std::uint32_t index = 0; index < procedure.arrays().size(); ++index) {
      for (const SizeId size : procedure.arrays()[ArrayId{index}].shape) mark(size);
    }
    for (std::uint32_t index = 0; index < procedure.steps().size(); ++index) {
      std::visit(overloaded{[&](const ir::Dispatch& step) {
                              for (const auto& bound : step.bound) {
                                if (const auto* part = std::get_if<ir::ArrayPart>(&bound)) mark_part(*part);
                              }
                              for (const SizeId size : step.grid.most) mark(size);
                              if (step.grid.counts) mark_part(*step.grid.counts);
                            },
                            [&](const ir::Invoke& step) {
                              for (const ir::ArrayPart& part : step.arrays) mark_part(part);
                              const std::vector<bool>& inner = numbers_of(procedure.procedures()[step.procedure]);
                              for (std::size_t k = 0; k < inner.size(); ++k) {
                                if (inner[k]) mark(step.numbers[k]);
                              }
                            },
                            [&](const ir::Repeat& step) {
                              mark(step.count);
                              if (step.until) mark_part(*step.until);
                            },
                            [&](const ir::When& step) { mark(step.condition); }, [&](const ir::Clear& step) { mark_part(step.part); },
                            [&](const ir::Require& step) { mark(step.condition); }, [&](const auto&) {}},
                 procedure.steps()[StepId{index}]);
    }
    std::vector<bool> numbers(procedure.numbers().size(), false);
    // Operands have smaller indices than the terms that use them.
    for (std::size_t at = marked.size(); at-- > 0;) {
      if (!marked[at]) continue;
      const ir::SizeTerm& term = procedure.sizes()[SizeId{static_cast<std::uint32_t>(at)}];
      const std::array<std::uint32_t, 3> operands = {term.a, term.b, term.c};
      for (std::uint32_t k = 0; k < ir::operand_count(term.op); ++k) marked[operands[k]] = true;
      if (term.op == SizeOp::Number) numbers[term.a] = true;
    }
    return known_.emplace(&procedure.bytes(), std::move(numbers)).first->second;
  }

 private:
  std::map<const std::string*, std::vector<bool>> known_;
};

}  // namespace

std::vector<bool> structural_numbers(const ir::Procedure& procedure) { return Structure().numbers_of(procedure); }

std::uint32_t LateNumbers::add(const Term& term) {
  terms_.emplace_back(term);
  return static_cast<std::uint32_t>(terms_.size() - 1);
}

std::uint32_t LateNumbers::add_size(std::uint32_t late, ir::DataType type, std::string what) {
  const auto [found, added] = sizes_.try_emplace(late, static_cast<std::uint32_t>(terms_.size()));
  if (added) terms_.emplace_back(SignedSize{late, type, std::move(what)});
  return found->second;
}

std::vector<std::uint64_t> LateNumbers::values(std::span<const std::uint64_t> numbers) const {
  std::vector<std::uint64_t> values;
  values.reserve(terms_.size());
  const auto value = [&](const Number& number) { return number.late == Number::kKnown ? number.value : values[number.late]; };
  for (const auto& each : terms_) {
    if (const auto* size = std::get_if<SignedSize>(&each)) {
      check_size(values[size->late], size->type, size->what);
      values.push_back(values[size->late]);
      continue;
    }
    const Term& term = std::get<Term>(each);
    values.push_back(term.op == SizeOp::Number ? numbers[term.number] : ir::apply(term.op, value(term.a), value(term.b), value(term.c)));
  }
  for (const Limit& limit : limits_) check_fits(values[limit.late], limit.type, limit.use);
  return values;
}

void LateNumbers::limit(Limit limit) {
  limited_.emplace(limit.late, limit.type);
  limits_.push_back(std::move(limit));
}

std::uint64_t largest_number(ir::DataType type) {
  return ir::info(type).kind == ir::TypeKind::Boolean ? 1 : ~std::uint64_t{0} >> (64 - 8 * ir::min_bytes(type));
}

std::uint64_t largest_size(ir::DataType type) { return ir::is_signed(type) ? largest_number(type) / 2 : largest_number(type); }

void check_size(std::uint64_t bits, ir::DataType type, const std::string& what) {
  const ir::Number value = ir::Number::of(ir::Literal::of(type, bits));
  if (!value.negative) return;
  throw ArgumentError(
      fmt::format("{} is {}, and a size is an integer from 0 on. Fix: pass a number from 0 to {}; an {} parameter of a kernel takes "
                  "negative ones, where it is given the number itself.",
                  what, value.text(), largest_size(type), ir::text(type)));
}

void check_fits(std::uint64_t value, ir::DataType type, const ir::WordUse& use) {
  const std::uint64_t most = largest_size(type);
  if (value <= most) return;
  const char* const article = ir::text(type).starts_with('i') ? "an" : "a";
  throw ArgumentError(fmt::format("{} is {}, and {} {} is at most {}. Fix: {}.", use.what, value, article, ir::text(type), most, use.fix));
}

}  // namespace vyre::run
