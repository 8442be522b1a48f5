#include "vyre/ir/procedure_wire.hpp"

#include <string_view>
#include <utility>

#include "vyre/base/overloaded.hpp"
#include "vyre/ir/wire.hpp"

namespace vyre::ir {
namespace {

constexpr std::string_view kMagic = "vyre-procedure";
constexpr std::uint32_t kVersion = 1;

// Ids are written one higher, so that 0 says that there is none.
class Writer {
 public:
  std::string operator()(const Procedure& procedure) {
    out_ += kMagic;
    put(kVersion);
    put(procedure.name());
    list(procedure.numbers(), [&](const NumberDecl& number) {
      put(number.name);
      put(number.type);
    });
    list(procedure.sizes(), [&](const SizeTerm& term) {
      put(term.op);
      if (term.op == SizeOp::Literal) return put(term.literal);
      put(term.a);
      put(term.b);
      put(term.c);
    });
    list(procedure.arrays(), [&](const ArrayDecl& array) { put(array); });
    list(procedure.programs(), [&](const Program& program) { put(to_bytes(program)); });
    list(procedure.procedures(), [&](const Procedure& inner) { put(inner.bytes()); });
    list(procedure.steps(), [&](const StepKind& step) {
      put(step.index());
      std::visit([&](const auto& kind) { put(kind); }, step);
    });
    list(procedure.results(), [&](ArrayId id) { put(id.index); });
    return std::move(out_);
  }

 private:
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) out_.push_back(static_cast<char>(0x80 | (number & 0x7F)));
    out_.push_back(static_cast<char>(number));
  }
  void put(std::uint32_t number) { put(std::uint64_t{number}); }
  void put(bool flag) { put(std::uint32_t{flag}); }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    out_ += text;
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void put(Enum value) { put(static_cast<std::uint32_t>(value)); }
  void put(SizeId id) { put(id.valid() ? id.index + 1 : 0); }
  template <class List, class Item>
  void list(const List& items, Item&& item) {
    put(std::uint64_t{items.size()});
    for (const auto& each : items) item(each);
  }

  void put(const ArrayDecl& array) {
    put(array.name);
    put(array.role);
    put(array.element);
    put(array.axes);
    list(array.shape, [&](SizeId id) { put(id); });
    put(array.zeros);
    put(array.contents ? std::string_view(reinterpret_cast<const char*>(array.contents->data()), array.contents->size())
                       : std::string_view());
  }
  void put(const ArrayPart& part) {
    put(part.array.index);
    put(part.view ? static_cast<std::uint32_t>(*part.view) + 1 : 0);
    put(part.offset);
    put(part.length);
  }
  void put(const Dispatch& step) {
    put(step.name);
    put(step.program);
    list(step.bound, [&](const std::variant<ArrayPart, Words>& bound) {
      put(std::uint64_t{bound.index()});
      std::visit(
          overloaded{[&](const ArrayPart& part) { put(part); }, [&](const Words& words) { list(words, [&](SizeId id) { put(id); }); }},
          bound);
    });
    for (SizeId count : step.grid.most) put(count);
    put(step.grid.counts.has_value());
    if (step.grid.counts) put(*step.grid.counts);
    put(step.grid.counts_invocations);
  }
  void put(const Invoke& step) {
    put(step.procedure);
    list(step.arrays, [&](const ArrayPart& part) { put(part); });
    list(step.numbers, [&](SizeId id) { put(id); });
  }
  // The ids of other steps, and the numbers of turns, follow from the order of the steps.
  void put(const Repeat& step) { put(step.count); }
  void put(const When& step) { put(step.condition); }
  void put(const Otherwise&) {}
  void put(const EndStep&) {}
  void put(const Swap& step) {
    put(step.a.index);
    put(step.b.index);
  }
  void put(const Clear& step) { put(step.part); }

  std::string out_;
};

}  // namespace

std::string written(const Procedure& procedure) { return Writer()(procedure); }

}  // namespace vyre::ir
