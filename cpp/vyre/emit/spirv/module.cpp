#include "vyre/emit/spirv/module.hpp"

#include <algorithm>

#include "vyre/base/assert.hpp"

namespace vyre::spirv {
namespace {

constexpr Word kVersion = 0x00010500;
// An instruction's length has 16 bits.
constexpr std::size_t kMaxWords = 0xFFFF;

}  // namespace

void Module::add(Section section, spv::Op op, std::span<const Word> operands) {
  VYRE_ASSERT(operands.size() < kMaxWords);
  const std::size_t count = operands.size() + 1;
  Word* const first = sections_[static_cast<std::size_t>(section)].extend(count);
  *first = static_cast<Word>(count) << spv::WordCountShift | static_cast<Word>(op);
  std::ranges::copy(operands, first + 1);
}

Word Module::add_result(Section section, spv::Op op, Word type, std::initializer_list<Word> operands) {
  const Word id = fresh();
  const std::size_t count = operands.size() + 3;
  Word* next = sections_[static_cast<std::size_t>(section)].extend(count);
  *next++ = static_cast<Word>(count) << spv::WordCountShift | static_cast<Word>(op);
  *next++ = type;
  *next++ = id;
  // Instructions have few operands: a loop is faster than a copy.
  for (const Word operand : operands) *next++ = operand;
  return id;
}

void Module::decorate(Word target, std::initializer_list<Word> decoration) {
  std::vector<Word> operands{target};
  operands.insert(operands.end(), decoration);
  add(Section::Decorations, spv::OpDecorate, operands);
}

void Module::decorate_member(Word type, Word member, std::initializer_list<Word> decoration) {
  std::vector<Word> operands{type, member};
  operands.insert(operands.end(), decoration);
  add(Section::Decorations, spv::OpMemberDecorate, operands);
}

Word Module::type(spv::Op op, std::initializer_list<Word> operands) {
  std::vector<Word> key{static_cast<Word>(op)};
  key.insert(key.end(), operands);
  if (const auto known = types_.find(key); known != types_.end()) return known->second;
  const Word id = distinct_type(op, operands);
  types_.emplace(std::move(key), id);
  return id;
}

Word Module::distinct_type(spv::Op op, std::initializer_list<Word> operands) {
  const Word id = fresh();
  std::vector<Word> words{id};
  words.insert(words.end(), operands);
  add(Section::Globals, op, words);
  return id;
}

Word Module::uints(std::uint32_t lanes) {
  Word& id = uints_[lanes];
  if (id == 0) id = lanes == 1 ? type(spv::OpTypeInt, {32, 0}) : type(spv::OpTypeVector, {uint(), lanes});
  return id;
}

Word Module::constant(Word bits) {
  if (const auto known = constants_.find(bits); known != constants_.end()) return known->second;
  const Word type = uint();
  const Word id = add_result(Section::Globals, spv::OpConstant, type, {bits});
  constants_.emplace(bits, id);
  return id;
}

Word Module::null(Word type) {
  if (const auto known = nulls_.find(type); known != nulls_.end()) return known->second;
  const Word id = add_result(Section::Globals, spv::OpConstantNull, type, {});
  nulls_.emplace(type, id);
  return id;
}

Word Module::variable(Section section, spv::StorageClass storage, Word pointee, Word initial) {
  const Word type = pointer(storage, pointee), kind = static_cast<Word>(storage);
  if (initial == 0) return add_result(section, spv::OpVariable, type, {kind});
  return add_result(section, spv::OpVariable, type, {kind, initial});
}

std::vector<Word> Module::words() const {
  std::size_t size = 5;
  for (const Words& section : sections_) size += section.all().size();
  std::vector<Word> words{spv::MagicNumber, kVersion, 0, bound_, 0};
  words.reserve(size);
  for (const Words& section : sections_) words.insert(words.end(), section.all().begin(), section.all().end());
  return words;
}

std::vector<Word> string_words(std::string_view text) {
  std::vector<Word> words(text.size() / 4 + 1, 0);
  for (std::size_t k = 0; k < text.size(); ++k) words[k / 4] |= static_cast<Word>(static_cast<unsigned char>(text[k])) << (8 * (k % 4));
  return words;
}

}  // namespace vyre::spirv
