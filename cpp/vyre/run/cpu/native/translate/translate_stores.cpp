// Translates stores. What translate_memory.cpp says of loads holds here: rows go in one access, other elements lane by lane, and the memory
// of lanes that are not active, or whose index is out of range, is never touched.
#include <array>
#include <cstddef>

#include "vyre/run/cpu/native/translate/accesses.hpp"

namespace vyre::run::cpu::native {
namespace {

// From each of `pieces` places one word after the other, then the next one from each.
std::array<std::uint32_t, 16> words_in_turns(std::uint32_t first, std::uint32_t pieces) {
  std::array<std::uint32_t, 16> words{};
  for (std::uint32_t k = 0; k < 16; ++k) words[k] = first + k / pieces + 32 / pieces * (k % pieces);
  return words;
}

}  // namespace

void Translator::store(std::uint32_t position) {
  const Instruction& i = at(position);
  const AccessedArray accessed = accessed_array(i, i.bounded || analysis_.selected[position] == Selected::BoundedStore);
  varies(i.a) || varies(i.b) ? access_lanes(position, accessed) : store_word(i, accessed);
}

void Translator::store_word(const Instruction& i, const AccessedArray& accessed) {
  Label end;
  index_of_word(i, accessed, end);
  if (accessed.narrow != 0) {
    get(a_.ecx, cell_of(i.b));
    accessed.narrow == 1 ? a_.mov(a_.byte[a_.rdx + a_.rax], a_.cl) : a_.mov(a_.word[a_.rdx + a_.rax * 2], a_.cx);
  } else {
    for (std::uint32_t lane = 0; lane < accessed.lanes; ++lane) {
      const CellId value = cell_of(i.b, lane);
      const Reg32 from = in_register(value) ? Reg32(homes_.of[value].reg) : a_.ecx;
      get(from, value);
      a_.mov(word_of_element(i, accessed, lane), from);
    }
  }
  a_.L(end);
}

void Translator::store_masked_row(const Instruction& i, const AccessedArray& accessed, int part) {
  const Active active = active_lanes(accessed, index_of(i, part), part);
  row_to_rax(i, part);
  fix_wrapped_row();
  base_to_rdx(accessed);
  const Xmm value = in(cell_of(i.b), part, 1);
  const Address to = a_.ptr[a_.rdx + a_.rax * 4];
  if (a_.wide()) return a_.store_masked(to, active.mask, value);
  // Except with AVX-512, a masked store takes many times as long as a plain store.
  Label some, end;
  a_.mask_bits(a_.ecx, active.mask);
  a_.cmp(a_.ecx, (1u << a_.width()) - 1);
  a_.jne(some);
  a_.store(to, value);
  a_.jmp(end);
  a_.L(some);
  a_.store_masked(to, active.mask, value);
  a_.L(end);
}

bool Translator::may_stream(const Instruction& i, const AccessedArray& accessed) const {
  return accessed.stores && !accessed.shared && analysis_.streamed[i.imm] && (accessed.lanes == 1 || a_.wide());
}

// Stores a row past the caches where the buffer's extent says so. Stores of that kind need whole vectors that are aligned; other rows,
// which begin anywhere, take the plain stores.
void Translator::stream_row(std::uint32_t position, const AccessedArray& accessed, int part, int parts, Label& plain, Label& back) {
  auto* const stream = new_label();
  a_.cmp(extent(accessed, offsetof(Extent, streams)), 0);
  a_.jne(*stream);
  a_.later([=, this, &plain, &back] {
    a_.L(*stream);
    a_.lea(a_.rcx, accessed.lanes == 1 ? a_.ptr[a_.rdx + a_.rax * 4] : a_.ptr[a_.rdx]);
    a_.test(a_.ecx, a_.vector_bytes() - 1);
    a_.jnz(plain);
    streaming_ = true;
    for (int each = 0; each < parts; ++each) store_vector(at(position), accessed, part + each, each * a_.width());
    streaming_ = false;
    a_.jmp(back);
  });
}

void Translator::store_vector(const Instruction& i, const AccessedArray& accessed, int part, int elements) {
  if (accessed.lanes != 1) return store_pieces(i, accessed, part, elements);
  const Xmm value = in(cell_of(i.b), part, 1);
  if (accessed.narrow != 0) return store_narrow_row(accessed, value, elements);
  store_in_row(a_.ptr[a_.rdx + a_.rax * 4 + std::size_t{4} * elements], value);
}

void Translator::store_in_row(const Address& to, const Xmm& value) { streaming_ ? a_.vmovntdq(to, value) : a_.store(to, value); }

// Stores the words of a vector from rdx on, each `apart` words after the one before.
void Translator::store_words(const Instruction& i, int part, int apart) {
  using Xbyak::Ymm;
  using Xbyak::Zmm;
  const Xmm value = in(cell_of(i.b), part, 1);
  for (int quarter = 0; quarter < a_.width() / 4; ++quarter) {
    const Xmm four(quarter == 0 ? value.getIdx() : 2);
    if (quarter != 0 && a_.wide()) a_.vextracti32x4(four, Zmm(value.getIdx()), static_cast<std::uint8_t>(quarter));
    if (quarter != 0 && !a_.wide()) a_.vextracti128(four, Ymm(value.getIdx()), 1);
    for (int word = 0; word < 4; ++word) {
      const int offset = 4 * (4 * quarter + word) * apart;
      const Address to = a_.dword[a_.rdx + offset];
      word == 0 ? a_.vmovd(to, four) : a_.vpextrd(to, four, static_cast<std::uint8_t>(word));
    }
  }
}

// The inverse of load_pieces.
void Translator::store_pieces(const Instruction& i, const AccessedArray& accessed, int part, int elements, int apart) {
  using Xbyak::Ymm;
  using Xbyak::Zmm;
  const int quarters = a_.width() / 4, begin = elements * static_cast<int>(4 * accessed.lanes);
  if (a_.wide() && apart == 1) return store_elements(i, accessed, part, begin);
  const auto scatter_pieces = [&](int from, int first, int step) {
    a_.vmovdqu(a_.ptr[a_.rdx + (begin + 16 * first * apart)], Xbyak::Xmm(from));
    for (int quarter = 1; quarter < quarters; ++quarter) {
      const Address piece = a_.ptr[a_.rdx + (begin + 16 * (first + quarter * step) * apart)];
      if (a_.wide()) {
        a_.vextracti32x4(piece, Zmm(from), static_cast<std::uint8_t>(quarter));
      } else {
        a_.vextracti128(piece, Ymm(from), 1);
      }
    }
  };
  if (accessed.lanes == 2) {
    const Xmm low = in(cell_of(i.b, 0), part, 0), high = in(cell_of(i.b, 1), part, 1);
    a_.vpunpckldq(a_.v(2), low, high);
    a_.vpunpckhdq(a_.v(3), low, high);
    scatter_pieces(2, 0, 2);
    scatter_pieces(3, 1, 2);
    return;
  }
  // Interleaves words 0 and 1 of the lanes in vectors 2 and 3, and words 2 and 3 of the lanes in vectors 4 and 1.
  const Xmm first = in(cell_of(i.b, 0), part, 0), second = in(cell_of(i.b, 1), part, 1);
  a_.vpunpckldq(a_.v(2), first, second);
  a_.vpunpckhdq(a_.v(3), first, second);
  const Xmm third = in(cell_of(i.b, 2), part, 0), fourth = in(cell_of(i.b, 3), part, 1);
  a_.vpunpckldq(a_.v(4), third, fourth);
  a_.vpunpckhdq(a_.v(1), third, fourth);
  a_.vpunpcklqdq(a_.v(0), a_.v(2), a_.v(4));
  scatter_pieces(0, 0, 4);
  a_.vpunpckhqdq(a_.v(0), a_.v(2), a_.v(4));
  scatter_pieces(0, 1, 4);
  a_.vpunpcklqdq(a_.v(0), a_.v(3), a_.v(1));
  scatter_pieces(0, 2, 4);
  a_.vpunpckhqdq(a_.v(0), a_.v(3), a_.v(1));
  scatter_pieces(0, 3, 4);
}

// The inverse of load_elements.
void Translator::store_elements(const Instruction& i, const AccessedArray& accessed, int part, int begin) {
  using Xbyak::Zmm;
  const auto vector = [&](int which) { return a_.ptr[a_.rdx + (begin + 64 * which)]; };
  const auto store_words = [&](int which, const std::array<std::uint32_t, 16>& words, const Xmm& first, const Xmm& second) {
    a_.load(a_.v(2), a_.constant_words(words));
    a_.vpermi2d(a_.v(2), first, second);
    store_in_row(vector(which), a_.v(2));
  };
  if (accessed.lanes == 2) {
    const Xmm low = in(cell_of(i.b, 0), part, 0), high = in(cell_of(i.b, 1), part, 1);
    for (int half = 0; half < 2; ++half) store_words(half, words_in_turns(8 * static_cast<std::uint32_t>(half), 2), low, high);
    return;
  }
  for (int half = 0; half < 2; ++half) {
    // Words 0 and 1 of eight elements, then words 2 and 3.
    for (std::uint32_t pair = 0; pair < 2; ++pair) {
      const int to = pair == 0 ? 3 : 4;
      const Xmm even = in(cell_of(i.b, 2 * pair), part, 0), odd = in(cell_of(i.b, 2 * pair + 1), part, 1);
      a_.vshufi64x2(Zmm(to), Zmm(even.getIdx()), Zmm(odd.getIdx()), half == 0 ? 0x44 : 0xEE);
    }
    for (std::uint32_t quarter = 0; quarter < 2; ++quarter) {
      store_words(2 * half + static_cast<int>(quarter), words_in_turns(4 * quarter, 4), a_.v(3), a_.v(4));
    }
  }
}

// Stores the low byte or the low two bytes of each lane of a vector, side by side.
void Translator::store_narrow_row(const AccessedArray& accessed, const Xmm& value, int elements) {
  using Xbyak::Ymm;
  using Xbyak::Zmm;
  const Address to = accessed.narrow == 1 ? a_.ptr[a_.rdx + a_.rax + elements] : a_.ptr[a_.rdx + a_.rax * 2 + std::size_t{2} * elements];
  if (a_.wide()) {
    accessed.narrow == 1 ? a_.vpmovdb(to, value) : a_.vpmovdw(to, value);
    return;
  }
  constexpr std::array<std::uint8_t, 16> kBytes = {0, 4, 8, 12, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128};
  constexpr std::array<std::uint8_t, 16> kHalves = {0, 1, 4, 5, 8, 9, 12, 13, 128, 128, 128, 128, 128, 128, 128, 128};
  a_.vpshufb(a_.v(1), value, a_.constant_bytes(accessed.narrow == 1 ? kBytes : kHalves));
  if (a_.narrow()) return accessed.narrow == 1 ? a_.vmovd(to, a_.v(1)) : a_.vmovq(to, a_.v(1));
  a_.vextracti128(Xbyak::Xmm(2), Ymm(1), 1);
  if (accessed.narrow == 1) {
    a_.vpunpckldq(Xbyak::Xmm(1), Xbyak::Xmm(1), Xbyak::Xmm(2));
    a_.vmovq(to, Xbyak::Xmm(1));
  } else {
    a_.vpunpcklqdq(Xbyak::Xmm(1), Xbyak::Xmm(1), Xbyak::Xmm(2));
    a_.vmovdqu(to, Xbyak::Xmm(1));
  }
}

void Translator::store_each(const Instruction& i, const AccessedArray& accessed, int part) {
  const Xmm index = index_of(i, part);
  for (std::uint32_t lane = 0; lane < accessed.lanes; ++lane) {
    a_.store(frame(scratch_memory_ + kValues + 64 * lane), in(cell_of(i.b, lane), part, 1));
  }
  for_each_lane(index, accessed, &index, part, [&] {
    base_to_rdx(accessed);
    if (accessed.narrow != 0) {
      accessed.narrow == 1 ? a_.add(a_.r11, a_.rdx) : a_.lea(a_.r11, a_.ptr[a_.rdx + a_.r11 * 2]);
      a_.mov(a_.edx, a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kValues)]);
      accessed.narrow == 1 ? a_.mov(a_.byte[a_.r11], a_.dl) : a_.mov(a_.word[a_.r11], a_.dx);
      return;
    }
    if (accessed.lanes == 4) a_.add(a_.r11, a_.r11);
    a_.lea(a_.r11, accessed.lanes == 1 ? a_.ptr[a_.rdx + a_.r11 * 4] : a_.ptr[a_.rdx + a_.r11 * 8]);
    for (std::uint32_t lane = 0; lane < accessed.lanes; ++lane) {
      a_.mov(a_.edx, a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kValues + 64 * lane)]);
      a_.mov(a_.dword[a_.r11 + std::size_t{4} * lane], a_.edx);
    }
  });
}

}  // namespace vyre::run::cpu::native
