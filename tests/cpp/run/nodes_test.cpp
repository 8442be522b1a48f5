// Nodes of made-up machines, in folders that are made as Linux makes them, and the shares that their threads have in a call.
#include "vyre/run/host/nodes.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "support/directory.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/run/cpu/cpu.hpp"

namespace vyre::run {
namespace {

using Pieces = std::vector<std::uint64_t>;

std::vector<unsigned> up_to(unsigned count) {
  std::vector<unsigned> result(count);
  std::iota(result.begin(), result.end(), 0u);
  return result;
}

class NodesOf : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((directory_.path / path).parent_path());
    std::ofstream(directory_.path / path) << text << "\n";
  }
  Nodes of(const std::vector<unsigned>& processors) const { return nodes_of(directory_.path, processors); }

 private:
  const test::Directory directory_;
};

TEST_F(NodesOf, two_sockets_are_those_that_their_processors_are_in) {
  write("online", "0-1");
  write("node0/cpulist", "0-3,8-11");
  write("node1/cpulist", "4-7,12-15");
  const Nodes nodes = of(up_to(16));
  EXPECT_EQ(nodes.of_processor, (std::vector<unsigned>{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(nodes.processors, (std::vector<unsigned>{8, 8}));
}

TEST_F(NodesOf, a_process_are_those_of_the_processors_that_it_may_use) {
  write("online", "0,2-3");
  write("node0/cpulist", "0-3");
  write("node2/cpulist", "4-7");
  write("node3/cpulist", "8-9");
  const Nodes nodes = of({2, 8, 9});
  EXPECT_EQ(nodes.processors, (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(nodes.of_processor.at(2), 0u);
  EXPECT_EQ(nodes.of_processor.at(8), 1u);
  EXPECT_EQ(nodes.of_processor.at(9), 1u);
  EXPECT_TRUE(of({8, 9}).processors.empty()) << "one node";
}

TEST_F(NodesOf, nodes_without_processors_are_left_out) {
  write("online", "0-1");
  write("node0/cpulist", "0-7");
  write("node1/cpulist", "");
  EXPECT_TRUE(of(up_to(8)).processors.empty());
}

TEST_F(NodesOf, a_system_that_describes_none_is_one) { EXPECT_TRUE(of(up_to(8)).processors.empty()); }

Pieces taken(Shares& shares, unsigned node, std::size_t count) {
  Pieces result;
  Shares::Taker taker(shares);
  while (result.size() < count) {
    const std::optional<std::uint64_t> piece = taker.next(node);
    if (!piece) break;
    result.push_back(*piece);
  }
  return result;
}

TEST(Shares, of_one_node_are_all_pieces_in_order) {
  const Nodes one;
  Shares shares(5, one, 2);
  EXPECT_EQ(taken(shares, 0, 100), (Pieces{0, 1, 2, 3, 4}));
  EXPECT_EQ(Shares::Taker(shares).next(), std::nullopt);
}

TEST(Shares, are_as_long_as_nodes_have_processors) {
  const Nodes nodes{{}, {4, 8, 4}};
  Shares shares(16, nodes, 16);
  EXPECT_EQ(taken(shares, 1, 8), (Pieces{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(taken(shares, 0, 4), (Pieces{0, 1, 2, 3}));
  EXPECT_EQ(taken(shares, 2, 4), (Pieces{12, 13, 14, 15}));
  for (const unsigned node : {0u, 1u, 2u}) EXPECT_EQ(taken(shares, node, 1), Pieces());
}

TEST(Shares, that_are_used_up_are_followed_by_those_of_the_nodes_after_them) {
  const Nodes nodes{{}, {1, 1, 1}};
  Shares shares(6, nodes, 3);
  EXPECT_EQ(taken(shares, 0, 1), (Pieces{0}));
  EXPECT_EQ(taken(shares, 1, 100), (Pieces{2, 3, 4, 5, 1}));
}

TEST(Shares, are_taken_by_several_pieces_while_many_are_left) {
  const Nodes one;
  Shares shares(1000, one, 2);
  Shares::Taker first(shares), second(shares);
  const auto pieces = [](Shares::Taker& taker, unsigned count) {
    Pieces result;
    for (unsigned k = 0; k < count; ++k) result.push_back(*taker.next());
    return result;
  };
  EXPECT_EQ(pieces(first, 1), (Pieces{0}));
  EXPECT_EQ(pieces(second, 1), (Pieces{1}));
  EXPECT_EQ(pieces(first, 3), (Pieces{2, 3, 4})) << "two, and then four";
  EXPECT_EQ(pieces(second, 3), (Pieces{8, 9, 10})) << "those of the first taker are behind 4";
  EXPECT_EQ(pieces(first, 4), (Pieces{5, 6, 7, 14})) << "its four, and the first of eight";
}

TEST(Shares, are_taken_piece_by_piece_when_few_are_left) {
  const Nodes one;
  Shares shares(31, one, 2);
  EXPECT_EQ(taken(shares, 0, 1), (Pieces{0}));
  Shares::Taker first(shares), second(shares);
  for (std::uint64_t piece = 1; piece < 31; piece += 2) {
    EXPECT_EQ(first.next(0), piece);
    EXPECT_EQ(second.next(0), piece + 1);
  }
}

TEST(Shares, have_every_piece_once) {
  const std::vector<std::vector<unsigned>> machines = {{}, {1, 1}, {3, 5}, {1, 1, 1, 1, 1, 1, 1}, std::vector(40, 2u)};
  for (const std::vector<unsigned>& processors : machines) {
    const Nodes nodes{{}, processors};
    for (const std::uint64_t pieces : {0ull, 1ull, 2ull, 7ull, 100ull, 5000ull}) {
      Shares shares(pieces, nodes, 3);
      std::vector<Shares::Taker> takers(3, Shares::Taker(shares));
      Pieces all;
      for (unsigned turn = 0; all.size() < pieces; ++turn) {
        if (const std::optional<std::uint64_t> piece = takers[turn % 3].next(turn % 40)) all.push_back(*piece);
        ASSERT_LT(turn, 3 * pieces + 3);
      }
      for (Shares::Taker& taker : takers) EXPECT_EQ(taker.next(0), std::nullopt);
      std::ranges::sort(all);
      Pieces expected(pieces);
      std::iota(expected.begin(), expected.end(), std::uint64_t{0});
      EXPECT_EQ(all, expected);
    }
  }
}

TEST(Shares, of_many_pieces_do_not_overflow) {
  const Nodes nodes{{}, {1, 3}};
  const std::uint64_t pieces = std::uint64_t{1} << 63;
  Shares shares(pieces, nodes, 4);
  EXPECT_EQ(Shares::Taker(shares).next(1), pieces / 4);
}

// Processor 0 is on the first node and all others on the second one, whatever the machine is.
TEST(Shares, of_a_machine_with_two_nodes_give_the_reference_s_bytes) {
  using namespace ir;

  using namespace sample;
  Nodes nodes{std::vector<unsigned>(CPU_SETSIZE, 1u), {1, 3}};
  nodes.of_processor[0] = 0;
  const std::uint32_t length = 1'000'000;
  const ExprHandle i = gid(0);
  const Program program = Sample().out("out").size(64).add(if_(i < len("out"), {store("out", i, i * u32(2654435761u))})).make();
  const auto cpu = make_cpu_backend({.threads = 4, .nodes = nodes});
  const test::Words got = test::run_program(*cpu, test::valid(program), {test::Words(length)}, {(length + 63) / 64, 1, 1}).back();
  for (std::uint32_t k = 0; k < length; ++k) ASSERT_EQ(got[k], k * 2654435761u);
}

}  // namespace
}  // namespace vyre::run
