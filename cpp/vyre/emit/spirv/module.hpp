// A SPIR-V module under construction: a stream of words for each section, and one id for each type and constant.
//
// Ids are given out in the order of the calls, so that the same calls make the same words. glslang's builder is not used: it looks
// constants up one after the other and recurses over blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "glslang/SPIRV/spirv.hpp"

namespace vyre::spirv {

using Word = std::uint32_t;

// In the order in which a module has them.
enum class Section : std::uint8_t {
  Capabilities,
  Imports,
  MemoryModel,
  EntryPoint,
  ExecutionModes,
  Decorations,
  Globals,
  FunctionHead,
  FunctionVariables,
  FunctionBody,
};

// A stream of words that grows by whole instructions: asking for room once is cheaper than for each word.
class Words {
 public:
  // Makes room for `count` more words, and returns the first of them.
  Word* extend(std::size_t count) {
    if (words_.size() - size_ < count) words_.resize(2 * words_.size() + count);
    Word* const first = words_.data() + size_;
    size_ += count;
    return first;
  }
  std::span<const Word> all() const { return std::span(words_).first(size_); }

 private:
  std::vector<Word> words_;
  std::size_t size_ = 0;  // the words behind it are room
};

class Module {
 public:
  Word fresh() { return bound_++; }

  void add(Section section, spv::Op op, std::initializer_list<Word> operands) {
    add(section, op, std::span(operands.begin(), operands.size()));
  }
  void add(Section section, spv::Op op, std::span<const Word> operands);
  // An instruction with a result: its type, its new id, then the operands.
  Word add_result(Section section, spv::Op op, Word type, std::initializer_list<Word> operands);
  void decorate(Word target, std::initializer_list<Word> decoration);
  void decorate_member(Word type, Word member, std::initializer_list<Word> decoration);

  // The one type or constant of this description, without decorations. `operands` leave the result out.
  Word type(spv::Op op, std::initializer_list<Word> operands);
  Word pointer(spv::StorageClass storage, Word pointee) { return type(spv::OpTypePointer, {static_cast<Word>(storage), pointee}); }
  Word uint() { return uints(1); }
  Word uints(std::uint32_t lanes);
  Word constant(Word bits);
  Word null(Word type);

  // A new type each time, for types that get decorations of their own.
  Word distinct_type(spv::Op op, std::initializer_list<Word> operands);
  // `initial` is a constant, or 0 for none.
  Word variable(Section section, spv::StorageClass storage, Word pointee, Word initial = 0);

  std::vector<Word> words() const;

 private:
  static constexpr std::size_t kSections = static_cast<std::size_t>(Section::FunctionBody) + 1;

  std::array<Words, kSections> sections_;
  std::map<std::vector<Word>, Word> types_;
  std::unordered_map<Word, Word> constants_;
  std::unordered_map<Word, Word> nulls_;
  std::array<Word, 5> uints_{};  // by lanes
  Word bound_ = 1;
};

// A literal string as operands: UTF-8, ended by NUL, padded to whole words.
std::vector<Word> string_words(std::string_view text);

}  // namespace vyre::spirv
