// Parses the rows of rewrites.def at compile time. A row that cannot be parsed, or that drops a variable without asking for it to be
// `fixed`, does not compile. simplify() interprets the parsed rules; the tests prove the same rows.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "vyre/ir/semantics.hpp"

namespace vyre::transform {

struct RewriteRow {
  std::string_view name, pattern, result, when;
};
struct LawRow {
  ir::Law law;
  std::string_view name, pattern, result;
};

inline constexpr std::array kRewriteRows = {
#define REWRITE(name, pattern, result, when) RewriteRow{#name, pattern, result, when},
#include "vyre/transform/rewrites.def"
};
inline constexpr std::array kLawRows = {
#define LAW(law, pattern, result) LawRow{ir::law, #law, pattern, result},
#include "vyre/transform/rewrites.def"
};

namespace rewrite {

inline constexpr std::size_t kMaxTerms = 12, kMaxArity = 4, kMaxVariables = 4;

// A condition on a literal: bits & mask <comparison> value.
struct Condition {
  enum class Comparison : std::uint8_t { Eq, Ne, Le, Ge };
  std::uint32_t mask = ~0u;
  Comparison comparison = Comparison::Ge;
  std::uint32_t value = 0;  // bits >= 0 holds for every literal: a row without a condition accepts any

  constexpr bool operator()(std::uint32_t bits) const {
    switch (comparison) {
      case Comparison::Eq:
        return (bits & mask) == value;
      case Comparison::Ne:
        return (bits & mask) != value;
      case Comparison::Le:
        return (bits & mask) <= value;
      case Comparison::Ge:
        return (bits & mask) >= value;
    }
    return false;
  }
  constexpr bool operator==(const Condition&) const = default;
};

enum class Kind : std::uint8_t { Operator, Cast, Lane, Pack, Literal, Truth, Any };

// Numbers what can stand at the root of a pattern: each operator by its position in ir::kOps, and each of Cast, Lane and Pack.
using Root = std::uint8_t;
inline constexpr Root kCastRoot = ir::kOps.size(), kLaneRoot = kCastRoot + 1, kPackRoot = kCastRoot + 2;
inline constexpr std::size_t kRoots = kPackRoot + 1;

// A set of properties of an operand: one bit for each root, and the three bits below. simplify() compares them before it tries to match.
using Signs = std::uint64_t;
constexpr Signs sign(Root root) { return Signs{1} << root; }
inline constexpr Signs kLiteralSign = Signs{1} << kRoots, kTruthSign = Signs{1} << (kRoots + 1);
inline constexpr Signs kRepeatedSign = Signs{1} << (kRoots + 2);  // the same expression as an operand to the left of it
static_assert(kRoots + 3 <= 64);

// A term of a pattern; the root is term 0, and operands come after the term that uses them.
struct Term {
  Kind kind = Kind::Any;
  std::uint8_t op = 0;        // the number of an operator or of a Lane, or a CastKind
  std::uint8_t variable = 0;  // of Any and Truth
  std::uint8_t arity = 0;
  std::array<std::uint8_t, kMaxArity> operands{};
  Condition condition;  // of Literal

  constexpr bool is_variable() const { return kind == Kind::Any || kind == Kind::Truth; }
  constexpr bool is_operator() const { return kind != Kind::Literal && !is_variable(); }
  constexpr bool operator==(const Term&) const = default;
};
using Terms = std::array<Term, kMaxTerms>;

struct Rule {
  Terms pattern{};
  std::array<Signs, kMaxArity> signs{};  // the rule can match only if the operands of the root show these
  std::uint8_t size = 0;
  std::uint8_t result = 0;  // the term whose expression replaces the root
  bool is_literal = false;  // whether a literal with these bits replaces the root instead
  std::uint32_t bits = 0;
  std::uint8_t dropped = 0;  // a bit for each variable that must be fixed
  bool needs_types = false;  // the operators do not determine the types of root and result, so each match compares these types
};

constexpr Root root_of(const Term& term) {
  switch (term.kind) {
    case Kind::Operator:
      return term.op;
    case Kind::Cast:
      return kCastRoot;
    case Kind::Lane:
      return kLaneRoot;
    default:
      return kPackRoot;
  }
}

// Reads one row. It runs only at compile time, where a throw fails the build and its text appears in the compiler's message.
class Reader {
 public:
  // In the row of a law, the word `op` stands for this operator.
  constexpr Reader(std::string_view op) : op_(op) {}

  constexpr Rule read(std::string_view pattern, std::string_view result, std::string_view when) {
    read_when(when);
    text_ = pattern;
    rule_.size = 0;
    read_term(rule_.pattern, rule_.size);
    if (!text_.empty()) throw "something follows the pattern";
    if (!rule_.pattern[0].is_operator()) throw "a pattern is an operator with operands";
    read_result(result);
    check_dropped();
    check_types();
    return rule_;
  }

 private:
  static constexpr std::string_view kLetters = "xyzwct";

  constexpr void skip() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  constexpr bool take(char letter) {
    skip();
    if (!text_.starts_with(letter)) return false;
    text_.remove_prefix(1);
    return true;
  }
  constexpr std::string_view word() {
    skip();
    std::size_t length = 0;
    while (length < text_.size() && std::string_view(" (),").find(text_[length]) == text_.npos) ++length;
    const std::string_view result = text_.substr(0, length);
    text_.remove_prefix(length);
    return result;
  }
  static constexpr bool is_number(std::string_view word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }
  static constexpr std::uint32_t number(std::string_view word) {
    const bool hex = word.starts_with("0x");
    if (hex) word.remove_prefix(2);
    std::uint64_t value = 0;
    for (const char digit : word) {
      const bool decimal = digit >= '0' && digit <= '9', letter = hex && digit >= 'A' && digit <= 'F';
      if (!decimal && !letter) throw "not a number";
      value = value * (hex ? 16 : 10) + static_cast<std::uint64_t>(decimal ? digit - '0' : digit - 'A' + 10);
      if (value > std::numeric_limits<std::uint32_t>::max()) throw "a number above 32 bits";
    }
    return static_cast<std::uint32_t>(value);
  }

  // c is a literal and t a truth; both are numbered with the other variables, in order of first appearance.
  constexpr std::uint8_t variable(char letter) {
    for (std::uint8_t k = 0; k < variables_; ++k) {
      if (letters_[k] == letter) return k;
    }
    if (variables_ == kMaxVariables) throw "too many variables";
    letters_[variables_] = letter;
    return variables_++;
  }

  constexpr void read_when(std::string_view when) {
    text_ = when;
    skip();
    while (!text_.empty()) {
      const std::string_view first = word();
      if (first == "fixed") {
        skip();
        while (!text_.empty() && !text_.starts_with(',')) {
          const std::string_view name = word();
          if (name.size() != 1 || kLetters.find(name[0]) == kLetters.npos) throw "`fixed` takes variables";
          fixed_[fixed_count_++] = name[0];
          skip();
        }
      } else if (first == "c") {
        std::string_view comparison = word();
        if (comparison == "&") {
          condition_.mask = number(word());
          comparison = word();
        }
        using enum Condition::Comparison;
        condition_.comparison = comparison == "=="   ? Eq
                                : comparison == "!=" ? Ne
                                : comparison == "<=" ? Le
                                : comparison == ">=" ? Ge
                                                     : throw "no comparison";
        condition_.value = number(word());
      } else {
        throw "a condition is `fixed x` or about `c`";
      }
      if (!take(',') && !text_.empty()) throw "conditions are separated by commas";
      skip();
    }
  }

  constexpr std::uint8_t read_term(Terms& terms, std::uint8_t& size) {
    if (size == kMaxTerms) throw "too many terms";
    const std::uint8_t at = size++;
    Term term;
    if (take('(')) {
      read_head(term);
      while (!take(')')) {
        if (term.kind == Kind::Lane && term.arity == 1) {
          term.op = static_cast<std::uint8_t>(number(word()));
          continue;
        }
        if (text_.empty() || term.arity == kMaxArity) throw "a term has no end, or too many operands";
        const std::uint8_t operand = read_term(terms, size);
        term.operands[term.arity++] = operand;
      }
      check_arity(term);
    } else {
      const std::string_view name = word();
      if (is_number(name)) {
        term.kind = Kind::Literal;
        term.condition = {~0u, Condition::Comparison::Eq, number(name)};
      } else if (name.size() != 1 || kLetters.find(name[0]) == kLetters.npos) {
        throw "a variable is one of x y z w c t";
      } else if (name[0] == 'c') {
        term.kind = Kind::Literal;
        term.condition = condition_;
      } else {
        term.kind = name[0] == 't' ? Kind::Truth : Kind::Any;
        term.variable = variable(name[0]);
      }
    }
    terms[at] = term;
    return at;
  }

  constexpr void read_head(Term& term) {
    const std::string_view given = word();
    const std::string_view name = given == "op" ? op_ : given;
    auto is = [&](Kind kind, auto op) {
      term.kind = kind;
      term.op = static_cast<std::uint8_t>(op);
    };
    for (const ir::OpInfo* row : ir::kOps) {
      if (row->name == name) return is(Kind::Operator, ir::number(*row));
    }
    if (name == "Lane") return is(Kind::Lane, 0);
    if (name == "Pack") return is(Kind::Pack, 0);
    for (const ir::CastRow& row : ir::kCasts) {
      if (row.kind_name == name) return is(Kind::Cast, row.kind);
    }
    throw "no such operator";
  }

  static constexpr void check_arity(const Term& term) {
    const std::size_t wanted = term.kind == Kind::Operator ? ir::kOps[term.op]->arity : term.kind == Kind::Pack ? term.arity : 1;
    if (term.arity != wanted) throw "a wrong number of operands";
  }

  constexpr void read_result(std::string_view result) {
    text_ = result;
    if (is_number(result)) {
      rule_.is_literal = true;
      rule_.bits = number(result);
      return;
    }
    Terms terms{};
    std::uint8_t size = 0;
    read_term(terms, size);
    for (std::uint8_t at = 1; at < rule_.size; ++at) {
      if (rule_.pattern[at].kind != Kind::Literal && equal(terms, 0, at)) {
        rule_.result = at;
        return;
      }
    }
    throw "a result is a variable, a number or an operand of the pattern";
  }
  constexpr bool equal(const Terms& terms, std::uint8_t a, std::uint8_t b) const {
    const Term &left = terms[a], &right = rule_.pattern[b];
    if (left.kind != right.kind || left.op != right.op || left.arity != right.arity || left.condition != right.condition) return false;
    if (left.is_variable() && left.variable != right.variable) return false;
    for (std::uint8_t k = 0; k < left.arity; ++k) {
      if (!equal(terms, left.operands[k], right.operands[k])) return false;
    }
    return true;
  }

  constexpr std::uint8_t variables_below(std::uint8_t at) const {
    const Term& term = rule_.pattern[at];
    std::uint8_t result = term.is_variable() ? static_cast<std::uint8_t>(1u << term.variable) : std::uint8_t{0};
    for (std::uint8_t k = 0; k < term.arity; ++k) result |= variables_below(term.operands[k]);
    return result;
  }
  constexpr void check_dropped() {
    rule_.dropped = variables_below(0);
    if (!rule_.is_literal) rule_.dropped &= static_cast<std::uint8_t>(~variables_below(rule_.result));
    std::uint8_t said = 0;
    for (std::size_t k = 0; k < fixed_count_; ++k) said |= static_cast<std::uint8_t>(1u << variable(fixed_[k]));
    if (said != rule_.dropped) throw "`fixed` must name what is dropped, and nothing else";
  }

  constexpr void check_types() {
    // A literal takes the type of the root.
    if (rule_.is_literal) return;
    rule_.needs_types = true;
    const Term &root = rule_.pattern[0], &result = rule_.pattern[rule_.result];
    if (!is_typed(root)) return;
    const ir::DataType type = ir::kOps[root.op]->result;
    if (is_typed(result)) {
      if (ir::kOps[result.op]->result != type) throw "the result has another type than the pattern";
      rule_.needs_types = false;
      return;
    }
    // An operator that uses the variable determines its type.
    for (const Term& user : rule_.pattern) {
      for (std::uint8_t k = 0; k < user.arity; ++k) {
        if (user.operands[k] != rule_.result || !is_typed(user)) continue;
        if (ir::kOps[user.op]->operands[k] != type) throw "the result has another type than the pattern";
        rule_.needs_types = false;
      }
    }
  }
  static constexpr bool is_typed(const Term& term) { return term.kind == Kind::Operator && ir::kOps[term.op]->is_typed(); }

  std::string_view op_, text_;
  Rule rule_;
  Condition condition_;
  std::array<char, kMaxVariables> letters_{}, fixed_{};
  std::uint8_t variables_ = 0;
  std::size_t fixed_count_ = 0;
};

constexpr std::array<Signs, kMaxArity> signs_of(const Rule& rule) {
  std::array<Signs, kMaxArity> result{};
  const Term& root = rule.pattern[0];
  std::uint8_t seen = 0;
  for (std::uint8_t k = 0; k < root.arity; ++k) {
    const Term& operand = rule.pattern[root.operands[k]];
    if (operand.is_operator()) result[k] = sign(root_of(operand));
    if (operand.kind == Kind::Literal) result[k] = kLiteralSign;
    if (operand.kind == Kind::Truth) result[k] = kTruthSign;
    if (!operand.is_variable()) continue;
    const auto bit = static_cast<std::uint8_t>(1u << operand.variable);
    if (seen & bit) result[k] |= kRepeatedSign;
    seen |= bit;
  }
  return result;
}

// Whether the law is a rule by itself. kCommutative adds orders to rules, kTruth defines `t`, and kAssociative is not used.
constexpr bool is_rule(ir::Law law) { return law == ir::kIdempotent || law == ir::kZeroIdentity || law == ir::kInvolution; }

// Calls visit(rule) for every row and for every operator with a law. A rule whose pattern contains commutative operators is visited
// once for each order of their operands, so that a match need not try both orders.
template <class Visit>
constexpr void for_each_rule(Visit&& visit) {
  auto both_ways = [&](const Rule& rule) {
    std::array<Rule, 16> ways{rule};
    std::size_t count = 1;
    for (std::uint8_t at = 0; at < rule.size; ++at) {
      if (rule.pattern[at].kind != Kind::Operator || !(ir::kOps[rule.pattern[at].op]->laws & ir::kCommutative)) continue;
      for (std::size_t k = 0, before = count; k < before; ++k) {
        Rule turned = ways[k];
        std::swap(turned.pattern[at].operands[0], turned.pattern[at].operands[1]);
        ways.at(count++) = turned;
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      ways[k].signs = signs_of(ways[k]);
      visit(ways[k]);
    }
  };
  for (const RewriteRow& row : kRewriteRows) {
    Rule rule = Reader("").read(row.pattern, row.result, row.when);
    both_ways(rule);
  }
  for (const LawRow& law : kLawRows) {
    if (!is_rule(law.law)) continue;
    auto instantiate = [&](std::string_view op) {
      Rule rule = Reader(op).read(law.pattern, law.result, "");
      both_ways(rule);
    };
    for (const ir::OpInfo* op : ir::kOps) {
      if (op->laws & law.law) instantiate(op->name);
    }
  }
}

inline constexpr std::size_t kRuleCount = [] {
  std::size_t count = 0;
  for_each_rule([&](const Rule&) { ++count; });
  return count;
}();

struct Table {
  std::array<Rule, kRuleCount> rules{};           // by root, in the order of the rows
  std::array<std::uint16_t, kRoots + 1> first{};  // the index of each root's first rule
  std::array<Signs, kRoots> signs{};              // a rule of that root matches only if an operand shows one of these; 0: always try

  constexpr std::span<const Rule> of(Root root) const { return std::span(rules).subspan(first[root], first[root + 1u] - first[root]); }
};

inline constexpr Table kTable = [] {
  Table table;
  std::array<bool, kRoots> always{};
  for_each_rule([&](const Rule& rule) {
    const Root root = root_of(rule.pattern[0]);
    ++table.first[root + 1u];
    Signs any = 0;
    for (const Signs signs : rule.signs) any |= signs;
    table.signs[root] |= any;
    always[root] = always[root] || any == 0;
  });
  for (std::size_t root = 0; root < kRoots; ++root) {
    table.first[root + 1] = static_cast<std::uint16_t>(table.first[root + 1] + table.first[root]);
    if (always[root]) table.signs[root] = 0;
  }
  std::array<std::uint16_t, kRoots> next{};
  for (std::size_t root = 0; root < kRoots; ++root) next[root] = table.first[root];
  for_each_rule([&](const Rule& rule) { table.rules[next[root_of(rule.pattern[0])]++] = rule; });
  return table;
}();

}  // namespace rewrite
}  // namespace vyre::transform
