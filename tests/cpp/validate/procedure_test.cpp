// The rules of procedures: what each accepts and refuses, with places and whole sentences.
#include "vyre/ir/procedures/procedure.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "vyre/ir/data_type.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/validate/procedures/rules.hpp"
#include "vyre/validate/procedures/valid_procedure.hpp"

namespace vyre::validate {
namespace {

using ir::ArrayId;
using ir::ArrayPart;
using ir::ArrayRole;
using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;
using ir::ProcedureBuilder;
using ir::SizeId;
using ir::SizeOp;

ir::Program program_of(std::vector<BufferDecl> buffers, const std::vector<ir::NodeHandle>& entry) {
  return ir::make_program(std::move(buffers), {64, 1, 1}, entry);
}
// y[i] = x[i]
ir::Program copies() {
  const ir::ExprHandle i = ir::expr::gid(0);
  return program_of({BufferDecl::read("x", 0, DataType::U32), BufferDecl::read_write("y", 1, DataType::U32)},
                    {ir::node::store("y", i, ir::expr::load("x", i))});
}

// A procedure over an input x and arrays of its length.
struct Made {
  ProcedureBuilder builder{"example"};
  ArrayId x = builder.array({.name = "x", .role = ArrayRole::Input, .element = DataType::U32, .axes = 1, .shape = {}, .contents = nullptr});
  SizeId n = builder.length(x, 0), one = builder.literal(1);

  ArrayId array(std::string name, ArrayRole role = ArrayRole::Scratch, DataType element = DataType::U32, bool zeros = false) {
    return builder.array(
        {.name = std::move(name), .role = role, .element = element, .axes = 1, .shape = {n}, .zeros = zeros, .contents = nullptr});
  }
  static ArrayPart whole(ArrayId array) { return {.array = array, .view = {}, .offset = {}, .length = {}}; }
  static ArrayPart viewed(ArrayId array, DataType view) { return {.array = array, .view = view, .offset = {}, .length = {}}; }
  void copy(const ArrayPart& from, const ArrayPart& to) {
    builder.dispatch({.name = "copy", .program = builder.program(copies()), .bound = {from, to}, .grid = {{one, one, one}, {}, false}});
  }
  void copy(ArrayId from, ArrayId to) { copy(whole(from), whole(to)); }
};

// "P003 results[0]: ...", a line each.
std::string found(const ir::Procedure& procedure) {
  const ProcedureVerdict verdict = validate(procedure, ir::OpTable());
  EXPECT_EQ(verdict.diagnostics.empty(), verdict.procedure.has_value());
  std::string result;
  for (const Diagnostic& each : verdict.diagnostics) result += each.rule + " " + each.place.path + ": " + each.message + "\n";
  return result;
}
std::string found(const std::function<void(Made&)>& fill) {
  Made made;
  fill(made);
  return found(made.builder.finish());
}
// One of these lines.
std::string said(const std::string& place, const std::string& problem, const std::string& fix) {
  return place + ": " + problem + ". Fix: " + fix + ".\n";
}

TEST(ProcedureRules, have_numbers_sentences_and_explanations) {
  for (std::size_t k = 0; k < kProcedureRules.size(); ++k) {
    const std::string number = std::to_string(k + 1);
    EXPECT_EQ(kProcedureRules[k].id, "P" + std::string(3 - number.size(), '0') + number);
    bool said = false;
    for (const ProcedureMessageInfo& message : kProcedureMessages) said = said || message.rule == kProcedureRules[k].rule;
    EXPECT_TRUE(said) << kProcedureRules[k].id;
  }
  for (const ProcedureMessageInfo& message : kProcedureMessages) {
    EXPECT_NE(message.sentence.find(". Fix: "), std::string_view::npos) << message.sentence;
    EXPECT_TRUE(message.sentence.ends_with('.')) << message.sentence;
  }
  EXPECT_EQ(parse_procedure_rule("p014"), ProcedureRule::P014);
  EXPECT_EQ(parse_procedure_rule("P000"), std::nullopt);
  EXPECT_EQ(explain(ProcedureRule::P014),
            "P014: Grids Are Read From U32\n\n"
            "Checks: An array that counts the workgroups or invocations of a dispatch has `u32` elements.\n\n"
            "Why: Devices read three 32-bit integers.\n\n"
            "Messages:\n"
            "  the grid of dispatch `<name>` is read from `<array>` of `<type>`. Fix: use an array of u32.\n");
}

TEST(ValidProcedure, carries_its_valid_programs_and_procedures) {
  Made inner;
  const ArrayId y = inner.array("y", ArrayRole::Output);
  inner.copy(inner.x, y);
  const ir::Procedure copied = inner.builder.finish();
  Made made;
  const ArrayId out = made.array("out", ArrayRole::Output), twice = made.array("twice", ArrayRole::Output);
  made.builder.invoke({.procedure = made.builder.procedure(copied), .arrays = {Made::whole(made.x), Made::whole(out)}, .numbers = {}});
  made.copy(out, twice);
  const ir::Procedure procedure = made.builder.finish();
  const ProcedureVerdict verdict = validate(procedure, ir::OpTable());
  ASSERT_TRUE(verdict.procedure);
  EXPECT_EQ(verdict.procedure->procedure(), procedure);
  ASSERT_EQ(verdict.procedure->programs().size(), 1u);
  EXPECT_EQ(verdict.procedure->programs()[0].program(), copies());
  ASSERT_EQ(verdict.procedure->procedures().size(), 1u);
  EXPECT_EQ(verdict.procedure->procedures()[0].procedure(), copied);
}

TEST(ValidProcedure, needs_valid_programs_at_any_depth) {
  const auto wrong = [] {
    Made made;
    made.builder.dispatch({.name = "stray",
                           .program = made.builder.program(program_of({}, {ir::node::store("out", ir::expr::u32(0), ir::expr::u32(0))})),
                           .bound = {},
                           .grid = {{made.one, made.one, made.one}, {}, false}});
    return made.builder.finish();
  };
  const auto unknown = [](const std::string& place) {
    return said("V004 " + place + "programs[0].entry[0]", "vyre IR validation: store to unknown buffer `out`",
                "declare it in Program::buffers");
  };
  EXPECT_EQ(found(wrong()), unknown(""));
  Made made;
  const std::uint32_t inner = made.builder.procedure(wrong());
  made.builder.invoke({.procedure = inner, .arrays = {Made::whole(made.x)}, .numbers = {}});
  EXPECT_EQ(found(made.builder.finish()), unknown("procedures[0]."));
}

TEST(P001, refuses_names_that_are_empty_or_stand_twice) {
  EXPECT_EQ(found([](Made& made) {
              made.array("x");
              made.array("");
              made.builder.declare({"k", DataType::U32});
              made.builder.declare({"k", DataType::U32});
              made.builder.declare({"", DataType::U32});
            }),
            said("P001 numbers[1]", "two numbers have the name `k`", "give each a name of its own") +
                said("P001 numbers[2]", "number 2 has an empty name", "give it a name") +
                said("P001 arrays[1]", "two arrays have the name `x`", "give each a name of its own") +
                said("P001 arrays[2]", "array 2 has an empty name", "give it a name"));
}

TEST(P002, refuses_arrays_that_do_not_fit_their_roles) {
  const auto of = [](ir::ArrayDecl decl) {
    return found([&](Made& made) {
      for (SizeId& size : decl.shape) size = made.builder.literal(2);
      made.builder.array(decl);
    });
  };
  const auto contents = [](std::size_t bytes) { return std::make_shared<const std::vector<std::byte>>(bytes); };
  const auto decl = [](ArrayRole role, std::uint32_t axes, std::size_t sizes) {
    return ir::ArrayDecl{
        .name = "a", .role = role, .element = DataType::U32, .axes = axes, .shape = std::vector<SizeId>(sizes), .contents = nullptr};
  };
  EXPECT_EQ(of(decl(ArrayRole::Scratch, 3, 3)), "");
  EXPECT_EQ(of(decl(ArrayRole::Scratch, 4, 4)), said("P002 arrays[1]", "array `a` has 4 axes", "declare one to three"));
  EXPECT_EQ(of(decl(ArrayRole::Scratch, 2, 1)),
            said("P002 arrays[1]", "scratch `a` has 1 sizes for 2 axes", "give one size for each axis"));
  EXPECT_EQ(of(decl(ArrayRole::InOut, 1, 1)),
            said("P002 arrays[1]", "in_out `a` has a shape, which a call gives", "leave the sizes out, or make it with vyre.scratch"));
  EXPECT_EQ(of(decl(ArrayRole::Table, 1, 1)),
            said("P002 arrays[1]", "table `a` has no contents", "give its contents, or make it with vyre.scratch"));
  ir::ArrayDecl table = decl(ArrayRole::Table, 1, 1);
  table.contents = contents(8);
  EXPECT_EQ(of(table), "");
  table.contents = contents(9);
  EXPECT_EQ(of(table), said("P002 arrays[1]", "table `a` has 9 bytes of contents, which is not what its shape says",
                            "give it the shape of its contents"));
  table.role = ArrayRole::Scratch;
  EXPECT_EQ(of(table), said("P002 arrays[1]", "scratch `a` has contents", "leave them out, or make it a table"));
  ir::ArrayDecl zeros = decl(ArrayRole::InOut, 1, 0);
  zeros.zeros = true;
  EXPECT_EQ(of(zeros),
            said("P002 arrays[1]", "in_out `a` is to begin as zeros", "leave zeros out, or make it with vyre.scratch(..., zeros=True)"));
}

TEST(P003, refuses_results_that_are_no_outputs_or_stand_twice) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId y = made.array("y", ArrayRole::Output);
              made.copy(made.x, y);
              made.builder.result(y);
              made.builder.result(y);
              made.builder.result(made.x);
            }),
            said("P003 results[1]", "`y` is returned twice", "return it once") +
                said("P003 results[2]", "input `x` is returned", "return an array of vyre.scratch, into which it is copied"));
}

TEST(P004, refuses_buffers_without_arrays_and_words_that_are_written) {
  EXPECT_EQ(
      found([](Made& made) {
        const std::uint32_t program = made.builder.program(copies());
        const ir::StepGrid grid = {{made.one, made.one, made.one}, {}, false};
        made.builder.dispatch({.name = "copy", .program = program, .bound = {Made::whole(made.x)}, .grid = grid});
        made.builder.dispatch({.name = "copy", .program = program, .bound = {ir::Words{made.n}, ir::Words{made.n}}, .grid = grid});
      }),
      said("P004 steps[0]", "dispatch `copy` binds 1 buffers, and its program has 2", "bind each buffer of the program, in its order") +
          said("P004 steps[1]", "dispatch `copy` binds words to `y`, which its program may write", "bind an array of vyre.scratch"));
}

TEST(P005, refuses_other_element_types_than_those_of_the_buffers) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId y = made.array("y", ArrayRole::Scratch, DataType::U8);
              made.copy(Made::whole(made.x), Made::viewed(y, DataType::U32));
              made.copy(Made::whole(made.x), Made::whole(y));
            }),
            said("P005 steps[1]", "dispatch `copy` binds `y` of `u8` to `y` of `u32`",
                 "write .view(vyre.u32) for the same bytes, or convert in a kernel"));
}

TEST(P006, refuses_writes_to_inputs_and_tables) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId y = made.array("y"), table = made.builder.array({.name = "table",
                                                                             .role = ArrayRole::Table,
                                                                             .element = DataType::U32,
                                                                             .axes = 1,
                                                                             .shape = {made.one},
                                                                             .contents = std::make_shared<std::vector<std::byte>>(4)});
              made.builder.clear(Made::whole(y));
              made.copy(y, made.x);
              made.builder.clear(Made::whole(table));
              made.builder.swap(made.x, y);
            }),
            said("P006 steps[1]", "dispatch `copy` writes `x`, which is an input",
                 "annotate it with vyre.InOut, or write into an array of vyre.scratch") +
                said("P006 steps[2]", "a clear writes `table`, which is a table", "write into an array of vyre.scratch") +
                said("P006 steps[3]", "a swap writes `x`, which is an input",
                     "annotate it with vyre.InOut, or write into an array of vyre.scratch"));
}

TEST(P007, refuses_an_array_in_two_places_of_which_one_is_written) {
  EXPECT_EQ(
      found([](Made& made) {
        const ArrayId y = made.array("y", ArrayRole::Scratch, DataType::U32, true);
        const SizeId two = made.builder.literal(2);
        made.copy(ArrayPart{y, {}, made.one, made.one}, ArrayPart{y, {}, two, made.one});  // compared by the plan
        made.copy(ArrayPart{y, {}, made.one, made.one}, ArrayPart{y, {}, made.one, made.one});
        made.copy(y, y);
      }),
      said("P007 steps[1]", "dispatch `copy` binds `y` to `x` and to `y`, and writes one of them", "pass an array of its own for each") +
          said("P007 steps[2]", "dispatch `copy` binds `y` to `x` and to `y`, and writes one of them",
               "pass an array of its own for each"));
}

TEST(P008, refuses_invocations_that_do_not_fit) {
  Made inner;
  inner.builder.declare({"k", DataType::U32});
  inner.copy(inner.x, inner.array("y", ArrayRole::Output));
  const ir::Procedure copied = inner.builder.finish();
  EXPECT_EQ(
      found([&](Made& made) {
        const std::uint32_t procedure = made.builder.procedure(copied);
        const ArrayId y = made.array("y", ArrayRole::Scratch, DataType::U8);
        const ArrayId z = made.builder.array(
            {.name = "z", .role = ArrayRole::Scratch, .element = DataType::U32, .axes = 2, .shape = {made.n, made.n}, .contents = nullptr});
        made.builder.invoke({.procedure = procedure, .arrays = {Made::whole(made.x)}, .numbers = {}});
        made.builder.invoke({.procedure = procedure, .arrays = {Made::whole(made.x), Made::whole(y)}, .numbers = {made.n}});
        made.builder.invoke({.procedure = procedure, .arrays = {Made::whole(made.x), Made::whole(z)}, .numbers = {made.n}});
      }),
      said("P008 steps[0]", "invocation `example` passes 1 arrays, and the procedure takes 2", "pass one for each input and output") +
          said("P008 steps[0]", "invocation `example` passes 0 numbers, and the procedure takes 1", "pass one for each number") +
          said("P008 steps[1]", "invocation `example` passes `y` of `u8` as `y` of `u32`",
               "write .view(vyre.u32) for the same bytes, or convert in a kernel") +
          said("P008 steps[2]", "invocation `example` passes `z` of 2 axes as `y` of 1", "pass an array of 1"));
}

TEST(P009, refuses_swaps_of_unlike_arrays) {
  EXPECT_EQ(found([](Made& made) { made.builder.swap(made.array("a"), made.array("b", ArrayRole::Scratch, DataType::U8)); }),
            said("P009 steps[0]", "a swap exchanges `a` of `u32` with 1 axes and `b` of `u8` with 1", "make both with one type and shape"));
}

std::string unwritten(const std::string& place, const std::string& name) {
  return said("P010 " + place, "dispatch `copy` reads `" + name + "`, which no step before it writes",
              "write it before, or make it with vyre.scratch(..., zeros=True)");
}

TEST(P010, refuses_reads_that_no_write_precedes) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId a = made.array("a"), b = made.array("b"), z = made.array("z", ArrayRole::Scratch, DataType::U32, true);
              made.copy(z, b);
              made.copy(a, b);
              made.copy(a, b);  // said once
            }),
            unwritten("steps[1]", "a"));
}
TEST(P010, knows_that_a_branch_does_not_see_what_the_other_writes) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId a = made.array("a"), b = made.array("b");
              made.builder.when(made.n);
              made.copy(made.x, a);
              made.builder.otherwise();
              made.copy(a, b);
              made.builder.end();
              made.copy(a, b);  // the condition may be that of the read
            }),
            unwritten("steps[0].otherwise[0]", "a"));
}
TEST(P010, follows_swaps_and_the_turns_of_repetitions) {
  const auto ping_pong = [](bool begun) {
    return found([&](Made& made) {
      const ArrayId a = made.array("a"), b = made.array("b");
      if (begun) made.copy(made.x, a);
      made.builder.repeat(made.n);
      made.copy(a, b);
      made.builder.swap(a, b);
      made.builder.end();
      made.copy(b, a);
    });
  };
  EXPECT_EQ(ping_pong(true), "");
  EXPECT_EQ(ping_pong(false), unwritten("steps[0].body[0]", "a"));
  EXPECT_EQ(found([](Made& made) {
              const ArrayId a = made.array("a"), b = made.array("b");
              made.copy(made.x, a);
              made.builder.swap(a, b);
              made.copy(a, b);
            }),
            unwritten("steps[2]", "a"));
}
TEST(P010, allows_what_a_turn_before_may_have_written) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId a = made.array("a"), b = made.array("b"), c = made.array("c"), d = made.array("d");
              const std::uint32_t turn = made.builder.repeat(made.n);
              made.builder.when(made.builder.turn(turn));
              made.copy(c, d);
              made.builder.end();
              made.copy(made.x, a);
              made.builder.swap(a, b);
              made.builder.swap(b, c);
              made.builder.end();
            }),
            "");
}

TEST(P011, refuses_outputs_that_nothing_writes) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId a = made.array("a", ArrayRole::Output), b = made.array("b", ArrayRole::Output);
              made.array("c", ArrayRole::Output, DataType::U32, true);
              made.copy(made.x, a);
              made.builder.swap(a, b);
            }),
            said("P011 arrays[1]", "no step writes output `a`", "write it, or make it with vyre.scratch(..., zeros=True)"));
}

TEST(P012, refuses_sizes_that_are_not_known_yet) {
  EXPECT_EQ(
      found([](Made& made) {
        const std::uint32_t turn = made.builder.repeat(made.n);
        const SizeId next = made.builder.apply(SizeOp::Add, made.builder.turn(turn), made.one);
        made.builder.when(next);
        made.builder.end();
        made.builder.end();
        made.builder.when(next);
        made.builder.end();
        made.builder.array(
            {.name = "a", .role = ArrayRole::Scratch, .element = DataType::U32, .axes = 1, .shape = {next}, .contents = nullptr});
        made.builder.array({.name = "b",
                            .role = ArrayRole::Scratch,
                            .element = DataType::U32,
                            .axes = 1,
                            .shape = {made.builder.length(ArrayId{2}, 0)},
                            .contents = nullptr});
      }),
      said("P012 arrays[1]", "the shape of `a` has the turn of a repetition", "make it as large as any turn needs, and use a part of it") +
          said("P012 arrays[2]", "the shape of `b` has the length of `b`, whose shape stands later",
               "compute both from the lengths of inputs") +
          said("P012 steps[1]", "a size of a condition has the turn of a repetition that it does not stand in",
               "use it in the repetition's steps only"));
}

TEST(P013, refuses_procedures_without_bounds) {
  const auto nested = [](int depth) {
    return found([&](Made& made) {
      for (int k = 0; k < depth; ++k) made.builder.when(made.n);
      for (int k = 0; k < depth; ++k) made.builder.end();
    });
  };
  EXPECT_EQ(nested(32), "");
  std::string path = "steps[0]";
  for (int k = 0; k < 32; ++k) path += ".then[0]";
  for (int depth : {33, 50000}) {
    EXPECT_EQ(nested(depth),
              said("P013 " + path, "repetitions and conditions nest deeper than 32", "move the inner part into a procedure of its own"));
  }
  const auto long_one = [](int count) {
    return found([&](Made& made) {
      const ArrayId y = made.array("y");
      for (int k = 0; k < count; ++k) made.builder.clear(Made::whole(y));
    });
  };
  EXPECT_EQ(long_one(100000), "");
  EXPECT_EQ(long_one(100001), said("P013 steps", "the procedure has 100001 steps",
                                   "keep within 100000 by vyre.times, or by procedures of its own for parts"));
}

TEST(P014, refuses_grids_of_other_types) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId y = made.array("y"), counts = made.array("counts", ArrayRole::Scratch, DataType::U8, true);
              made.builder.dispatch({.name = "copy",
                                     .program = made.builder.program(copies()),
                                     .bound = {Made::whole(made.x), Made::whole(y)},
                                     .grid = {{made.one, made.one, made.one}, Made::whole(counts), false}});
            }),
            said("P014 steps[0]", "the grid of dispatch `copy` is read from `counts` of `u8`", "use an array of u32"));
}

TEST(P015, refuses_ends_that_are_no_integers_or_stay_as_they_are) {
  const auto ended_by = [](DataType element, bool writes, bool swaps = false) {
    return found([&](Made& made) {
      const ArrayId ends = made.array("ends", ArrayRole::Scratch, element, true), y = made.array("y", ArrayRole::Scratch, element, true);
      made.builder.repeat(made.n, Made::whole(ends));
      made.builder.clear(Made::whole(writes ? ends : y));
      if (swaps) made.builder.swap(y, ends);
      made.builder.end();
    });
  };
  for (const ir::TypeInfo& type : ir::kTypes) {
    const bool is_right = type.components == 1 && type.bytes > 0;
    EXPECT_EQ(
        ended_by(type.type, true),
        is_right ? "" : said("P015 steps[0]", "a repetition ends by `ends` of `" + std::string(type.text) + "`", "use an array of u32"));
  }
  EXPECT_EQ(ended_by(DataType::U32, false, true), "");
  EXPECT_EQ(ended_by(DataType::U32, false), said("P015 steps[0]", "a repetition ends by `ends`, which none of its steps writes",
                                                 "write it in a step of the repetition, or leave until= out"));
}

TEST(P010, counts_the_element_that_ends_a_repetition_as_read_before_the_first_turn) {
  EXPECT_EQ(found([](Made& made) {
              const ArrayId ends = made.array("ends");
              made.builder.repeat(made.n, Made::whole(ends));
              made.builder.clear(Made::whole(ends));
              made.builder.end();
            }),
            said("P010 steps[0]", "a repetition reads `ends`, which no step before it writes",
                 "write it before, or make it with vyre.scratch(..., zeros=True)"));
}

}  // namespace
}  // namespace vyre::validate
