// The launches that a grid takes on a CUDA device: several for a large one, coarsened ones, and grids whose counts are data.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"

namespace vyre::test {
namespace {

TEST_F(CudaTest, a_grid_larger_than_a_launch_takes_several) {
  CudaBackend cuda = backend({.max_group_count = std::array<std::uint32_t, 3>{3, 1, 1}});
  Resident arrays(cuda, 6400);
  const auto executable = prepared(cuda, xor_, 0);
  driver_.forget_calls();
  executable->plan(arrays.views, {100, 1, 1})->submit(arrays.views, {}, {});
  EXPECT_TRUE(arrays.right());
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 34);
}

TEST_F(CudaTest, large_grids_run_coarsened) {
  CudaBackend cuda = backend();
  constexpr std::uint32_t kWords = (std::uint32_t{1} << 20) + 5;
  Resident arrays(cuda, kWords);
  const auto executable = prepared(cuda, xor_, 0);
  driver_.forget_calls();
  executable->plan(arrays.views, {(kWords + 63) / 64, 1, 1})->submit(arrays.views, {}, {});
  EXPECT_TRUE(arrays.right());
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 2) << "the coarsened part, and what is left";
}

TEST_F(CudaTest, a_grid_from_data_counts_workgroups_or_invocations) {
  CudaBackend cuda = backend();
  const auto executable = prepared(cuda, xor_, 0);
  const auto done = [&](StorageView::Role role, std::uint32_t count) {
    Resident arrays(cuda, 640);
    // No invocation writes a one: the xor of `a` and `b` is even.
    arrays.storages[2]->write(0, bytes_of(Words(640, 1)), {});
    const auto counts = cuda.allocate(0, 16, true);
    const std::array<std::uint32_t, 3> words = {count, 1, 1};
    counts->write(4, std::as_bytes(std::span(words)), {});
    std::vector<StorageView> views = arrays.views;
    views.push_back({counts.get(), 4, 12, 3, role});
    executable->plan(views, {9, 1, 1})->submit(views, {}, {});
    const Words got = arrays.out(), all = xor_of(arrays.a, arrays.b);
    const auto wrong = std::mismatch(got.begin(), got.end(), all.begin()).first;
    EXPECT_EQ(Words(wrong, got.end()), Words(static_cast<std::size_t>(got.end() - wrong), 1));
    return wrong - got.begin();
  };
  EXPECT_EQ(done(StorageView::Role::Workgroups, 2), 128);
  EXPECT_EQ(done(StorageView::Role::Workgroups, 99), 576) << "at most nine";
  EXPECT_EQ(done(StorageView::Role::Workgroups, 0), 0);
  EXPECT_EQ(done(StorageView::Role::Invocations, 128), 128);
  EXPECT_EQ(done(StorageView::Role::Invocations, 129), 192) << "whole workgroups";
  EXPECT_EQ(done(StorageView::Role::Invocations, 0xFFFFFFFF), 576);
}

}  // namespace
}  // namespace vyre::test
