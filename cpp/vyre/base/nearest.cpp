#include "vyre/base/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace vyre {
namespace {

constexpr std::size_t kLongest = 100;
constexpr std::size_t kMostChanges = 3;
constexpr std::size_t kLettersForAChange = 4;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other, upper and lower case being the same.
std::size_t changes(std::string_view a, std::string_view b) {
  using Row = std::array<std::uint8_t, kLongest + 1>;
  Row before_last{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<std::uint8_t>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<std::uint8_t>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      int least = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        least = std::min(least, before_last[j - 2] + 1);
      }
      row[j] = static_cast<std::uint8_t>(least);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

bool is_tail(std::string_view name, std::string_view known) {
  return !name.empty() && known.size() > name.size() && known.ends_with(name) && known[known.size() - name.size() - 1] == '.';
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> known) {
  if (name.empty() || name.size() > kLongest) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = kMostChanges + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongest || candidate == name) continue;
    const std::size_t longer = std::max(name.size(), candidate.size()), shorter = std::min(name.size(), candidate.size());
    std::size_t count = kMostChanges + 1;
    if (is_tail(name, candidate)) {
      count = 0;
    } else if (longer - shorter < least && longer - shorter <= longer / kLettersForAChange) {
      count = changes(name, candidate);
      if (count > longer / kLettersForAChange) continue;
    }
    if (count < least) {
      least = count;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const auto meant = nearest(name, known);
  return meant ? " (did you mean `" + std::string(*meant) + "`?)" : std::string();
}

}  // namespace vyre
