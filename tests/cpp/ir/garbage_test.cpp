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

Program read(std::string_view bytes) { return from_bytes(std::as_bytes(std::span(bytes))); }

// What every input must satisfy; true when it is a program.
bool survives_parse(std::string_view text) {
  std::optional<Program> program;
  const auto used = test::peak_bytes([&] {
    try {
      program = parse(text);
    } catch (const ParseError&) {
    }
  });
  EXPECT_LE(used, test::allowed_bytes(text.size())) << text.substr(0, 200);
  if (program) {
    EXPECT_EQ(parse(to_text(*program)), *program) << text.substr(0, 2000);
  }
  return program.has_value();
}
bool survives_from_bytes(std::string_view bytes) {
  std::optional<Program> program;
  const auto used = test::peak_bytes([&] {
    try {
      program = read(bytes);
    } catch (const ParseError&) {
    }
  });
  EXPECT_LE(used, test::allowed_bytes(bytes.size()));
  if (program) {
    EXPECT_EQ(to_bytes(*program), bytes);
  }
  return program.has_value();
}

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const test::SampleProgram& sample : test::sample_programs()) {
    if (sample.name != "wide" && sample.name != "awkward_names") all.push_back(sample.program);
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) all.push_back(test::random_program(seed, 10));
  return all;
}

TEST(Garbage, truncated_text_is_an_error_or_a_program) {
  for (const Program& program : programs()) {
    const std::string text = to_text(program).substr(0, 3000);
    for (std::size_t length = 0; length < text.size(); ++length) survives_parse(std::string_view(text).substr(0, length));
  }
}

TEST(Garbage, truncated_bytes_are_an_error) {
  for (const Program& program : programs()) {
    const std::string bytes = to_bytes(program);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_FALSE(survives_from_bytes(std::string_view(bytes).substr(0, length))) << length;
    }
  }
}

TEST(Garbage, flipped_bits_are_an_error_or_a_program) {
  std::mt19937 random(3);
  for (const Program& program : programs()) {
    const std::string text = to_text(program).substr(0, 2000), bytes = to_bytes(program).substr(0, 2000);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << random() % 8));
      survives_parse(other);
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ (1 << bit));
        survives_from_bytes(other);
      }
    }
  }
}

TEST(Garbage, swapped_words_are_an_error_or_a_program) {
  std::mt19937 random(4);
  const std::vector<Program> all = programs();
  std::vector<std::string> words;
  for (const Program& program : all) {
    const std::string text = to_text(program).substr(0, 3000);
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.size(), text.find_first_of(" \n", at));
      words.push_back(text.substr(at, end - at));
    }
  }
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = "vyre 1\nworkgroup_size 1 1 1\n";
    for (std::uint32_t left = random() % 12; left > 0; --left) text += words[random() % words.size()] + (random() % 3 == 0 ? '\n' : ' ');
    accepted += survives_parse(text);
  }
  EXPECT_GT(accepted, 100);
}

TEST(Garbage, random_bytes_are_an_error) {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = "\x93VYRE\x01";
    for (std::uint32_t left = random() % 40; left > 0; --left) bytes.push_back(static_cast<char>(random() % (round % 2 == 0 ? 256 : 20)));
    survives_from_bytes(bytes);
  }
}

// --- The bound, where it is tightest: texts and bytes of the most memory a byte ---

std::string repeated(std::string_view part, std::size_t size) {
  std::string all;
  while (all.size() < size) all += part;
  return all;
}

TEST(Allocation, of_parse_is_bounded_for_texts_that_ask_for_much) {
  const std::string head = "vyre 1\nworkgroup_size 1 1 1\n";
  // The last is just above a power of two, where vectors that double have most to spare.
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    EXPECT_TRUE(survives_parse(head + "x=call(\"\"" + repeated(",1", size) + ")")) << "literals";
    EXPECT_TRUE(survives_parse(head + "%1=1\nx=call(\"\"" + repeated(",%1", size) + ")")) << "references";
    EXPECT_TRUE(survives_parse(head + repeated("x=1\n", size))) << "assignments";
    EXPECT_TRUE(survives_parse(head + repeated("return\n", size))) << "statements";
    EXPECT_TRUE(survives_parse(head + repeated("block{}\n", size))) << "blocks";
    EXPECT_FALSE(survives_parse(head + repeated("block{", size))) << "open blocks";
    EXPECT_TRUE(survives_parse(head + repeated("block{", size / 6 * 6) + std::string(size / 6, '}'))) << "nested blocks";
    EXPECT_FALSE(survives_parse(head + "x=" + repeated("(", size))) << "brackets";
    EXPECT_TRUE(survives_parse(head + repeated("buffer a:read u32 binding 0\n", size))) << "buffers";
    EXPECT_TRUE(survives_parse(head + "\"" + repeated("\\n", size) + "\"=1")) << "one long name";
    EXPECT_FALSE(survives_parse(head + "x=" + repeated("0", size) + "99999999999999999999")) << "one long number";
    EXPECT_FALSE(survives_parse(head + "x=" + repeated("f", size) + "(1)")) << "one long function";
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
    EXPECT_TRUE(survives_parse(definitions)) << "definitions";
    EXPECT_TRUE(survives_parse(names + ")")) << "names";
    EXPECT_TRUE(survives_parse(stores)) << "assigned names";
  }
}

TEST(Allocation, of_from_bytes_is_bounded_for_bytes_that_ask_for_much) {
  const std::string head = std::string("\x93VYRE\x01\x01\x01\x01");
  const auto number = [](std::size_t value) {
    std::string bytes;
    for (; value >= 128; value /= 128) bytes.push_back(static_cast<char>(value % 128 + 128));
    return bytes + static_cast<char>(value);
  };
  const std::string none(1, '\0');
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    const auto times = [&](std::string_view part) { return number(size / part.size()) + repeated(part, size / part.size() * part.size()); };
    const std::string_view literal("\0\1", 2), buffer("\0\0\0\0\0\0", 6);
    EXPECT_FALSE(survives_from_bytes(head + none + none + times(literal) + none)) << "unused literals";
    EXPECT_TRUE(survives_from_bytes(head + none + none + none + times("\x08"))) << "barriers";
    EXPECT_TRUE(survives_from_bytes(head + none + none + none + number(size / 2 * 2) + repeated("\x06\x07", size))) << "blocks";
    EXPECT_TRUE(survives_from_bytes(head + none + none + none + number(2 * size) + repeated("\x06", size) + repeated("\x07", size)))
        << "nested blocks";
    EXPECT_FALSE(survives_from_bytes(head + none + none + none + times("\x06"))) << "open blocks";
    EXPECT_TRUE(survives_from_bytes(head + times(buffer) + none + none + none)) << "buffers";
    std::string names, calls;
    for (std::size_t index = 0; index < size / 4; ++index) {
      names += '\3';
      for (std::size_t rest = index, left = 3; left > 0; --left, rest /= 90) names += static_cast<char>(rest % 90 + 33);
    }
    EXPECT_FALSE(survives_from_bytes(head + none + number(size / 4) + names + none + none)) << "unused names";
    // One call with very many operands, all the same literal, in one statement.
    EXPECT_TRUE(survives_from_bytes(head + none + std::string("\1\0", 2) + "\2" + std::string("\0\1", 2) + std::string("\x0C\0", 2) +
                                    number(size) + repeated("\1", size) + "\1" + std::string("\0\0\1", 3)))
        << "operands";
    // A call with as many literals.
    std::string literals;
    for (std::size_t index = 0; index < size / 3; ++index) literals += literal;
    std::string operands;
    for (std::size_t index = 0; index < size / 3; ++index) operands += number(size / 3 - index);
    EXPECT_TRUE(survives_from_bytes(head + none + std::string("\1\0", 2) + number(size / 3 + 1) + literals + std::string("\x0C\0", 2) +
                                    number(size / 3) + operands + "\1" + std::string("\0\0", 2) + number(size / 3)))
        << "arguments";
    // A very long name, used by very many variables: text spells it each time, bytes do not.
    std::string uses;
    for (std::size_t index = 0; index < size / 3; ++index) uses += std::string("\x04\0", 2);
    std::string lets;
    for (std::size_t index = 0; index < size / 3; ++index) lets += std::string("\1\0", 2) + number(index);
    EXPECT_TRUE(
        survives_from_bytes(head + none + "\1" + number(size) + repeated("n", size) + number(size / 3) + uses + number(size / 3) + lets))
        << "a long name";
  }
}

// --- Procedures ---

// The bound of their readers: a step takes more memory than an expression, and may be as short.
std::ptrdiff_t allowed_for_procedure(std::size_t input) { return static_cast<std::ptrdiff_t>(256 * input + (std::size_t{1} << 20)); }

// What every input must satisfy; true when it is a procedure.
bool survives_parse_procedure(std::string_view text) {
  std::optional<Procedure> procedure;
  const auto used = test::peak_bytes([&] {
    try {
      procedure = parse_procedure(text);
    } catch (const ParseError&) {
    }
  });
  EXPECT_LE(used, allowed_for_procedure(text.size())) << text.substr(0, 200);
  if (procedure) {
    EXPECT_EQ(parse_procedure(to_text(*procedure)), *procedure) << text.substr(0, 2000);
  }
  return procedure.has_value();
}
bool survives_procedure_from_bytes(std::string_view bytes) {
  std::optional<Procedure> procedure;
  const auto used = test::peak_bytes([&] {
    try {
      procedure = procedure_from_bytes(std::as_bytes(std::span(bytes)));
    } catch (const ParseError&) {
    }
  });
  EXPECT_LE(used, allowed_for_procedure(bytes.size()));
  if (procedure) {
    EXPECT_EQ(procedure->bytes(), bytes);
    EXPECT_FALSE(to_text(*procedure).empty());  // it may have two arrays of one name, which only a rule refuses
  }
  return procedure.has_value();
}

std::vector<Procedure> procedures() {
  std::vector<Procedure> all = {test::sample_procedure()};
  for (std::uint64_t seed = 0; seed < 6; ++seed) all.push_back(test::random_procedure(seed, 8));
  return all;
}

TEST(Garbage, truncated_text_of_a_procedure_is_an_error_or_a_procedure) {
  for (const Procedure& procedure : procedures()) {
    const std::string text = to_text(procedure).substr(0, 4000);
    for (std::size_t length = 0; length < text.size(); ++length) survives_parse_procedure(std::string_view(text).substr(0, length));
  }
}

TEST(Garbage, truncated_bytes_of_a_procedure_are_an_error) {
  for (const Procedure& procedure : procedures()) {
    const std::string_view bytes = procedure.bytes();
    ASSERT_TRUE(survives_procedure_from_bytes(bytes));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_FALSE(survives_procedure_from_bytes(bytes.substr(0, length))) << length;
    }
  }
}

TEST(Garbage, flipped_bits_of_a_procedure_are_an_error_or_a_procedure) {
  int texts = 0, binaries = 0;
  for (const Procedure& procedure : procedures()) {
    const std::string text = to_text(procedure).substr(0, 3000), bytes = procedure.bytes().substr(0, 2000);
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string other = text;
        other[at] = static_cast<char>(other[at] ^ (1 << bit));
        texts += survives_parse_procedure(other);
      }
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ (1 << bit));
        binaries += survives_procedure_from_bytes(other);
      }
    }
  }
  EXPECT_GT(texts, 100);
  EXPECT_GT(binaries, 100);
}

TEST(Garbage, lines_of_procedures_in_any_order_are_an_error_or_a_procedure) {
  std::mt19937 random(6);
  std::vector<std::string> lines;
  for (const Procedure& procedure : procedures()) {
    const std::string text = to_text(procedure);
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.size(), text.find('\n', at));
      lines.push_back(text.substr(at, end - at));
    }
  }
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = "vyre 1\nprocedure p\ninput x: u32[]\nnumber k: u32\nscratch a: u32[k]\n";
    for (std::uint32_t left = random() % 6; left > 0; --left) text += lines[random() % lines.size()] + "\n";
    accepted += survives_parse_procedure(text);
  }
  EXPECT_GT(accepted, 100);
}

TEST(Garbage, random_bytes_of_a_procedure_are_an_error) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = "\x93VYRP\x01";
    for (std::uint32_t left = random() % 40; left > 0; --left) bytes.push_back(static_cast<char>(random() % (round % 2 == 0 ? 256 : 20)));
    survives_procedure_from_bytes(bytes);
  }
}

TEST(Allocation, of_parse_procedure_is_bounded_for_texts_that_ask_for_much) {
  const std::string head = "vyre 1\nprocedure p\nin_out x:u32[]\n";
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    EXPECT_TRUE(survives_parse_procedure(head + repeated("clear x\n", size))) << "steps";
    EXPECT_TRUE(survives_parse_procedure(head + repeated("when 1{}\n", size))) << "blocks";
    EXPECT_FALSE(survives_parse_procedure(head + repeated("when 1{", size))) << "open blocks";
    EXPECT_TRUE(survives_parse_procedure(head + repeated("when 1{", size / 7 * 7) + std::string(size / 7, '}'))) << "nested blocks";
    EXPECT_FALSE(survives_parse_procedure(head + "when " + repeated("(", size))) << "brackets";
    EXPECT_FALSE(survives_parse_procedure(head + "when " + repeated("9", size) + " {}")) << "one long number";
    EXPECT_FALSE(survives_parse_procedure(head + "when " + repeated("f", size) + "(1) {}")) << "one long function";
    EXPECT_TRUE(survives_parse_procedure(head + "input \"" + repeated("\\n", size) + "\":u32[]")) << "one long name";
    EXPECT_TRUE(survives_parse_procedure(head + "return x" + repeated(",x", size))) << "results";
    EXPECT_TRUE(survives_parse_procedure(head + "table t: u8[1] {" + repeated("00 ", size) + "}")) << "contents";
    EXPECT_FALSE(survives_parse_procedure(head + repeated("procedure 0 {vyre 1\nprocedure p\n", size))) << "procedures";
    const std::string program = "program 0 {vyre 1\nworkgroup_size 1 1 1\n}\n", many = head + program + "dispatch k program 0 (x";
    EXPECT_TRUE(survives_parse_procedure(many + repeated(",x", size) + ") workgroups (1,1,1)")) << "arrays";
    EXPECT_TRUE(survives_parse_procedure(many + ",words(1" + repeated(",1", size) + ")) workgroups (1,1,1)")) << "words";
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
    EXPECT_TRUE(survives_parse_procedure(arrays)) << "arrays";
    EXPECT_TRUE(survives_parse_procedure(definitions)) << "sizes";
    EXPECT_TRUE(survives_parse_procedure(programs + dispatches)) << "programs";
  }
}

TEST(Allocation, of_procedure_from_bytes_is_bounded_for_bytes_that_ask_for_much) {
  const auto number = [](std::uint64_t value) {
    std::string bytes;
    for (; value >= 128; value /= 128) bytes.push_back(static_cast<char>(value % 128 + 128));
    return bytes + static_cast<char>(value);
  };
  const std::string head = std::string("\x93VYRP\x01\x01p"), none(1, '\0');
  const std::string array("\1x\1\0\1\0\0\0", 8);  // in_out x: u32[]
  const auto in = [&](std::string_view sizes, std::string_view arrays, std::string_view steps) {
    return head + none + std::string(sizes) + std::string(arrays) + none + none + std::string(steps) + none;
  };
  ASSERT_TRUE(survives_procedure_from_bytes(in(none, number(1) + array, none)));
  for (std::size_t size : {1000u, 40000u, 1055000u}) {
    const auto times = [&](std::string_view part) { return number(size / part.size()) + repeated(part, size / part.size() * part.size()); };
    EXPECT_TRUE(survives_procedure_from_bytes(in(none, times(array), none))) << "arrays";
    EXPECT_TRUE(survives_procedure_from_bytes(in(none, number(1) + array, times(std::string("\7\0\0\0\0", 5))))) << "clears";
    EXPECT_TRUE(survives_procedure_from_bytes(in(none, number(1) + array, times(std::string("\6\0\0", 3))))) << "swaps";
    const std::string one("\1\0\1", 3), opens = repeated("\3\1", size), ends = repeated("\5", size / 2);
    EXPECT_TRUE(survives_procedure_from_bytes(in(one, none, number(size / 2 * 2) + opens + ends))) << "nested blocks";
    EXPECT_FALSE(survives_procedure_from_bytes(in(one, none, number(size / 2) + opens))) << "open blocks";
    EXPECT_FALSE(survives_procedure_from_bytes(in(times(std::string("\0\1", 2)), none, none))) << "unused sizes";
    // Each list says that it is as long as a number can say.
    for (int list = 0; list < 6; ++list) {
      EXPECT_FALSE(survives_procedure_from_bytes(head + std::string(static_cast<std::size_t>(list), '\0') + number(~std::uint64_t{0}) +
                                                 repeated("\1", size)))
          << list;
    }
    std::string nested = head + none;
    for (int depth = 0; depth < 40; ++depth) {
      nested = head + std::string(4, '\0') + number(1) + number(nested.size()) + nested + std::string(2, '\0');
    }
    EXPECT_FALSE(survives_procedure_from_bytes(nested)) << "nested procedures";
  }
}

}  // namespace
}  // namespace vyre::ir
