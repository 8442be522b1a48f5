// Foreign text and bytes: a program or procedure, or a ParseError, and never more memory than the bound.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "support/fakes/allocation_count.hpp"
#include "support/programs/random_procedure.hpp"
#include "support/programs/random_program.hpp"
#include "support/programs/sample_programs.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/ir/text/procedure_print.hpp"

namespace vyre::ir {
namespace {

// What is read and written, in both of its forms.
struct OfProgram {
  using Value = Program;
  static constexpr std::string_view kTextHead = "vyre 1\nworkgroup_size 1 1 1\n", kBytesHead = "\x93VYRE\x01", kSeparators = " \n";
  static std::ptrdiff_t allowed(std::size_t input) { return test::allowed_bytes(input); }
  static Program parsed(std::string_view text) { return parse(text); }
  static Program decoded(std::string_view bytes) { return from_bytes(std::as_bytes(std::span(bytes))); }
  static std::string bytes(const Program& program) { return to_bytes(program); }
  static std::vector<Program> samples() {
    std::vector<Program> all;
    for (const test::SampleProgram& sample : test::sample_programs()) {
      if (sample.name != "wide" && sample.name != "awkward_names") all.push_back(sample.program);
    }
    for (std::uint64_t seed = 0; seed < 6; ++seed) all.push_back(test::random_program(seed, 10));
    return all;
  }
};
struct OfProcedure {
  using Value = Procedure;
  static constexpr std::string_view kTextHead = "vyre 1\nprocedure p\ninput x: u32[]\nnumber k: u32\nscratch a: u32[k]\n",
                                    kBytesHead = "\x93VYRP\x01", kSeparators = "\n";
  // A step takes more memory than an expression, and may be as short.
  static std::ptrdiff_t allowed(std::size_t input) { return static_cast<std::ptrdiff_t>(256 * input + (std::size_t{1} << 20)); }
  static Procedure parsed(std::string_view text) { return parse_procedure(text); }
  static Procedure decoded(std::string_view bytes) { return procedure_from_bytes(std::as_bytes(std::span(bytes))); }
  static std::string bytes(const Procedure& procedure) { return procedure.bytes(); }
  static std::vector<Procedure> samples() {
    std::vector<Procedure> all = {test::sample_procedure()};
    for (std::uint64_t seed = 0; seed < 6; ++seed) all.push_back(test::random_procedure(seed, 8));
    return all;
  }
};

// What reading gives, within the bound on memory; nothing after a ParseError.
template <class Form>
std::optional<typename Form::Value> read_within_bound(typename Form::Value (*read)(std::string_view), std::string_view input) {
  std::optional<typename Form::Value> value;
  const auto used = test::peak_bytes([&] {
    try {
      value = read(input);
    } catch (const ParseError&) {
    }
  });
  EXPECT_LE(used, Form::allowed(input.size())) << input.substr(0, 200);
  return value;
}

// What every input must satisfy; true when it is read.
template <class Form>
bool survives_text(std::string_view text) {
  const auto value = read_within_bound<Form>(Form::parsed, text);
  if (value) {
    EXPECT_EQ(Form::parsed(to_text(*value)), *value) << text.substr(0, 2000);
  }
  return value.has_value();
}
template <class Form>
bool survives_bytes(std::string_view bytes) {
  const auto value = read_within_bound<Form>(Form::decoded, bytes);
  if (value) {
    EXPECT_EQ(Form::bytes(*value), bytes);
    // It may have two arrays of one name, which only a rule refuses. The text of a program may be too long to be made.
    if constexpr (std::is_same_v<Form, OfProcedure>) {
      EXPECT_FALSE(to_text(*value).empty());
    }
  }
  return value.has_value();
}

template <class Form>
void truncate_texts() {
  for (const auto& value : Form::samples()) {
    const std::string text = to_text(value).substr(0, 4000);
    for (std::size_t length = 0; length < text.size(); ++length) survives_text<Form>(std::string_view(text).substr(0, length));
  }
}
TEST(Garbage, truncated_text_is_an_error_or_a_program) { truncate_texts<OfProgram>(); }
TEST(Garbage, truncated_text_of_a_procedure_is_an_error_or_a_procedure) { truncate_texts<OfProcedure>(); }

template <class Form>
void truncate_bytes() {
  for (const auto& value : Form::samples()) {
    const std::string bytes = Form::bytes(value);
    ASSERT_TRUE(survives_bytes<Form>(bytes));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_FALSE(survives_bytes<Form>(std::string_view(bytes).substr(0, length))) << length;
    }
  }
}
TEST(Garbage, truncated_bytes_are_an_error) { truncate_bytes<OfProgram>(); }
TEST(Garbage, truncated_bytes_of_a_procedure_are_an_error) { truncate_bytes<OfProcedure>(); }

// One bit of each character of the texts, and every bit of the bytes.
template <class Form>
void flip_bits() {
  std::mt19937 random(3);
  int texts = 0, binaries = 0;
  for (const auto& value : Form::samples()) {
    const std::string text = to_text(value).substr(0, 3000), bytes = Form::bytes(value).substr(0, 2000);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << random() % 8));
      texts += survives_text<Form>(other);
    }
    for (std::size_t at = 0; at < 8 * bytes.size(); ++at) {
      std::string other = bytes;
      other[at / 8] = static_cast<char>(other[at / 8] ^ (1 << at % 8));
      binaries += survives_bytes<Form>(other);
    }
  }
  EXPECT_GT(texts, 100);
  EXPECT_GT(binaries, 100);
}
TEST(Garbage, flipped_bits_are_an_error_or_a_program) { flip_bits<OfProgram>(); }
TEST(Garbage, flipped_bits_of_a_procedure_are_an_error_or_a_procedure) { flip_bits<OfProcedure>(); }

template <class Form>
void swap_pieces() {
  std::mt19937 random(4);
  std::vector<std::string> pieces;
  for (const auto& value : Form::samples()) {
    const std::string text = to_text(value).substr(0, 3000);
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.size(), text.find_first_of(Form::kSeparators, at));
      pieces.push_back(text.substr(at, end - at));
    }
  }
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text(Form::kTextHead);
    for (std::uint32_t left = random() % 9; left > 0; --left) {
      text += pieces[random() % pieces.size()] + Form::kSeparators[random() % Form::kSeparators.size()];
    }
    accepted += survives_text<Form>(text);
  }
  EXPECT_GT(accepted, 100);
}
TEST(Garbage, swapped_words_are_an_error_or_a_program) { swap_pieces<OfProgram>(); }
TEST(Garbage, lines_of_procedures_in_any_order_are_an_error_or_a_procedure) { swap_pieces<OfProcedure>(); }

template <class Form>
void read_random_bytes() {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(Form::kBytesHead);
    for (std::uint32_t left = random() % 40; left > 0; --left) bytes.push_back(static_cast<char>(random() % (round % 2 == 0 ? 256 : 20)));
    survives_bytes<Form>(bytes);
  }
}
TEST(Garbage, random_bytes_are_an_error) { read_random_bytes<OfProgram>(); }
TEST(Garbage, random_bytes_of_a_procedure_are_an_error) { read_random_bytes<OfProcedure>(); }

// --- The bound, where it is tightest: texts and bytes of the most memory a byte ---

std::string repeated(std::string_view part, std::size_t size) {
  std::string all;
  while (all.size() < size) all += part;
  return all;
}

// A number as bytes have it.
std::string number(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value /= 128) bytes.push_back(static_cast<char>(value % 128 + 128));
  return bytes + static_cast<char>(value);
}

TEST(Allocation, of_parse_is_bounded_for_texts_that_ask_for_much) {
  const std::string head = "vyre 1\nworkgroup_size 1 1 1\n";
  // The last is just above a power of two, where vectors that double have most to spare.
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    EXPECT_TRUE(survives_text<OfProgram>(head + "x=call(\"\"" + repeated(",1", size) + ")")) << "literals";
    EXPECT_TRUE(survives_text<OfProgram>(head + "%1=1\nx=call(\"\"" + repeated(",%1", size) + ")")) << "references";
    EXPECT_TRUE(survives_text<OfProgram>(head + repeated("x=1\n", size))) << "assignments";
    EXPECT_TRUE(survives_text<OfProgram>(head + repeated("return\n", size))) << "statements";
    EXPECT_TRUE(survives_text<OfProgram>(head + repeated("block{}\n", size))) << "blocks";
    EXPECT_FALSE(survives_text<OfProgram>(head + repeated("block{", size))) << "open blocks";
    EXPECT_TRUE(survives_text<OfProgram>(head + repeated("block{", size / 6 * 6) + std::string(size / 6, '}'))) << "nested blocks";
    EXPECT_FALSE(survives_text<OfProgram>(head + "x=" + repeated("(", size))) << "brackets";
    EXPECT_TRUE(survives_text<OfProgram>(head + repeated("buffer a:read u32 binding 0\n", size))) << "buffers";
    EXPECT_TRUE(survives_text<OfProgram>(head + "\"" + repeated("\\n", size) + "\"=1")) << "one long name";
    EXPECT_FALSE(survives_text<OfProgram>(head + "x=" + repeated("0", size) + "99999999999999999999")) << "one long number";
    EXPECT_FALSE(survives_text<OfProgram>(head + "x=" + repeated("f", size) + "(1)")) << "one long function";
    std::string definitions = head, names = head + "x=call(\"\"", stores = head;
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    const auto name = [&](std::size_t index) {
      std::string letters;
      for (; letters.size() < 3; index /= kLetters.size()) letters += kLetters[index % kLetters.size()];
      return letters == "let" ? "Let" : letters;
    };
    for (std::size_t index = 0; definitions.size() < size; ++index) definitions += "%" + std::to_string(index) + "=1\n";
    for (std::size_t index = 0; names.size() < size; ++index) names += "," + name(index);
    for (std::size_t index = 0; stores.size() < size; ++index) stores += name(index) + "=1\n";
    EXPECT_TRUE(survives_text<OfProgram>(definitions)) << "definitions";
    EXPECT_TRUE(survives_text<OfProgram>(names + ")")) << "names";
    EXPECT_TRUE(survives_text<OfProgram>(stores)) << "assigned names";
  }
}

TEST(Allocation, of_from_bytes_is_bounded_for_bytes_that_ask_for_much) {
  const std::string head = std::string("\x93VYRE\x01\x01\x01\x01");
  const std::string none(1, '\0');
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    const auto times = [&](std::string_view part) { return number(size / part.size()) + repeated(part, size / part.size() * part.size()); };
    const std::string_view literal("\0\1", 2), buffer("\0\0\0\0\0\0", 6);
    EXPECT_FALSE(survives_bytes<OfProgram>(head + none + none + times(literal) + none)) << "unused literals";
    EXPECT_TRUE(survives_bytes<OfProgram>(head + none + none + none + times("\x08"))) << "barriers";
    EXPECT_TRUE(survives_bytes<OfProgram>(head + none + none + none + number(size / 2 * 2) + repeated("\x06\x07", size))) << "blocks";
    EXPECT_TRUE(survives_bytes<OfProgram>(head + none + none + none + number(2 * size) + repeated("\x06", size) + repeated("\x07", size)))
        << "nested blocks";
    EXPECT_FALSE(survives_bytes<OfProgram>(head + none + none + none + times("\x06"))) << "open blocks";
    EXPECT_TRUE(survives_bytes<OfProgram>(head + times(buffer) + none + none + none)) << "buffers";
    std::string names, calls;
    for (std::size_t index = 0; index < size / 4; ++index) {
      names += '\3';
      for (std::size_t rest = index, left = 3; left > 0; --left, rest /= 90) names += static_cast<char>(rest % 90 + 33);
    }
    EXPECT_FALSE(survives_bytes<OfProgram>(head + none + number(size / 4) + names + none + none)) << "unused names";
    // One call with very many operands, all the same literal, in one statement.
    EXPECT_TRUE(survives_bytes<OfProgram>(head + none + std::string("\1\0", 2) + "\2" + std::string("\0\1", 2) + std::string("\x0C\0", 2) +
                                          number(size) + repeated("\1", size) + "\1" + std::string("\0\0\1", 3)))
        << "operands";
    // A call with as many literals.
    std::string literals;
    for (std::size_t index = 0; index < size / 3; ++index) literals += literal;
    std::string operands;
    for (std::size_t index = 0; index < size / 3; ++index) operands += number(size / 3 - index);
    EXPECT_TRUE(survives_bytes<OfProgram>(head + none + std::string("\1\0", 2) + number(size / 3 + 1) + literals +
                                          std::string("\x0C\0", 2) + number(size / 3) + operands + "\1" + std::string("\0\0", 2) +
                                          number(size / 3)))
        << "arguments";
    // A very long name, used by very many variables: text spells it each time, bytes do not.
    std::string uses;
    for (std::size_t index = 0; index < size / 3; ++index) uses += std::string("\x04\0", 2);
    std::string lets;
    for (std::size_t index = 0; index < size / 3; ++index) lets += std::string("\1\0", 2) + number(index);
    EXPECT_TRUE(survives_bytes<OfProgram>(head + none + "\1" + number(size) + repeated("n", size) + number(size / 3) + uses +
                                          number(size / 3) + lets))
        << "a long name";
  }
}

TEST(Allocation, of_parse_procedure_is_bounded_for_texts_that_ask_for_much) {
  const std::string head = "vyre 1\nprocedure p\nin_out x:u32[]\n";
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    EXPECT_TRUE(survives_text<OfProcedure>(head + repeated("clear x\n", size))) << "steps";
    EXPECT_TRUE(survives_text<OfProcedure>(head + repeated("when 1{}\n", size))) << "blocks";
    EXPECT_FALSE(survives_text<OfProcedure>(head + repeated("when 1{", size))) << "open blocks";
    EXPECT_TRUE(survives_text<OfProcedure>(head + repeated("when 1{", size / 7 * 7) + std::string(size / 7, '}'))) << "nested blocks";
    EXPECT_FALSE(survives_text<OfProcedure>(head + "when " + repeated("(", size))) << "brackets";
    EXPECT_FALSE(survives_text<OfProcedure>(head + "when " + repeated("9", size) + " {}")) << "one long number";
    EXPECT_FALSE(survives_text<OfProcedure>(head + "when " + repeated("f", size) + "(1) {}")) << "one long function";
    EXPECT_TRUE(survives_text<OfProcedure>(head + "input \"" + repeated("\\n", size) + "\":u32[]")) << "one long name";
    EXPECT_TRUE(survives_text<OfProcedure>(head + "return x" + repeated(",x", size))) << "results";
    EXPECT_TRUE(survives_text<OfProcedure>(head + "table t: u8[1] {" + repeated("00 ", size) + "}")) << "contents";
    EXPECT_FALSE(survives_text<OfProcedure>(head + repeated("procedure 0 {vyre 1\nprocedure p\n", size))) << "procedures";
    const std::string program = "program 0 {vyre 1\nworkgroup_size 1 1 1\n}\n", many = head + program + "dispatch k program 0 (x";
    EXPECT_TRUE(survives_text<OfProcedure>(many + repeated(",x", size) + ") workgroups (1,1,1)")) << "arrays";
    EXPECT_TRUE(survives_text<OfProcedure>(many + ",words(1" + repeated(",1", size) + ")) workgroups (1,1,1)")) << "words";
    std::string arrays = head, definitions = head, programs = head, dispatches;
    for (std::size_t index = 0; arrays.size() < size; ++index) arrays += "input a" + std::to_string(index) + ":u8[]\n";
    for (std::size_t index = 0; definitions.size() < size; ++index) {
      definitions += "%" + std::to_string(index) + "=length(x)+" + std::to_string(index) + "\nclear x[%" + std::to_string(index) + "+1]\n";
    }
    for (std::size_t index = 0; programs.size() < size; ++index) {
      const std::string number = std::to_string(index);
      programs += "program " + number + "{vyre 1\nworkgroup_size " + number + " 1 1\n}\n";
      dispatches += "dispatch k program " + number + "()workgroups(1,1,1)\n";
    }
    EXPECT_TRUE(survives_text<OfProcedure>(arrays)) << "arrays";
    EXPECT_TRUE(survives_text<OfProcedure>(definitions)) << "sizes";
    EXPECT_TRUE(survives_text<OfProcedure>(programs + dispatches)) << "programs";
  }
}

TEST(Allocation, of_procedure_from_bytes_is_bounded_for_bytes_that_ask_for_much) {
  const std::string head = std::string("\x93VYRP\x01\x01p"), none(1, '\0');
  const std::string array("\1x\1\0\1\0\0\0", 8);  // in_out x: u32[]
  const auto in = [&](std::string_view sizes, std::string_view arrays, std::string_view steps) {
    return head + none + std::string(sizes) + std::string(arrays) + none + none + std::string(steps) + none;
  };
  ASSERT_TRUE(survives_bytes<OfProcedure>(in(none, number(1) + array, none)));
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    const auto times = [&](std::string_view part) { return number(size / part.size()) + repeated(part, size / part.size() * part.size()); };
    EXPECT_TRUE(survives_bytes<OfProcedure>(in(none, times(array), none))) << "arrays";
    EXPECT_TRUE(survives_bytes<OfProcedure>(in(none, number(1) + array, times(std::string("\7\0\0\0\0", 5))))) << "clears";
    EXPECT_TRUE(survives_bytes<OfProcedure>(in(none, number(1) + array, times(std::string("\6\0\0", 3))))) << "swaps";
    const std::string one("\1\0\1", 3), opens = repeated("\3\1", size), ends = repeated("\5", size / 2);
    EXPECT_TRUE(survives_bytes<OfProcedure>(in(one, none, number(size / 2 * 2) + opens + ends))) << "nested blocks";
    EXPECT_FALSE(survives_bytes<OfProcedure>(in(one, none, number(size / 2) + opens))) << "open blocks";
    EXPECT_FALSE(survives_bytes<OfProcedure>(in(times(std::string("\0\1", 2)), none, none))) << "unused sizes";
    // Each list says that it is as long as a number can say.
    for (int list = 0; list < 6; ++list) {
      EXPECT_FALSE(survives_bytes<OfProcedure>(head + std::string(static_cast<std::size_t>(list), '\0') + number(~std::uint64_t{0}) +
                                               repeated("\1", size)))
          << list;
    }
    std::string nested = head + none;
    for (int depth = 0; depth < 40; ++depth) {
      nested = head + std::string(4, '\0') + number(1) + number(nested.size()) + nested + std::string(2, '\0');
    }
    EXPECT_FALSE(survives_bytes<OfProcedure>(nested)) << "nested procedures";
  }
}

}  // namespace
}  // namespace vyre::ir
