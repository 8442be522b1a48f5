// Chooses the sizes of a generated case, declares its buffers and fills in the host's bytes.
#include <algorithm>
#include <array>

#include "vyre/fuzz/generator.hpp"

namespace vyre::fuzz {

using ir::BufferAccess;
using ir::DataType;

namespace {

constexpr ir::WorkgroupSize kSizes[] = {{1, 1, 1}, {1, 1, 1}, {2, 1, 1},  {3, 1, 1}, {4, 1, 1},  {7, 1, 1},  {8, 1, 1},
                                        {2, 2, 1}, {5, 1, 3}, {1, 7, 1},  {4, 3, 1}, {2, 3, 4},  {1, 1, 5},  {16, 1, 1},
                                        {3, 1, 1}, {7, 1, 1}, {32, 1, 1}, {8, 4, 1}, {33, 1, 1}, {64, 1, 1}, {4, 4, 4}};
constexpr Grid kGrids[] = {{1, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {5, 1, 1}, {1, 3, 1}, {2, 2, 1}, {1, 1, 3}, {2, 1, 2}};
// Some runs are wide: more invocations than a backend takes at a time, and than one thread does alone. Every device takes 128 a workgroup.
constexpr ir::WorkgroupSize kWideSizes[] = {{128, 1, 1}, {100, 1, 1}, {16, 8, 1}, {5, 5, 5}, {1, 1, 1}, {3, 1, 1}, {64, 1, 1}, {7, 3, 2}};
constexpr Grid kWideGrids[] = {{17, 1, 1}, {40, 1, 1}, {1, 19, 1}, {5, 1, 5}, {3, 3, 3}, {257, 1, 1}, {9, 1, 1}, {1, 1, 130}};
// For programs whose invocations share nothing.
constexpr Grid kRows[] = {{2, 1, 1}, {3, 1, 1}, {4, 1, 1}, {8, 1, 1}, {9, 1, 1}, {4, 2, 1}, {6, 1, 2}, {12, 1, 1}, {5, 1, 1}};
constexpr std::uint32_t kMostInvocations = 3000;

// Words of the edges, little-endian; the last one may be a part of a word.
void scramble(std::vector<std::byte>& bytes, Random& random) {
  std::uint32_t word = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at % 4 == 0) word = edge_u32(random);
    bytes[at] = static_cast<std::byte>(word >> 8 * (at % 4) & 0xFF);
  }
}

std::uint32_t product(const std::array<std::uint32_t, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

}  // namespace

void Generator::choose_sizes() {
  if (random_.chance(7)) {
    do {
      size_ = random_.pick(kWideSizes);
      grid_ = random_.pick(kWideGrids);
    } while (product(size_) * product(grid_) > kMostInvocations || (options_.plant && product(size_) < 2));
  } else {
    do {
      size_ = kSizes[random_.below(std::size(kSizes))];
    } while (options_.plant && product(size_) < 2);
    do {
      grid_ = kGrids[random_.below(std::size(kGrids))];
    } while (options_.plant == Plant::AcrossWorkgroups && product(grid_) < 2);
  }
  if (options_.independent && product(size_) * product(grid_) < kMostInvocations / 12) grid_ = random_.pick(kRows);
  ids_.invocations = product(size_);
  ids_.workgroups = product(grid_);
  alone_ = ids_.invocations == 1;
  // The rounds that each invocation may execute; a driver ends loops after 65,535 rounds of one invocation.
  left_ = std::clamp<std::uint64_t>(options_.work / (ids_.invocations * ids_.workgroups), 60, 12'000);
  if (!options_.plant && !clean_ && random_.chance(1)) grid_[random_.below(3)] = 0;
}

DataType Generator::any_element(bool with_bytes) {
  // U32 is what most operators take.
  if (random_.chance(35)) return DataType::U32;
  // perhaps_narrow() chooses the narrow ones.
  static const auto wide = [] {
    std::vector<DataType> types;
    for (const ir::TypeInfo& row : ir::kTypes) {
      if (!ir::is_narrow(row.type)) types.push_back(row.type);
    }
    return types;
  }();
  for (;;) {
    const DataType type = random_.pick(wide);
    if (ir::lanes(type) != 0 || with_bytes) return type;
  }
}

DataType Generator::perhaps_narrow(DataType element) {
  if (!narrows_ || !narrow_random_.chance(50)) return element;
  std::vector<DataType> narrow;
  for (const ir::TypeInfo& row : ir::kTypes) {
    if (ir::is_narrow(row.type) && row.value == element) narrow.push_back(row.type);
  }
  return narrow.empty() ? element : narrow_random_.pick(narrow);
}

// Chooses how many elements a buffer has that fits, and the part of them that a workgroup has.
void Generator::choose_length(Memory& memory, Role role) {
  const BufferAccess access = memory.decl.access;
  memory.each = 1 + (random_.chance(40) ? random_.below(3) : 0);
  if (memory.split) {
    memory.part = span_of(ids_.invocations) * memory.each;
    if (access == BufferAccess::Workgroup) {
      // Whole rounds of the loop that fills it, see fill().
      const std::uint32_t more = random_.below(3) * (clean_ ? ids_.invocations : 1);
      memory.part += more;
      if (clean_) memory.part = (memory.part + ids_.invocations - 1) / ids_.invocations * ids_.invocations;
      memory.length = memory.decl.count = memory.part;
    } else {
      memory.length = memory.part * ids_.workgroups;
    }
    return;
  }
  if (access == BufferAccess::Private) {
    memory.length = memory.decl.count = 1 + random_.below(24);
  } else if (role == Role::Own) {
    memory.length = ids_.invocations * ids_.workgroups * memory.each;
  } else {
    memory.length = random_.chance(15) ? 1 : 1 + random_.below(40);
    if (!clean_ && random_.chance(8)) memory.length = 0;
  }
  memory.part = memory.length;
}

Memory& Generator::declare(const std::string& stem, BufferAccess access, DataType element, Role role, bool split) {
  static constexpr const char* kOdd[] = {"main", "let", "gl_in", "a-b", "日本", "out", "_", "x y", "vyre", "array<u32>"};
  Memory memory;
  memory.decl.name =
      random_.chance(12) ? kOdd[random_.below(std::size(kOdd))] + std::to_string(memory_.size()) : stem + std::to_string(memory_.size());
  memory.decl.access = access;
  memory.decl.element = role == Role::Atomic ? element : perhaps_narrow(element);
  // Any numbers, but each once (V002).
  if (ir::is_bound(access)) {
    memory.decl.binding =
        random_.chance(80) ? static_cast<std::uint32_t>(memory_.size()) : 0xFFFFFFFFu - static_cast<std::uint32_t>(memory_.size());
  }
  memory.split = split;
  choose_length(memory, role);
  // A buffer that is too short or too long for its program is an ordinary thing. Cutting a part off makes its end out of bounds.
  if (access == BufferAccess::ReadWrite && role != Role::Constant) {
    if (random_.chance(15)) memory.length += 1 + random_.below(5);
    if (!clean_ && random_.chance(15)) memory.length -= random_.below(memory.length + 1);
    memory.zeros = random_.chance(25);
    if (memory.zeros && clean_) {
      // Never read, so always own elements.
      memory.readable = false;
      if (role != Role::Own) memory.zeros = false, memory.readable = true;
    }
  }
  memory.decl.atomic = grows_ && access == BufferAccess::Workgroup && memory.decl.element == DataType::U32 && later_random_.chance(60);
  if (ir::is_bound(access) && memory.length > 0 && element != DataType::Bytes && random_.chance(15)) memory.decl.count = memory.length;
  memory.phase = split && role != Role::Constant ? next_phase(random_, memory, ids_, {}) : first_phase(random_, role);
  memory.name = writer_.to().name(memory.decl.name);
  memory_.push_back(std::move(memory));
  return memory_.back();
}

// A buffer that a program declares and does not use is an ordinary thing.
void Generator::leave_idle(Memory& memory) {
  if (!random_.chance(8)) return;
  memory.idle = true;
  memory.readable = false;
  memory.phase = first_phase(random_, Role::Constant);
}

// A buffer that the program does not access may still have its length read.
void Generator::measure() {
  for (const Memory& memory : memory_) {
    if (memory.accessible() || !random_.chance(50)) continue;
    const ExprId length = writer_.length(memory.name);
    spend(length);
    writer_.to().let(declare_variable(DataType::U32, random_.chance(30), false), length);
  }
}

void Generator::declare_buffers() {
  declare("out", BufferAccess::ReadWrite, random_.chance(50) ? DataType::U32 : any_element(false), Role::Own, false);
  if (random_.chance(40)) memory_.back().decl.output = true;
  // In any order. At most eight are bound: what every Vulkan device has to offer beside one for parameters.
  const std::uint32_t more = random_.below(7);
  std::uint32_t bound = 1 + (options_.plant ? 2 : 0);
  for (std::uint32_t k = 0; k < more || bound < 2; ++k) {
    // The roles that are left: what is only read, and what is everybody's own.
    const std::uint32_t roll = options_.independent ? 18 + random_.below(54) : random_.below(100);
    if (roll < 18) {
      leave_idle(declare("shared", BufferAccess::Workgroup, any_element(true), Role::Own, true));
      continue;
    }
    if (bound == 8) continue;
    ++bound;
    if (roll < 38) {
      declare("in", BufferAccess::ReadOnly, any_element(true), Role::Constant, false);
    } else if (roll < 54) {
      declare("params", BufferAccess::Uniform, any_element(true), Role::Constant, false);
    } else if (roll < 58) {
      declare("kept", BufferAccess::ReadWrite, any_element(true), Role::Constant, false);
    } else if (roll < 72) {
      declare("own", BufferAccess::ReadWrite, any_element(false), Role::Own, false);
    } else if (roll < 82) {
      declare("count", BufferAccess::ReadWrite, DataType::U32, Role::Atomic, false);
    } else {
      declare("part", BufferAccess::ReadWrite, any_element(false), Role::Own, true);
    }
    leave_idle(memory_.back());
  }
  const bool private_memory = grows_ && !options_.independent && later_random_.chance(60);
  for (std::uint32_t k = private_memory ? 1 + later_random_.below(2) : 0; k > 0; --k) {
    leave_idle(declare("mine", BufferAccess::Private, any_element(false), Role::Own, false));
  }
  if (options_.plant) declare_planted();
}

void Generator::write_ids() {
  using ir::GridIdKind;
  const auto linear = [&](GridIdKind kind, const std::array<std::uint32_t, 3>& sizes) {
    ExprId result = writer_.id(kind, 0);
    std::uint32_t stride = sizes[0];
    for (std::uint32_t axis = 1; axis < 3; ++axis) {
      // An axis of one adds nothing, which the optimiser has to find out now and then.
      if (sizes[axis] != 1 || random_.chance(15)) result = writer_.add(result, writer_.times(writer_.id(kind, axis), stride));
      stride *= sizes[axis];
    }
    return result;
  };
  ids_.local = linear(GridIdKind::Local, size_);
  ids_.group = linear(GridIdKind::Workgroup, grid_);
  const bool flat = size_[1] == 1 && size_[2] == 1 && grid_[1] == 1 && grid_[2] == 1;
  ids_.me = flat && random_.chance(60) ? writer_.id(GridIdKind::Invocation, 0)
                                       : writer_.add(writer_.times(ids_.group, ids_.invocations), ids_.local);
  for (ExprId* id : {&ids_.local, &ids_.group, &ids_.me}) {
    if (!random_.chance(50)) continue;
    spend(*id);
    const bool uniform = writer_.of(*id).uniform;
    writer_.to().let(declare_variable(DataType::U32, false, uniform), *id);
    *id = var(variables_.back());
  }
}

Arrays Generator::arrays() {
  Arrays result;
  for (const Memory& memory : memory_) {
    if (!ir::is_bound(memory.decl.access)) continue;
    Array array;
    array.buffer = memory.decl.name;
    array.zeros = memory.zeros;
    // Bytes: any length, whole words or not.
    const bool bytes = memory.decl.element == DataType::Bytes;
    const std::size_t size = bytes ? std::size_t{memory.length} * 3 : std::size_t{memory.length} * ir::min_bytes(memory.decl.element);
    array.bytes.resize(size);
    if (!memory.zeros) scramble(array.bytes, random_);
    result.push_back(std::move(array));
  }
  return result;
}

std::vector<Arrays> Generator::later(const Arrays& first) {
  std::vector<Arrays> result;
  if (options_.plant) return result;  // checked execution looks at one call
  std::vector<bool> is_uniform;
  for (const Memory& memory : memory_) {
    if (ir::is_bound(memory.decl.access)) is_uniform.push_back(memory.decl.access == BufferAccess::Uniform);
  }
  const bool any_uniform = std::ranges::find(is_uniform, true) != is_uniform.end();
  // A backend may compile a kernel for words that come again, for as many as four: some programs have more, and have them again.
  const std::uint32_t count = any_uniform ? (random_.chance(8) ? 6 : 1) : (random_.chance(30) ? 1 : 0);
  for (std::uint32_t k = 0; k < count; ++k) {
    // Words of a call before, or new ones in some places; what else the host gives stays, or is new.
    const std::size_t before = random_.below(k + 1);
    Arrays arrays = before == 0 ? first : result[before - 1];
    const bool same_words = k > 0 && random_.chance(35), same_rest = any_uniform && random_.chance(50);
    for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
      if (arrays[slot].zeros || (is_uniform[slot] ? same_words : same_rest)) continue;
      const std::vector<std::byte> old = arrays[slot].bytes;
      scramble(arrays[slot].bytes, random_);
      if (!is_uniform[slot] || random_.chance(60)) continue;
      for (std::size_t at = 0; at < old.size(); at += 4) {
        if (random_.chance(50)) std::copy_n(old.begin() + at, std::min<std::size_t>(4, old.size() - at), arrays[slot].bytes.begin() + at);
      }
    }
    result.push_back(std::move(arrays));
  }
  return result;
}

}  // namespace vyre::fuzz
