#include "vyre/ir/text/procedure_print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "vyre/base/overloaded.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ir/text/text_form.hpp"

namespace vyre::ir {
namespace {

constexpr std::size_t kWordsALine = 8;  // of a table

class ProcedurePrinter {
 public:
  explicit ProcedurePrinter(const Procedure& procedure) : procedure_(procedure), numbers_(procedure.sizes().size()) {}

  std::string operator()() {
    choose_numbered();
    line("vyre {}", text_form::kVersion);
    line("procedure {}", quoted(procedure_.name()));
    for (const NumberDecl& number : procedure_.numbers()) line("number {}: {}", spelled_number(number.name), text(number.type));
    for (const ArrayDecl& array : procedure_.arrays()) {
      for (SizeId id : array.shape) define_reached(id);
      print(array);
    }
    for (std::size_t k = 0; k < procedure_.programs().size(); ++k) nested(fmt::format("program {}", k), to_text(procedure_.programs()[k]));
    for (std::size_t k = 0; k < procedure_.procedures().size(); ++k) {
      nested(fmt::format("procedure {}", k), to_text(procedure_.procedures()[k]));
    }
    for (const StepKind& step : procedure_.steps()) {
      for_each_size(step, [&](SizeId id) { define_reached(id); });
      std::visit([&](const auto& kind) { print(kind); }, step);
    }
    if (!procedure_.results().empty()) {
      std::string names;
      for (ArrayId id : procedure_.results()) names += fmt::format("{}{}", names.empty() ? "" : ", ", name(id));
      line("return {}", names);
    }
    return std::move(out_);
  }

 private:
  // A size stands where it is used, unless it is used in several places or grows too deep or too large for one line.
  void choose_numbered() {
    struct Shape {
      std::uint32_t depth = 1, size = 1;  // of what is written out in its place
    };
    const std::size_t count = procedure_.sizes().size();
    IdVector<SizeId, std::uint32_t> uses(count);
    IdVector<SizeId, bool> is_operand(count);
    IdVector<SizeId, Shape> shapes(count);
    const auto use = [&](SizeId id) { ++uses[id]; };
    for (const SizeTerm& term : procedure_.sizes()) {
      for_each_operand(term, [&](SizeId operand) {
        use(operand);
        is_operand[operand] = true;
      });
    }
    for (const ArrayDecl& array : procedure_.arrays()) std::for_each(array.shape.begin(), array.shape.end(), use);
    for (const StepKind& step : procedure_.steps()) for_each_size(step, use);
    for (std::uint32_t index = 0; index < count; ++index) {
      const SizeId id{index};
      const SizeTerm& term = procedure_.sizes()[id];
      if (operand_count(term.op) == 0) continue;
      Shape& shape = shapes[id];
      for_each_operand(term, [&](SizeId operand) {
        const Shape inner = numbers_[operand] ? Shape{} : shapes[operand];
        shape.depth = std::max(shape.depth, inner.depth + 1);
        shape.size += inner.size;
      });
      const bool is_long = is_operand[id] && (shape.depth >= text_form::kInlineDepth || shape.size >= text_form::kInlineSize);
      if (uses[id] > 1 || is_long) numbers_[id] = ++numbered_;
    }
  }
  // Sizes are kept in the order in which they are reached, so that those that a line needs first stand before those of the lines below it.
  void define_reached(SizeId last) {
    for (; defined_ <= last.index; ++defined_) {
      if (numbers_[SizeId{defined_}]) line("{} = {}", label(SizeId{defined_}), written_out(SizeId{defined_}));
    }
  }

  static std::string quoted(std::string_view text) {
    std::string result = "\"";
    append_escaped(result, text);
    return result + '"';
  }
  static std::string spelled(std::string_view name) { return text_form::is_bare_name(name) ? std::string(name) : quoted(name); }
  // `turn0` is the turn of a repetition.
  static std::string spelled_number(std::string_view name) { return text_form::is_turn(name) ? quoted(name) : spelled(name); }
  std::string name(ArrayId id) const { return spelled(procedure_.arrays()[id].name); }
  std::string label(SizeId id) const { return fmt::format("%{}", numbers_[id] - 1); }
  std::string size(SizeId id) const { return numbers_[id] ? label(id) : written_out(id); }

  // The depth of what is written out is bounded: deeper sizes are numbered.
  std::string written_out(SizeId id) const {
    const SizeTerm& term = procedure_.sizes()[id];
    switch (term.op) {
      case SizeOp::Literal:
        return fmt::format("{}", term.literal);
      case SizeOp::Length:
        return term.b == 0 ? fmt::format("length({})", name(ArrayId{term.a}))
                           : fmt::format("length({}, {})", name(ArrayId{term.a}), term.b);
      case SizeOp::Number:
        return spelled_number(procedure_.numbers()[term.a].name);
      case SizeOp::Limit:
        return fmt::format("limit({})", kLimitNames[term.a]);
      case SizeOp::Turn:
        return fmt::format("turn{}", term.a);
      default:
        break;
    }
    const bool is_function = text_form::starts_word(text(term.op).front());
    const std::string a = size(SizeId{term.a});
    if (operand_count(term.op) == 1) return fmt::format("{}({})", text(term.op), a);
    const std::string b = size(SizeId{term.b});
    if (operand_count(term.op) == 3) return fmt::format("{}({}, {}, {})", text(term.op), a, b, size(SizeId{term.c}));
    return is_function ? fmt::format("{}({}, {})", text(term.op), a, b) : fmt::format("({} {} {})", a, text(term.op), b);
  }

  std::string part(const ArrayPart& part) const {
    std::string result = name(part.array);
    if (part.offset.valid()) result += fmt::format("[{} + {}]", size(part.offset), size(part.length));
    if (part.view) result += fmt::format(" as {}", text(*part.view));
    return result;
  }
  template <class Items, class Item>
  static std::string listed(const Items& items, Item&& item) {
    std::string result;
    for (const auto& each : items) result += fmt::format("{}{}", result.empty() ? "" : ", ", item(each));
    return result;
  }

  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    out_.append(2 * std::min<std::size_t>(depth_, text_form::kIndentedLevels), ' ');
    out_ += fmt::format(format, std::forward<Arguments>(arguments)...);
    out_ += '\n';
  }
  void nested(std::string_view head, std::string_view body) {
    line("{} {{", head);
    while (!body.empty()) {
      const std::size_t end = std::min(body.find('\n'), body.size());
      if (end > 0) out_.append(2, ' ');
      out_ += body.substr(0, end);
      out_ += '\n';
      body.remove_prefix(std::min(end + 1, body.size()));
    }
    line("}}");
  }

  void print(const ArrayDecl& array) {
    std::string axes;
    for (std::uint32_t axis = 0; axis < array.axes; ++axis) {
      axes += fmt::format("{}{}", axis > 0 ? ", " : "", axis < array.shape.size() ? size(array.shape[axis]) : "");
    }
    const std::string head = fmt::format("{} {}: {}[{}]{}", kRoleNames[static_cast<std::size_t>(array.role)], spelled(array.name),
                                         text(array.element), axes, array.zeros ? " zeros" : "");
    if (!array.contents) return line("{}", head);
    line("{} {{", head);
    ++depth_;
    const std::size_t width = text_form::word_bytes(array.element);
    const auto& bytes = *array.contents;
    std::string words;
    for (std::size_t at = 0; at < bytes.size(); at += width) {
      words += words.empty() ? "" : " ";
      for (std::size_t k = std::min(width, bytes.size() - at); k > 0; --k)
        words += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[at + k - 1]));
      if ((at / width + 1) % kWordsALine == 0) line("{}", std::exchange(words, {}));
    }
    if (!words.empty()) line("{}", words);
    --depth_;
    line("}}");
  }

  void print(const Dispatch& step) {
    const std::string bound = listed(step.bound, [&](const std::variant<ArrayPart, Words>& each) {
      return std::visit(
          overloaded{[&](const ArrayPart& given) { return part(given); },
                     [&](const Words& words) { return fmt::format("words({})", listed(words, [&](SizeId id) { return size(id); })); }},
          each);
    });
    const std::string most = listed(step.grid.most, [&](SizeId id) { return size(id); });
    const std::string grid =
        step.grid.counts
            ? fmt::format("{} {} at most ({})", step.grid.counts_invocations ? "invocations" : "workgroups", part(*step.grid.counts), most)
            : fmt::format("workgroups ({})", most);
    line("dispatch {} program {} ({}) {}", spelled(step.name), step.program, bound, grid);
  }
  void print(const Invoke& step) {
    const std::string numbers = listed(step.numbers, [&](SizeId id) { return size(id); });
    line("invoke {} procedure {} ({}{}{})", spelled(procedure_.procedures()[step.procedure].name()), step.procedure,
         listed(step.arrays, [&](const ArrayPart& each) { return part(each); }), numbers.empty() ? "" : "; ", numbers);
  }
  void print(const Repeat& step) {
    const std::string count = size(step.count);
    line("repeat turn{} in 0..{}{} {{", step.turn, count, step.until ? " until " + part(*step.until) : "");
    ++depth_;
  }
  void print(const When& step) {
    line("when {} {{", size(step.condition));
    ++depth_;
  }
  void print(const Otherwise&) {
    --depth_;
    line("}} otherwise {{");
    ++depth_;
  }
  void print(const EndStep&) {
    --depth_;
    line("}}");
  }
  void print(const Swap& step) { line("swap {}, {}", name(step.a), name(step.b)); }
  void print(const Clear& step) { line("clear {}", part(step.part)); }
  void print(const Require& step) { line("require {} {}", size(step.condition), quoted(step.message)); }

  const Procedure& procedure_;
  IdVector<SizeId, std::uint32_t> numbers_;  // 0: written out where it is used; else one more than its number
  std::uint32_t numbered_ = 0;
  std::uint32_t defined_ = 0;  // sizes below this one have had their definitions
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string to_text(const Procedure& procedure) { return ProcedurePrinter(procedure)(); }

}  // namespace vyre::ir
