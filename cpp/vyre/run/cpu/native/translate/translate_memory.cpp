// Translates loads, and what they share with stores (translate_stores.cpp) and atomics (translate_atomics.cpp). If neighbouring lanes
// access neighbouring elements, one access with one bounds check serves all of them. Other elements are gathered, or accessed one lane
// after the other. The memory of lanes that are not active, or whose index is out of range, is never touched.
#include <algorithm>
#include <cstddef>

#include "vyre/run/cpu/native/translate/accesses.hpp"

namespace vyre::run::cpu::native {
namespace {

// The words first, first + step and so on of two vectors, of which the first one has 0 to 15.
std::array<std::uint32_t, 16> words_from(std::uint32_t first, std::uint32_t step) {
  std::array<std::uint32_t, 16> words{};
  for (std::uint32_t k = 0; k < 16; ++k) words[k] = first + step * k;
  return words;
}
// Half as many, and then as many from another place on.
std::array<std::uint32_t, 16> words_from_both(std::uint32_t first, std::uint32_t second, std::uint32_t step) {
  std::array<std::uint32_t, 16> words{};
  for (std::uint32_t k = 0; k < 16; ++k) words[k] = (k < 8 ? first : second) + step * (k % 8);
  return words;
}
}  // namespace

Translator::AccessedArray Translator::accessed_array(const Instruction& i, bool bounded) const {
  AccessedArray accessed{.bounded = bounded, .stores = i.op == Opcode::StoreBuffer || i.op == Opcode::StoreShared};
  const bool shared = i.shared || i.op == Opcode::LoadShared || i.op == Opcode::StoreShared;
  if (shared) {
    const lower::SharedArray& array = kernel_.shared[i.imm];
    accessed.extent = static_cast<std::uint32_t>(kernel_.buffers.size()) + i.imm;
    accessed.lanes = array.lanes;
    accessed.shared = true;
    accessed.count = array.count;
  } else {
    const lower::KernelBuffer& buffer = kernel_.buffers[i.imm];
    accessed.extent = i.imm;
    accessed.lanes = buffer.lanes;
    accessed.narrow = buffer.narrow;
    accessed.extend = buffer.extend;
  }
  return accessed;
}

Translator::Address Translator::extent(const AccessedArray& accessed, std::size_t member) {
  return a_.qword[a_.r15 + (offsetof(Context, extents) + sizeof(Extent) * accessed.extent + member)];
}
void Translator::base_to_rdx(const AccessedArray& accessed) { a_.mov(a_.rdx, extent(accessed, offsetof(Extent, words))); }

// Returns the lanes that are active and whose index is in range. Overwrites vector 2, and except with AVX-512 vector 3, which then holds
// the mask.
Translator::Active Translator::active_lanes(const AccessedArray& accessed, const Xmm& index, int part) {
  if (!accessed.bounded) return {exec(part), !masked_};
  const int to = mask_scratch(0);
  Mask in_range{to};
  if (accessed.count) {
    in_range = a_.compare(Opcode::Lt, index, a_.constant(*accessed.count), nullptr, to);
  } else {
    const Address length = a_.dword[a_.r15 + (offsetof(Context, extents) + sizeof(Extent) * accessed.extent + offsetof(Extent, length))];
    a_.broadcast(a_.v(2), length);
    const Xmm lengths = a_.v(2);
    in_range = a_.compare(Opcode::Lt, index, lengths, &lengths, to);
  }
  if (masked_) {
    a_.mask_and(to, exec(part), in_range);
  } else if (in_range.inverted) {
    a_.mask_copy(to, in_range);
  }
  return {to, false};
}

// Returns the mask in a scratch register, where it may be destroyed.
int Translator::active_mask(const Active& active) {
  const int to = mask_scratch(0);
  if (active.all) {
    a_.mask_all(to);
  } else if (active.mask != to) {
    a_.mask_copy(to, {active.mask});
  }
  return to;
}

// rax is the index of the first lane of a row. If the indices of the row wrap around at 2^32, rax becomes negative.
void Translator::fix_wrapped_row() {
  a_.movsxd(a_.rcx, a_.eax);
  a_.cmp(a_.eax, -a_.width());
  a_.cmova(a_.rax, a_.rcx);
}

// --- Loads and stores whose lanes differ ---

void Translator::access_lanes(std::uint32_t position, const AccessedArray& accessed) {
  const Instruction& i = at(position);
  if (is_line(i) && !masked_) return access_row(position, accessed, 0, parts_);
  for (int part = 0; part < parts_; ++part) {
    if (const std::uint32_t apart = elements_apart(i, accessed); apart != 0) {
      access_apart(position, accessed, part, apart);
    } else if (!is_line(i) && analysis_.strides[i.a.index] != 1u) {
      access_each(position, accessed, part);
    } else if (masked_) {
      access_masked_row(position, accessed, part);
    } else {
      access_row(position, accessed, part, 1);
    }
  }
}

// Accesses elements anywhere: stores them and loads narrow ones lane by lane, and gathers others.
void Translator::access_each(std::uint32_t position, const AccessedArray& accessed, int part) {
  if (accessed.stores) return store_each(at(position), accessed, part);
  accessed.narrow != 0 ? load_each(position, accessed, part) : load_gather(position, accessed, part);
}

// Accesses `parts` parts from `part` on, whose elements are consecutive in memory.
void Translator::access_row(std::uint32_t position, const AccessedArray& accessed, int part, int parts) {
  row_to_rax(at(position), part);
  base_to_rdx(accessed);
  auto *const plain = new_label(), *const back = new_label();
  if (accessed.bounded) {
    auto* const slow = new_label();
    a_.cmp(a_.rax, extent(accessed, parts == parts_ ? offsetof(Extent, full) : offsetof(Extent, full_vector)));
    a_.jg(*slow);
    a_.later([=, this] {
      a_.L(*slow);
      masked_ = false;
      for (int each = part; each < part + parts; ++each) access_each(position, accessed, each);
      a_.jmp(*back);
    });
  }
  if (accessed.lanes != 1) {
    a_.shl(a_.rax, log2_of(4 * accessed.lanes));
    a_.add(a_.rdx, a_.rax);
  }
  if (may_stream(at(position), accessed)) stream_row(position, accessed, part, parts, *plain, *back);
  a_.L(*plain);
  for (int each = 0; each < parts; ++each) {
    const int elements = each * a_.width();
    accessed.stores ? store_vector(at(position), accessed, part + each, elements) : load_vector(position, accessed, part + each, elements);
  }
  a_.L(*back);
}

void Translator::access_masked_row(std::uint32_t position, const AccessedArray& accessed, int part) {
  if (accessed.narrow == 0 && accessed.lanes == 1) {
    return accessed.stores ? store_masked_row(at(position), accessed, part) : load_masked_row(position, accessed, part);
  }
  auto* const back = new_label();
  when_some_lanes(part, [=, this] {
    access_each(position, accessed, part);
    a_.jmp(*back);
  });
  keeping_mask(accessed, [&] { access_row(position, accessed, part, 1); });
  a_.L(*back);
}

// Accesses elements that lie `apart` elements from each other.
void Translator::access_apart(std::uint32_t position, const AccessedArray& accessed, int part, std::uint32_t apart) {
  auto *const outside = new_label(), *const back = new_label();
  const auto each = [=, this] {
    access_each(position, accessed, part);
    a_.jmp(*back);
  };
  if (masked_) when_some_lanes(part, each);
  if (accessed.bounded) {
    a_.later([=, this] {
      a_.L(*outside);
      masked_ = false;
      each();
    });
  }
  const auto pieces = [&] {
    const auto distance = static_cast<int>(apart);
    first_of_apart(at(position), accessed, part, apart, *outside);
    if (!accessed.stores) return load_pieces(position, accessed, part, 0, distance);
    accessed.lanes == 1 ? store_words(at(position), part, distance) : store_pieces(at(position), accessed, part, 0, distance);
  };
  masked_ ? keeping_mask(accessed, pieces) : pieces();
  a_.L(*back);
}

// --- Loads ---

void Translator::load(std::uint32_t position) {
  const Instruction& i = at(position);
  // Where nothing uses the value, nothing may have computed the index either.
  if (std::ranges::none_of(analysis_.of_value[position], [this](CellId id) { return id != kNone && is_needed(id); })) return;
  const AccessedArray accessed = accessed_array(i, i.bounded);
  varies(position) ? access_lanes(position, accessed) : load_word(position, accessed);
}

// rax = the index of the first lane of the part.
void Translator::row_to_rax(const Instruction& i, int part) {
  if (!is_line(i)) return a_.vmovd(a_.eax, Xbyak::Xmm(in(cell_of(i.a), part, 0).getIdx()));
  get(a_.eax, analysis_.first_lane[i.a.index]);
  if (part != 0) a_.add(a_.eax, part * a_.width());
}

Translator::Xmm Translator::index_of(const Instruction& i, int part) {
  if (!is_line(i)) return in(cell_of(i.a), part, 0);
  row_to_rax(i, part);
  a_.vmovd(Xbyak::Xmm(0), a_.eax);
  a_.broadcast(a_.v(0), Xbyak::Xmm(0));
  a_.vpaddd(a_.v(0), a_.v(0), a_.count_up());
  return a_.v(0);
}

// Whether the element that all lanes access has a constant index, which fits into an instruction together with the words before it.
bool Translator::has_constant_index(const Instruction& i, const AccessedArray& accessed) const {
  constexpr std::uint32_t kMost = 1u << 20;
  return accessed.narrow == 0 && is_constant(i.a) && at(i.a).imm < kMost;
}

// rdx = the base of the array, and rax = the index of the element that all lanes access, in words unless elements are narrow; rax is not
// used where the index is a constant. Jumps to `outside` where the index is out of range.
void Translator::index_of_word(const Instruction& i, const AccessedArray& accessed, Label& outside) {
  base_to_rdx(accessed);
  if (has_constant_index(i, accessed)) {
    if (!accessed.bounded) return;
    a_.cmp(extent(accessed, offsetof(Extent, length)), at(i.a).imm);
    return a_.jbe(outside);
  }
  get(a_.eax, cell_of(i.a));
  if (accessed.bounded) {
    a_.cmp(a_.rax, extent(accessed, offsetof(Extent, length)));
    a_.jae(outside);
  }
  if (accessed.narrow == 0 && accessed.lanes != 1) a_.shl(a_.rax, log2_of(accessed.lanes));
}

// A word of that element.
Translator::Address Translator::word_of_element(const Instruction& i, const AccessedArray& accessed, std::uint32_t lane) {
  if (has_constant_index(i, accessed)) return a_.dword[a_.rdx + std::size_t{4} * (accessed.lanes * at(i.a).imm + lane)];
  return a_.dword[a_.rdx + a_.rax * 4 + std::size_t{4} * lane];
}

// Loads the narrow element at `index` of the array at rdx.
void Translator::load_narrow(const Reg32& to, const AccessedArray& accessed, const Reg64& index) {
  const Address from = accessed.narrow == 1 ? a_.byte[a_.rdx + index] : a_.word[a_.rdx + index * 2];
  accessed.extend == ir::Extend::Sign ? a_.movsx(to, from) : a_.movzx(to, from);
}

void Translator::load_word(std::uint32_t position, const AccessedArray& accessed) {
  const Instruction& i = at(position);
  Label outside, end;
  index_of_word(i, accessed, outside);
  if (accessed.narrow != 0) {
    load_narrow(a_.ecx, accessed, a_.rax);
    put(cell_of_result(position, 0), a_.ecx);
  } else {
    for (std::uint32_t lane = 0; lane < accessed.lanes; ++lane) {
      const CellId dest = cell_of_result(position, lane);
      if (!is_needed(dest)) continue;
      const Reg32 to = word_target(dest, a_.ecx);
      a_.mov(to, word_of_element(i, accessed, lane));
      put(dest, to);
    }
  }
  if (!accessed.bounded) return;
  a_.jmp(end);
  a_.L(outside);
  a_.xor_(a_.ecx, a_.ecx);
  for (std::uint32_t lane = 0; lane < accessed.lanes; ++lane) put(cell_of_result(position, lane), a_.ecx);
  a_.L(end);
}

void Translator::load_masked_row(std::uint32_t position, const AccessedArray& accessed, int part) {
  const Instruction& i = at(position);
  const CellId dest = cell_of_result(position, 0);
  if (!is_needed(dest)) return;
  const Xmm index = index_of(i, part);
  const Active active = active_lanes(accessed, index, part);
  row_to_rax(i, part);
  fix_wrapped_row();
  base_to_rdx(accessed);
  const Xmm to = target(dest, part, 1);
  a_.load_masked(to, active.mask, a_.ptr[a_.rdx + a_.rax * 4]);
  out(dest, part, to);
}

void Translator::load_vector(std::uint32_t position, const AccessedArray& accessed, int part, int elements) {
  if (accessed.lanes != 1) return load_pieces(position, accessed, part, elements);
  const CellId dest = cell_of_result(position, 0);
  const Xmm to = target(dest, part, 1);
  const bool is_signed = accessed.extend == ir::Extend::Sign;
  if (accessed.narrow == 1) {
    const Address from = a_.ptr[a_.rdx + a_.rax + elements];
    is_signed ? a_.vpmovsxbd(to, from) : a_.vpmovzxbd(to, from);
  } else if (accessed.narrow == 2) {
    const Address from = a_.ptr[a_.rdx + a_.rax * 2 + std::size_t{2} * elements];
    is_signed ? a_.vpmovsxwd(to, from) : a_.vpmovzxwd(to, from);
  } else {
    a_.load(to, a_.ptr[a_.rdx + a_.rax * 4 + std::size_t{4} * elements]);
  }
  out(dest, part, to);
}

// Returns how many elements lie between the elements of neighbouring lanes, if each element is accessed in one piece; otherwise 0. Single
// words are stored in this way, but loaded by a gather.
std::uint32_t Translator::elements_apart(const Instruction& i, const AccessedArray& accessed) const {
  constexpr std::uint32_t kMost = 1u << 16;  // the offsets of all lanes fit into an instruction
  const std::optional<std::uint32_t> stride = analysis_.strides[i.a.index];
  const bool in_pieces = accessed.lanes == 4 || (accessed.lanes == 1 && accessed.narrow == 0 && i.b.valid());
  return in_pieces && !is_line(i) && stride && *stride > 1 && *stride <= kMost ? *stride : 0;
}

// rdx = where the element of the first lane is. Jumps to `outside` where the last lane's index is out of range. That index is computed with
// 64 bits, and arrays are much shorter than 2^32 elements, so that no index in between wraps around.
void Translator::first_of_apart(const Instruction& i, const AccessedArray& accessed, int part, std::uint32_t apart, Label& outside) {
  row_to_rax(i, part);
  base_to_rdx(accessed);
  if (accessed.bounded) {
    a_.lea(a_.rcx, a_.ptr[a_.rax + (static_cast<std::size_t>(a_.width()) - 1) * apart]);
    a_.cmp(a_.rcx, extent(accessed, offsetof(Extent, length)));
    a_.jae(outside);
  }
  a_.shl(a_.rax, log2_of(4 * accessed.lanes));
  a_.add(a_.rdx, a_.rax);
}

// Loads elements of two or four words, from rdx on. Pieces of four words are loaded into the 128-bit quarters of vectors in an order
// such that shuffles within quarters collect word k of all lanes in one vector. Elements of four words may lie `apart` from each other.
void Translator::load_pieces(std::uint32_t position, const AccessedArray& accessed, int part, int elements, int apart) {
  using Xbyak::Ymm;
  using Xbyak::Zmm;
  const int quarters = a_.width() / 4, begin = elements * static_cast<int>(4 * accessed.lanes);
  if (a_.wide() && apart == 1) return load_elements(position, accessed, part, begin);
  const auto gather_pieces = [&](int to, int first, int step) {
    a_.vmovdqu(Xbyak::Xmm(to), a_.ptr[a_.rdx + (begin + 16 * first * apart)]);
    for (int quarter = 1; quarter < quarters; ++quarter) {
      const Address piece = a_.ptr[a_.rdx + (begin + 16 * (first + quarter * step) * apart)];
      if (a_.wide()) {
        a_.vinserti32x4(Zmm(to), Zmm(to), piece, static_cast<std::uint8_t>(quarter));
      } else {
        a_.vinserti128(Ymm(to), Ymm(to), piece, 1);
      }
    }
  };
  if (accessed.lanes == 2) {
    gather_pieces(0, 0, 2);
    gather_pieces(1, 1, 2);
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      const CellId dest = cell_of_result(position, lane);
      if (!is_needed(dest)) continue;
      const Xmm to = target(dest, part, 2);
      a_.vshufps(to, a_.v(0), a_.v(1), lane == 0 ? 0x88 : 0xDD);
      out(dest, part, to);
    }
    return;
  }
  for (int k = 0; k < 4; ++k) gather_pieces(k, k, 4);
  a_.vpunpckldq(a_.v(4), a_.v(0), a_.v(1));
  a_.vpunpckhdq(a_.v(0), a_.v(0), a_.v(1));
  a_.vpunpckldq(a_.v(1), a_.v(2), a_.v(3));
  a_.vpunpckhdq(a_.v(2), a_.v(2), a_.v(3));
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    const CellId dest = cell_of_result(position, lane);
    if (!is_needed(dest)) continue;
    const Xmm to = target(dest, part, 3), low = a_.v(lane < 2 ? 4 : 0), high = a_.v(lane < 2 ? 1 : 2);
    lane % 2 == 0 ? a_.vpunpcklqdq(to, low, high) : a_.vpunpckhqdq(to, low, high);
    out(dest, part, to);
  }
}

// Loads elements of two or four words, which follow each other from rdx + begin on, and collects word k of all of them. AVX-512 only.
void Translator::load_elements(std::uint32_t position, const AccessedArray& accessed, int part, int begin) {
  const auto vector = [&](int which) { return a_.ptr[a_.rdx + (begin + 64 * which)]; };
  const auto collect = [&](const Xmm& to, const std::array<std::uint32_t, 16>& words, int first) {
    a_.load(to, a_.constant_words(words));
    a_.vpermi2d(to, a_.v(4), vector(first + 1));
  };
  if (accessed.lanes == 2) {
    a_.load(a_.v(4), vector(0));
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      const CellId dest = cell_of_result(position, lane);
      if (!is_needed(dest)) continue;
      const Xmm to = target(dest, part, 0);
      collect(to, words_from(lane, 2), 0);
      out(dest, part, to);
    }
    return;
  }
  // Words 0 and 1 of eight elements, words 2 and 3 of them, and the same of the other eight.
  for (int half = 0; half < 2; ++half) {
    a_.load(a_.v(4), vector(2 * half));
    for (std::uint32_t lane = 0; lane < 4; lane += 2) {
      const bool any = is_needed(cell_of_result(position, lane)) || is_needed(cell_of_result(position, lane + 1));
      if (any) collect(a_.v(2 * half + static_cast<int>(lane) / 2), words_from_both(lane, lane + 1, 4), 2 * half);
    }
  }
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    const CellId dest = cell_of_result(position, lane);
    if (!is_needed(dest)) continue;
    const Xmm to = target(dest, part, 4);
    const int pair = static_cast<int>(lane) / 2;
    a_.vshufi64x2(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(pair), Xbyak::Zmm(2 + pair), lane % 2 == 0 ? 0x44 : 0xEE);
    out(dest, part, to);
  }
}

void Translator::load_gather(std::uint32_t position, const AccessedArray& accessed, int part) {
  const Instruction& i = at(position);
  for (std::uint32_t lane = 0; lane < accessed.lanes; ++lane) {
    const CellId dest = cell_of_result(position, lane);
    if (!is_needed(dest)) continue;
    const Xmm index = index_of(i, part);
    const int mask = active_mask(active_lanes(accessed, index, part));
    base_to_rdx(accessed);
    const Xmm to = target(dest, part, 1);
    if (accessed.lanes == 4) {
      a_.vpaddd(a_.v(2), index, index);
      a_.gather(to, a_.rdx, static_cast<int>(4 * lane), a_.v(2), 8, mask);
    } else {
      a_.gather(to, a_.rdx, static_cast<int>(4 * lane), index, static_cast<int>(4 * accessed.lanes), mask);
    }
    out(dest, part, to);
  }
}

// Loads narrow elements, one lane after the other.
void Translator::load_each(std::uint32_t position, const AccessedArray& accessed, int part) {
  const Instruction& i = at(position);
  const CellId dest = cell_of_result(position, 0);
  if (!is_needed(dest)) return;
  const Xmm index = index_of(i, part);
  a_.zero(a_.v(1));
  a_.store(frame(scratch_memory_ + kResults), a_.v(1));
  base_to_rdx(accessed);
  for_each_lane(index, accessed, &index, part, [&] {
    load_narrow(a_.r11d, accessed, a_.r11);
    a_.mov(a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kResults)], a_.r11d);
  });
  const Xmm to = target(dest, part, 1);
  a_.load(to, frame(scratch_memory_ + kResults));
  out(dest, part, to);
}

}  // namespace vyre::run::cpu::native
