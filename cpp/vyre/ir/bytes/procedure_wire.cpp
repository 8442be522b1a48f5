// The binary form of procedures.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/bytes/byte_writer.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/procedures/procedure.hpp"

namespace vyre::ir {
namespace {

constexpr std::string_view kProcedureMagic = "\x93VYRP";
constexpr std::uint32_t kProcedureVersion = 1;
// Stands for a Repeat that an element ends, behind the kinds of steps: a Repeat without one has the bytes that it always had.
constexpr std::uint64_t kRepeatUntil = std::variant_size_v<StepKind>;

// Ids are written one higher, so that 0 says that there is none.
class ProcedureWriter : ByteWriter {
 public:
  std::string operator()(const Procedure& procedure) {
    put_bytes(kProcedureMagic);
    put(kProcedureVersion);
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
      const auto* repeat = std::get_if<Repeat>(&step);
      put(repeat != nullptr && repeat->until ? kRepeatUntil : std::uint64_t{step.index()});
      std::visit([&](const auto& kind) { put(kind); }, step);
    });
    list(procedure.results(), [&](ArrayId id) { put(id.index); });
    return written();
  }

 private:
  using ByteWriter::put;
  void put(const std::string& text) { put(std::string_view(text)); }
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
  void put(const Repeat& step) {
    put(step.count);
    if (step.until) put(*step.until);
  }
  void put(const When& step) { put(step.condition); }
  void put(const Otherwise&) {}
  void put(const EndStep&) {}
  void put(const Swap& step) {
    put(step.a.index);
    put(step.b.index);
  }
  void put(const Clear& step) { put(step.part); }
  void put(const Require& step) {
    put(step.condition);
    put(step.message);
  }
};

// Only what the ProcedureWriter writes is read: the bytes of what was read are compared with those that were given.
class ProcedureReader {
 public:
  explicit ProcedureReader(std::string_view bytes) : bytes_(bytes) {}

  Procedure operator()(std::uint32_t depth) {
    if (!bytes_.starts_with(kProcedureMagic)) fail(0, "these are not the bytes of a vyre procedure", "pass what to_bytes gave");
    if (depth > kMostInvocations) fail(0, "procedures are nested too deep", "pass the bytes as to_bytes gave them");
    at_ = kProcedureMagic.size();
    if (const std::uint32_t version = number(); version != kProcedureVersion) {
      fail(kProcedureMagic.size(), fmt::format("unknown version {} of the binary form", version),
           fmt::format("use a vyre that reads it; this one reads version {}", kProcedureVersion));
    }
    ProcedureBuilder builder(name());
    each([&] {
      const std::string declared = name();
      const DataType type = this->type();
      if (!has_literals(type)) damaged("a number has a type of arrays");
      builder.declare({declared, type});
      ++numbers_;
    });
    sizes();
    each([&] { arrays_.push_back(array()); });
    check_lengths();
    std::vector<Program> programs;
    each([&] { programs.push_back(program()); });
    std::vector<Procedure> procedures;
    each([&] {
      const std::string_view inner = text();
      procedures.push_back(ProcedureReader(inner)(depth + 1));
    });
    try {
      remake(builder);
    } catch (const ArgumentError& error) {
      damaged(error.what());
    }
    each([&] { step(builder, programs, procedures); });
    if (builder.open_blocks() > 0) damaged("a Repeat or a When is not closed");
    each([&] { builder.result(array_id()); });
    if (at_ < bytes_.size())
      fail(at_, fmt::format("{} bytes after the end of the procedure", bytes_.size() - at_), "pass the bytes of one procedure alone");
    Procedure made = builder.finish();
    if (made.bytes() != bytes_)
      fail(0, "the bytes are not those that to_bytes gives for this procedure", "pass the bytes as to_bytes gave them");
    return made;
  }

 private:
  [[noreturn]] static void fail(std::size_t at, std::string_view problem, std::string_view fix) {
    throw ParseError(fmt::format("byte {}: {}. Fix: {}.", at, problem, fix));
  }
  [[noreturn]] void damaged(std::string_view problem) const { fail(at_, problem, "pass the bytes as to_bytes gave them"); }

  std::uint64_t wide() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      if (at_ == bytes_.size()) fail(at_, "the bytes end within the procedure", "pass all bytes that to_bytes gave");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift > 63 || (shift == 63 && byte > 1)) damaged("a number does not fit into 64 bits");
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::uint32_t number() {
    const std::uint64_t value = wide();
    if (value > 0xFFFFFFFFu) damaged("a number does not fit into 32 bits");
    return static_cast<std::uint32_t>(value);
  }
  std::uint32_t below(std::uint64_t limit) {
    const std::uint32_t value = number();
    if (value >= limit) damaged(fmt::format("the number {} names nothing", value));
    return value;
  }
  std::string_view text() {
    const std::uint64_t length = wide();
    if (length > bytes_.size() - at_) fail(at_, "the bytes end within the procedure", "pass all bytes that to_bytes gave");
    const std::string_view found = bytes_.substr(at_, static_cast<std::size_t>(length));
    at_ += found.size();
    return found;
  }
  std::string name() {
    const std::string_view found = text();
    if (!is_utf8(found)) damaged("a name is not valid UTF-8");
    return std::string(found);
  }
  // An item has one byte at least, so that no count asks for more memory than the bytes can fill.
  template <class Item>
  void each(Item&& item) {
    const std::uint64_t count = wide();
    if (count > bytes_.size() - at_) fail(at_, "the bytes end within the procedure", "pass all bytes that to_bytes gave");
    for (std::uint64_t k = 0; k < count; ++k) item();
  }
  DataType type() { return static_cast<DataType>(below(kTypes.size())); }

  void sizes() {
    each([&] {
      SizeTerm term{.op = static_cast<SizeOp>(below(kSizeOps.size()))};
      if (term.op == SizeOp::Literal) {
        term.literal = wide();
      } else {
        for (std::uint32_t* operand : {&term.a, &term.b, &term.c}) *operand = number();
        const std::array<std::uint32_t, 3> operands = {term.a, term.b, term.c};
        for (std::uint32_t k = 0; k < operand_count(term.op); ++k) {
          if (operands[k] >= terms_.size()) damaged("a size stands before its operand");
        }
        if (term.op == SizeOp::Number && term.a >= numbers_) damaged("a size names no number");
        if (term.op == SizeOp::Limit && term.a >= kLimitNames.size()) damaged("a size names no limit");
      }
      terms_.push_back(term);
    });
  }
  SizeId size() {
    const std::uint32_t value = number();
    if (value == 0) return {};
    if (value > terms_.size()) damaged("a number names no size");
    return made_[value - 1];
  }
  SizeId needed() {
    const SizeId found = size();
    if (!found.valid()) damaged("a size is missing");
    return found;
  }

  struct Declared {
    ArrayDecl decl;
    std::vector<std::uint32_t> shape;
  };
  Declared array() {
    Declared found;
    found.decl.name = name();
    found.decl.role = static_cast<ArrayRole>(below(kRoleNames.size()));
    found.decl.element = type();
    found.decl.axes = below(4);
    each([&] {
      const std::uint32_t value = number();
      if (value == 0 || value > terms_.size()) damaged("a number names no size");
      found.shape.push_back(value - 1);
    });
    found.decl.zeros = below(2) != 0;
    const std::string_view contents = text();
    const bool is_given = found.decl.role == ArrayRole::Input || found.decl.role == ArrayRole::InOut;
    if (found.decl.axes == 0 || found.shape.size() != (is_given ? 0 : found.decl.axes)) damaged("an array has not a size for each axis");
    if (found.decl.role == ArrayRole::Table) {
      const auto* begin = reinterpret_cast<const std::byte*>(contents.data());
      found.decl.contents = std::make_shared<const std::vector<std::byte>>(begin, begin + contents.size());
    } else if (!contents.empty()) {
      damaged("an array that is no table has contents");
    }
    return found;
  }
  void check_lengths() const {
    for (const SizeTerm& term : terms_) {
      if (term.op == SizeOp::Length && (term.a >= arrays_.size() || term.b >= arrays_[term.a].decl.axes))
        damaged("a size names no axis of an array");
    }
  }
  // Gives the builder the sizes and arrays, in the order in which they were read.
  void remake(ProcedureBuilder& builder) {
    for (const SizeTerm& term : terms_) {
      const auto operand = [&](std::uint32_t k) { return k < made_.size() ? made_[k] : SizeId{}; };
      switch (term.op) {
        case SizeOp::Literal:
          made_.push_back(builder.literal(term.literal));
          break;
        case SizeOp::Length:
          made_.push_back(builder.length({term.a}, term.b));
          break;
        case SizeOp::Number:
          made_.push_back(builder.number(term.a));
          break;
        case SizeOp::Limit:
          made_.push_back(builder.limit(static_cast<Limit>(term.a)));
          break;
        case SizeOp::Turn:
          made_.push_back(builder.turn(term.a));
          break;
        default:
          made_.push_back(builder.apply(term.op, operand(term.a), operand(term.b), operand(term.c)));
      }
    }
    for (Declared& each : arrays_) {
      for (std::uint32_t index : each.shape) each.decl.shape.push_back(made_[index]);
      builder.array(each.decl);
    }
  }
  ArrayId array_id() { return {below(arrays_.size())}; }

  Program program() {
    const std::string_view bytes = text();
    return from_bytes(std::as_bytes(std::span(bytes)));
  }

  ArrayPart part() {
    ArrayPart found{.array = array_id(), .view = {}, .offset = {}, .length = {}};
    const std::uint32_t view = number();
    if (view > kTypes.size()) damaged("an unknown type");
    if (view > 0) found.view = static_cast<DataType>(view - 1);
    found.offset = size();
    found.length = size();
    if (found.offset.valid() != found.length.valid()) damaged("a part has no length");
    return found;
  }

  void step(ProcedureBuilder& builder, const std::vector<Program>& programs, const std::vector<Procedure>& procedures) {
    switch (below(kRepeatUntil + 1)) {
      case 0:
        return dispatch(builder, programs);
      case 1:
        return invoke(builder, procedures);
      case 2:
        open_.push_back(false);
        builder.repeat(needed());
        return;
      case 3:
        open_.push_back(true);
        builder.when(needed());
        return;
      case 4:
        if (open_.empty() || !open_.back()) damaged("an otherwise stands in no When");
        open_.back() = false;
        builder.otherwise();
        return;
      case 5:
        if (open_.empty()) damaged("an end closes nothing");
        open_.pop_back();
        builder.end();
        return;
      case 6: {
        const ArrayId a = array_id();
        builder.swap(a, array_id());
        return;
      }
      case 7:
        builder.clear(part());
        return;
      case kRepeatUntil: {
        open_.push_back(false);
        const SizeId count = needed();
        builder.repeat(count, part());
        return;
      }
      default: {
        const SizeId condition = needed();
        try {
          builder.require(condition, name());
        } catch (const ArgumentError& error) {
          damaged("the message of a requirement has no Fix");
        }
      }
    }
  }
  void dispatch(ProcedureBuilder& builder, const std::vector<Program>& programs) {
    Dispatch made{.name = name(), .program = 0, .bound = {}, .grid = {}};
    made.program = builder.program(programs.at(below(programs.size())));
    each([&] {
      if (below(2) == 0) {
        made.bound.emplace_back(part());
        return;
      }
      Words words;
      each([&] { words.push_back(needed()); });
      made.bound.emplace_back(std::move(words));
    });
    for (SizeId& count : made.grid.most) count = needed();
    if (below(2) != 0) made.grid.counts = part();
    made.grid.counts_invocations = below(2) != 0;
    builder.dispatch(std::move(made));
  }
  void invoke(ProcedureBuilder& builder, const std::vector<Procedure>& procedures) {
    Invoke made;
    made.procedure = builder.procedure(procedures.at(below(procedures.size())));
    each([&] { made.arrays.push_back(part()); });
    each([&] { made.numbers.push_back(needed()); });
    builder.invoke(std::move(made));
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t numbers_ = 0;
  std::vector<SizeTerm> terms_;
  std::vector<SizeId> made_;  // of the terms
  std::vector<Declared> arrays_;
  std::vector<bool> open_;  // whether an open block is a When without an otherwise
};

}  // namespace

Procedure procedure_from_bytes(std::span<const std::byte> bytes) {
  return ProcedureReader(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()))(1);
}

std::string written(const Procedure& procedure) { return ProcedureWriter()(procedure); }

}  // namespace vyre::ir
