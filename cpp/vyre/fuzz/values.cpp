// Generates expressions of every kind. Operands are made one after the other, in evaluation order, because C++ leaves the order of
// arguments open.
#include <algorithm>
#include <map>

#include "vyre/fuzz/generator.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/handles/infix.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre::fuzz {

using ir::BinOp;
using ir::BufferAccess;
using ir::DataType;

namespace {

// The value types: those that have lanes.
constexpr bool is_value(DataType type) { return ir::lanes(type) != 0; }

struct Operation {
  const ir::OpSpec* spec;
  std::uint32_t cost;
};

// By result.
const std::map<DataType, std::vector<Operation>>& callable() {
  static const auto table = [] {
    std::map<DataType, std::vector<Operation>> result;
    for (const ir::OpTable::Spec& spec : op_table().all()) {
      if (spec->inlinable()) result[spec->function().signature.output].push_back({spec.get(), cost_of(*spec, op_table())});
    }
    return result;
  }();
  return table;
}

}  // namespace

ExprId Generator::var(const Variable& variable) {
  return writer_.var(variable.name, variable.type, variable.uniform, !variable.assignable);
}

ExprId Generator::leaf(DataType type) {
  if (random_.chance(12)) {
    if (const ExprId made = parameter(type); made.valid()) return made;
  }
  if (type == DataType::U32) {
    switch (random_.below(12)) {
      case 0:
        return writer_.id(static_cast<ir::GridIdKind>(random_.below(3)), random_.below(3));
      case 1:
        return ids_.me;
      case 2:
        return ids_.local;
      case 3:
        return ids_.group;
      case 4:
        return writer_.length(random_.pick(memory_).name);
      default:
        break;
    }
  }
  return writer_.literal(type);
}

ExprId Generator::value(DataType type, int depth) {
  if (!pool_.empty() && random_.chance(22)) {
    // Prefers recent values: they are the most likely to be used.
    const Pooled& pooled = pool_[pool_.size() - 1 - random_.below(std::min<std::size_t>(pool_.size(), 24))];
    if (writer_.type(pooled.id) == type && writer_.of(pooled.id).cost < 200) return pooled.id;
  }
  if (random_.chance(35)) {
    std::vector<const Variable*> fitting;
    for (const Variable& variable : variables_) {
      if (variable.type == type) fitting.push_back(&variable);
    }
    if (!fitting.empty()) return var(*random_.pick(fitting));
  }
  if (depth <= 0 || exprs_left_ <= 0) return leaf(type);
  --exprs_left_;
  const ExprId made = compound(type, depth - 1);
  pool_.push_back({made, level_});
  return made;
}

ExprId Generator::compound(DataType type, int depth) {
  using Try = ExprId (Generator::*)(DataType, int);
  struct Kind {
    std::uint32_t weight;
    Try make;
  };
  static constexpr Kind kKinds[] = {
      {30, &Generator::try_binary}, {8, &Generator::try_unary},  {6, &Generator::try_select},
      {9, &Generator::try_cast},    {8, &Generator::try_lane},   {8, &Generator::try_pack},
      {16, &Generator::try_load},   {4, &Generator::try_atomic}, {8, &Generator::try_call},
  };
  constexpr std::uint32_t kSum = 97;
  if (type == DataType::U64 && random_.chance(40)) {
    const ExprId made = random_.chance(60) ? sum_of_u64(depth) : try_call(type, depth);
    if (made.valid()) return made;
  }
  for (int attempt = 0; attempt < 6; ++attempt) {
    std::uint32_t roll = random_.below(kSum);
    for (const Kind& kind : kKinds) {
      if (roll < kind.weight) {
        if (const ExprId made = (this->*kind.make)(type, depth); made.valid()) return made;
        break;
      }
      roll -= kind.weight;
    }
  }
  return leaf(type);
}

ExprId Generator::parameter(DataType type) {
  std::vector<const Memory*> fitting;
  for (const Memory& memory : memory_) {
    if (memory.decl.access == BufferAccess::Uniform && memory.accessible() && memory.length > 0) fitting.push_back(&memory);
  }
  if (fitting.empty()) return {};
  const Memory& memory = *random_.pick(fitting);
  const DataType element = memory.value();
  const ExprId index = writer_.u32(random_.below(std::min(memory.length, 3u)));
  const ExprId loaded = writer_.load(memory.name, element, index, true, false);
  if (element == type) return loaded;
  return type == DataType::U32 ? as_u32(loaded) : ExprId();
}

ExprId Generator::varied(DataType type, int depth) {
  const ExprId any = value(DataType::U32, depth);
  const ExprId mixed = writer_.binary(BinOp::BitXor, any, writer_.times(ids_.me, 0x9E3779B1));
  return type == DataType::U32 ? mixed : writer_.cast(type, mixed);
}

ExprId Generator::operand(BinOp op, bool left, DataType type, int depth) {
  const auto literal = [&](std::uint32_t bits) { return type == DataType::I32 ? writer_.i32(bits) : writer_.u32(bits); };
  // Every value, from the upper half of the range: large, or negative.
  const auto upper = [&] {
    const ExprId high = writer_.binary(BinOp::BitOr, value(DataType::U32, depth), writer_.u32(0x80000000));
    return type == DataType::I32 ? writer_.cast(DataType::I32, high) : high;
  };
  switch (op) {
    case BinOp::Shl:
    case BinOp::Shr:
    case BinOp::SShr:
    case BinOp::RotateLeft:
    case BinOp::RotateRight: {
      static constexpr std::uint32_t kAmounts[] = {31, 31, 0, 1, 30, 32, 33, 63, 64, 0xFFFFFFFF, 0x80000000};
      if (left && type == DataType::U32 && random_.chance(30)) return writer_.binary(BinOp::BitOr, value(type, depth), writer_.u32(1));
      if (left || random_.chance(45)) break;
      if (random_.chance(75)) return writer_.u32(random_.pick(kAmounts));
      return writer_.binary(BinOp::BitOr, value(type, depth), writer_.u32(30 + random_.below(2)));
    }
    case BinOp::SDiv:
    case BinOp::SMod: {
      static constexpr std::uint32_t kDivisors[] = {2, 3, 5, 7, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFB, 0x80000000, 0x7FFFFFFF, 0};
      if (left && random_.chance(30)) return upper();
      if (!left && random_.chance(40)) return literal(random_.pick(kDivisors));
      break;
    }
    case BinOp::Div:
    case BinOp::Mod:
    case BinOp::Min:
    case BinOp::Max:
    case BinOp::SMin:
    case BinOp::SMax:
    case BinOp::AbsDiff:
    case BinOp::MulHigh:
      if (random_.chance(25)) return upper();
      break;
    default:
      break;
  }
  return value(type, depth);
}

// Low halves that overflow every other time: arithmetic of U64 is in operations alone.
ExprId Generator::sum_of_u64(int depth) {
  static const auto find = [](ir::Infix op) { return op_table().find(ir::meaning(op, DataType::U64)->operation()); };
  static const ir::OpTable::Spec add = find(ir::Infix::Add), sub = find(ir::Infix::Sub);
  static const std::uint32_t cost = std::max(cost_of(*add, op_table()), cost_of(*sub, op_table()));
  if (cost * rounds_ > left_ / 2) return {};
  const auto large = [&] {
    const ExprId low = value(DataType::U32, depth);
    const std::array lanes{writer_.binary(BinOp::BitOr, low, writer_.u32(0xC0000000)), value(DataType::U32, depth)};
    return writer_.pack(DataType::U64, lanes);
  };
  const ExprId left = random_.chance(50) ? large() : value(DataType::U64, depth);
  const std::array arguments{left, random_.chance(50) ? large() : value(DataType::U64, depth)};
  return call(random_.chance(70) ? *add : *sub, cost, arguments);
}

ExprId Generator::try_binary(DataType type, int depth) {
  // Operators with edges are half of all.
  static constexpr std::array<ir::AnyOp, 14> kSharp = {BinOp::Shl,  BinOp::Shr,     BinOp::RotateLeft, BinOp::RotateRight, BinOp::Div,
                                                       BinOp::Mod,  BinOp::MulHigh, BinOp::Min,        BinOp::Max,         BinOp::AbsDiff,
                                                       BinOp::SDiv, BinOp::SMod,    BinOp::SMin,       BinOp::SMax};
  const bool sharp = random_.chance(50);
  std::vector<const ir::OpInfo*> fitting;
  for (const ir::OpInfo* row : ir::kOps) {
    const bool fits = row->arity > 1 && row->is_typed() && row->result == type;
    if (fits && (!sharp || std::ranges::find(kSharp, row, &ir::AnyOp::row) != kSharp.end())) fitting.push_back(row);
  }
  if (fitting.empty()) return {};
  const ir::OpInfo& row = *random_.pick(fitting);
  std::array<ExprId, 3> operands;
  for (std::size_t k = 0; k < row.arity; ++k) {
    const DataType wanted = row.operands[k];
    operands[k] = row.arity == 2 ? operand(static_cast<BinOp>(row.index), k == 0, wanted, depth) : value(wanted, depth);
  }
  return writer_.apply(row, std::span(operands).first(row.arity));
}

ExprId Generator::try_unary(DataType type, int depth) {
  std::vector<const ir::UnOpInfo*> fitting;
  for (const ir::UnOpInfo& row : ir::kUnOps) {
    if (row.result == type) fitting.push_back(&row);
  }
  if (fitting.empty()) return {};
  const ir::UnOpInfo& row = *random_.pick(fitting);
  const bool counts = row.op == ir::UnOp::Clz || row.op == ir::UnOp::Ctz;
  if (counts && random_.chance(30)) {
    // Zero now and then, which has no first bit.
    const ExprId any = value(DataType::U32, depth);
    return writer_.unary(row.op, writer_.binary(random_.chance(50) ? BinOp::BitAnd : BinOp::Min, any, writer_.u32(random_.below(2))));
  }
  return writer_.unary(row.op, value(row.operands[0], depth));
}

ExprId Generator::condition(int depth) { return value(random_.chance(50) ? DataType::U32 : DataType::Bool, depth); }

ExprId Generator::try_select(DataType type, int depth) {
  const ExprId choice = condition(depth);
  if (type == DataType::U32 && random_.chance(30)) {
    // Both arms happen, whichever is chosen.
    const ExprId if_true = try_atomic(type, depth), if_false = if_true.valid() ? try_atomic(type, depth) : ExprId();
    if (if_false.valid()) return writer_.select(choice, if_true, if_false);
  }
  const ExprId if_true = value(type, depth);
  return writer_.select(choice, if_true, value(type, depth));
}

ExprId Generator::try_cast(DataType type, int depth) {
  std::vector<DataType> sources;
  for (const ir::CastRow& row : ir::kCasts) {
    if (row.target == type && is_value(row.source)) sources.push_back(row.source);
  }
  return writer_.cast(type, value(random_.pick(sources), depth));
}

ExprId Generator::try_lane(DataType type, int depth) {
  if (type != DataType::U32) return {};
  std::vector<DataType> sources;
  for (const ir::TypeInfo& row : ir::kTypes) {
    if (row.lanes > 1) sources.push_back(row.type);
  }
  const DataType source = random_.pick(sources);
  const ExprId whole = value(source, depth);
  return writer_.lane(whole, random_.below(ir::lanes(source)));
}

ExprId Generator::try_pack(DataType type, int depth) {
  if (ir::lanes(type) < 2) return {};
  std::vector<ExprId> lanes;
  for (std::uint32_t k = 0; k < ir::lanes(type); ++k) lanes.push_back(value(DataType::U32, depth));
  return writer_.pack(type, lanes);
}

ExprId Generator::try_load(DataType type, int depth) {
  std::vector<const Memory*> fitting;
  for (const Memory& memory : memory_) {
    if (memory.value() == type && memory.readable) fitting.push_back(&memory);
  }
  if (fitting.empty()) return {};
  const Memory& memory = *random_.pick(fitting);
  const Role role = memory.phase.role;
  if (clean_ && (role == Role::Atomic || memory.length == 0)) return {};
  const ExprId any = value(DataType::U32, std::min(depth, 2));
  ExprId index;
  if (role == Role::Atomic || (!clean_ && random_.chance(4))) {
    index = indices_.outside(memory, any);
  } else {
    index = role == Role::Own ? indices_.own(memory, any) : indices_.shared(memory, any);
  }
  return writer_.load(memory.name, type, index, !ir::writable(memory.decl.access), role != Role::Constant);
}

ExprId Generator::try_atomic(DataType type, int depth) {
  if (type != DataType::U32 || options_.independent) return {};
  std::vector<const Memory*> fitting;
  for (const Memory& memory : memory_) {
    if (!memory.takes_atomics() || !memory.readable) continue;
    if (memory.phase.role == Role::Own || !clean_) fitting.push_back(&memory);
  }
  if (fitting.empty()) return {};
  const Memory& memory = *random_.pick(fitting);
  const ir::AtomicOp op = random_.pick(ir::kAtomicOps).op;
  const ExprId any = value(type, std::min(depth, 1));
  const bool own = memory.phase.role == Role::Own;
  const ExprId index = own ? indices_.own(memory, any) : indices_.outside(memory, any);
  const ExprId expected = op == ir::AtomicOp::CompareExchange ? value(type, depth) : ExprId();
  return writer_.atomic(op, memory.name, index, expected, value(type, depth), true);
}

ExprId Generator::try_call(DataType type, int depth) {
  const auto fitting = callable().find(type);
  if (fitting == callable().end()) return {};
  const Operation& operation = random_.pick(fitting->second);
  if (operation.cost * rounds_ > left_ / 2) return {};
  std::vector<ExprId> arguments;
  for (DataType input : operation.spec->function().signature.inputs) arguments.push_back(value(input, depth));
  return call(*operation.spec, operation.cost, arguments);
}

ExprId Generator::call(const ir::OpSpec& spec, std::uint32_t cost, std::span<const ExprId> arguments) {
  std::string id = spec.id;
  if (random_.chance(10)) id += "@" + std::to_string(spec.version);
  return writer_.call(writer_.to().name(id), spec.function().signature.output, cost, arguments);
}

// Returns a value that is the same in the whole workgroup, by the rules of V010.
ExprId Generator::uniform_value(int depth) {
  if (random_.chance(20)) {
    std::vector<ExprId> fitting;
    for (const Pooled& pooled : pool_) {
      const Value& known = writer_.of(pooled.id);
      if (known.uniform && known.type == DataType::U32 && known.cost < 200) fitting.push_back(pooled.id);
    }
    if (!fitting.empty()) return random_.pick(fitting);
  }
  if (random_.chance(40)) {
    std::vector<const Variable*> fitting;
    for (const Variable& variable : variables_) {
      if (variable.uniform && variable.type == DataType::U32) fitting.push_back(&variable);
    }
    if (!fitting.empty()) return var(*random_.pick(fitting));
  }
  if (random_.chance(20)) {
    if (const ExprId made = parameter(DataType::U32); made.valid()) return made;
  }
  if (depth > 0) {
    switch (random_.below(4)) {
      case 0: {
        std::vector<const Memory*> fitting;
        for (const Memory& memory : memory_) {
          if (memory.value() != DataType::U32 || ir::writable(memory.decl.access) || memory.length == 0) continue;
          if (memory.readable) fitting.push_back(&memory);
        }
        if (fitting.empty()) break;
        const Memory& memory = *random_.pick(fitting);
        const ExprId any = uniform_value(depth - 1);
        return writer_.load(memory.name, DataType::U32, indices_.shared(memory, any), true, false);
      }
      case 1: {
        const ExprId choice = uniform_value(depth - 1), if_true = uniform_value(depth - 1);
        return writer_.select(choice, if_true, uniform_value(depth - 1));
      }
      default: {
        const ir::BinOpInfo& row = random_.pick(ir::kBinOps);
        if (row.operands[0] != DataType::U32 || row.operands[1] != DataType::U32 || row.result != DataType::U32) break;
        const ExprId left = uniform_value(depth - 1);
        return writer_.binary(row.op, left, uniform_value(depth - 1));
      }
    }
  }
  switch (random_.below(4)) {
    case 0:
      return writer_.id(ir::GridIdKind::Workgroup, random_.below(3));
    case 1:
      return writer_.length(random_.pick(memory_).name);
    default:
      return writer_.literal(DataType::U32);
  }
}

// All lanes of any value in one.
ExprId Generator::as_u32(ExprId whole) {
  const DataType type = writer_.type(whole);
  if (type == DataType::U32) return whole;
  if (ir::lanes(type) == 1) return writer_.cast(DataType::U32, whole);
  ExprId result = writer_.lane(whole, 0);
  for (std::uint32_t k = 1; k < ir::lanes(type); ++k) {
    const ExprId mixed = writer_.binary(BinOp::Mul, result, writer_.u32(0x9E3779B1));
    result = writer_.binary(BinOp::BitXor, mixed, writer_.lane(whole, k));
  }
  return result;
}

}  // namespace vyre::fuzz
