// How it works: the arrays are placed in the order in which they come into use, each into the smallest gap that it fits into, or at the end
// of a block. A gap is memory of arrays that are no longer in use; adjacent gaps are joined.
#include "vyre/run/procedures/workspace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace vyre::run {
namespace {

constexpr std::uint64_t kNoRoom = std::numeric_limits<std::uint64_t>::max();

class Gaps {
 public:
  // Takes `bytes` from the smallest gap that has them.
  std::optional<Workspace::Location> take(std::uint64_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0, 0});
    if (found == by_size_.end()) return std::nullopt;
    const auto [size, block, offset] = *found;
    erase(block, offset, size);
    if (size > bytes) insert(block, offset + bytes, size - bytes);
    return Workspace::Location{block, offset};
  }
  void give_back(std::uint32_t block, std::uint64_t offset, std::uint64_t bytes) {
    const auto after = by_place_.lower_bound({block, offset});
    if (after != by_place_.end() && after->first == std::pair(block, offset + bytes)) {
      const std::uint64_t more = after->second;
      erase(block, offset + bytes, more);
      bytes += more;
    }
    const auto next = by_place_.lower_bound({block, offset});
    if (next != by_place_.begin()) {
      const auto [place, size] = *std::prev(next);
      if (place.first == block && place.second + size == offset) {
        erase(block, place.second, size);
        offset = place.second;
        bytes += size;
      }
    }
    insert(block, offset, bytes);
  }
  // Removes the gap at the end of a block, so that the block can grow from there. Returns where the gap began, or `end` if there is none.
  std::uint64_t take_end(std::uint32_t block, std::uint64_t end) {
    const auto next = by_place_.lower_bound({block, end});
    if (next == by_place_.begin()) return end;
    const auto [place, size] = *std::prev(next);
    if (place.first != block || place.second + size != end) return end;
    erase(block, place.second, size);
    return place.second;
  }

 private:
  void insert(std::uint32_t block, std::uint64_t offset, std::uint64_t bytes) {
    by_size_.insert({bytes, block, offset});
    by_place_.insert({{block, offset}, bytes});
  }
  void erase(std::uint32_t block, std::uint64_t offset, std::uint64_t bytes) {
    by_size_.erase({bytes, block, offset});
    by_place_.erase({block, offset});
  }

  std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> by_size_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> by_place_;
};

std::uint64_t rounded(std::uint64_t bytes) {
  if (bytes > kNoRoom - Workspace::kAlignment) return kNoRoom;
  return std::max<std::uint64_t>(1, (bytes + Workspace::kAlignment - 1) / Workspace::kAlignment) * Workspace::kAlignment;
}

}  // namespace

Workspace lay_out(std::span<const ScratchArray> arrays, std::uint64_t most_bytes) {
  Workspace result;
  result.locations.resize(arrays.size());
  std::vector<std::size_t> order(arrays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Among arrays that come into use at the same step, the largest is placed first: smaller ones fit into the gaps that are left.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return arrays[a].first != arrays[b].first ? arrays[a].first < arrays[b].first : arrays[a].bytes > arrays[b].bytes;
  });
  using InUse = std::pair<std::size_t, std::size_t>;  // the last step, the array
  std::priority_queue<InUse, std::vector<InUse>, std::greater<>> in_use;
  Gaps gaps;
  for (const std::size_t index : order) {
    const std::uint64_t bytes = rounded(arrays[index].bytes);
    for (; !in_use.empty() && in_use.top().first < arrays[index].first; in_use.pop()) {
      const std::size_t done = in_use.top().second;
      gaps.give_back(result.locations[done].block, result.locations[done].offset, rounded(arrays[done].bytes));
    }
    in_use.push({arrays[index].last, index});
    if (const auto gap = gaps.take(bytes)) {
      result.locations[index] = *gap;
      continue;
    }
    const auto block = static_cast<std::uint32_t>(result.blocks.empty() ? 0 : result.blocks.size() - 1);
    if (!result.blocks.empty() && result.blocks.back() <= most_bytes) {
      const std::uint64_t begin = gaps.take_end(block, result.blocks.back());
      if (bytes <= most_bytes && begin <= most_bytes - bytes) {
        result.locations[index] = {block, begin};
        result.blocks.back() = begin + bytes;
        continue;
      }
      if (begin < result.blocks.back()) gaps.give_back(block, begin, result.blocks.back() - begin);
    }
    result.locations[index] = {static_cast<std::uint32_t>(result.blocks.size()), 0};
    result.blocks.push_back(bytes);
  }
  return result;
}

}  // namespace vyre::run
