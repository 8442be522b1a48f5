#include "vyre/run/specialization.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "vyre/base/assert.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run {
namespace {

// The most sets of words whose calls are counted at a time. More would not help a program whose words change with every call.
constexpr std::size_t kMostCandidates = 8;
constexpr std::uint64_t kFewestCalls = 4;

std::uint64_t invocations_of(Grid grid, const ir::WorkgroupSize& workgroup_size) {
  const std::array<std::uint32_t, 3> groups = {grid.x, grid.y, grid.z};
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  // The product along one axis fits into 64 bits, and `count` never exceeds kMost.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint64_t along = std::uint64_t{groups[axis]} * workgroup_size[axis];
    if (along != 0 && count > kMost / along) return kMost;
    count *= along;
  }
  return count;
}

}  // namespace

Specialization::Specialization(const validate::ValidProgram& program, const Optimize& options)
    : everywhere_(options.everywhere), workgroup_size_(program.program().workgroup_size()), program_(program) {
  const auto is_uniform = [](const ir::BufferDecl& buffer) { return buffer.access == ir::BufferAccess::Uniform; };
  if (!options.specialization || std::ranges::none_of(program.program().buffers(), is_uniform)) return;
  program_ = lower::prepare(program, options);
  elements_ = transform::deciding_elements(program_);
  for (const transform::UniformElement& element : elements_) {
    const std::uint32_t lanes = ir::lanes(element.type);
    parts_.push_back({element.slot, std::uint64_t{element.index} * lanes * 4, lanes, element.type == ir::DataType::Bool});
    word_count_ += lanes;
  }
}

void Specialization::append(Words& words, const Part& part, std::span<const std::byte> bytes) {
  std::array<std::uint32_t, 4> lanes{};
  const std::uint64_t size = std::uint64_t{part.lanes} * 4;
  if (part.offset + size <= bytes.size()) std::memcpy(lanes.data(), bytes.data() + part.offset, size);
  if (part.truth) lanes[0] = lanes[0] != 0;
  words.insert(words.end(), lanes.begin(), lanes.begin() + part.lanes);
}

Specialization::Words Specialization::words(std::span<const BufferView> buffers) const {
  Words words;
  words.reserve(word_count_);
  for (const Part& part : parts_) append(words, part, buffers[part.slot].bytes);
  return words;
}

std::optional<std::size_t> Specialization::choose(const Words& words, Grid grid, std::uint64_t calls, std::uint64_t enough) {
  VYRE_ASSERT(words.size() == word_count_);
  if (parts_.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (const auto known = std::ranges::find(chosen_, words); known != chosen_.end()) {
    return static_cast<std::size_t>(known - chosen_.begin());
  }
  if (chosen_.size() == kMost) return std::nullopt;
  auto candidate = std::ranges::find(candidates_, words, &Candidate::words);
  if (candidate == candidates_.end()) {
    if (candidates_.size() == kMostCandidates) candidates_.pop_back();
    candidates_.push_front({words});
  } else {
    candidates_.splice(candidates_.begin(), candidates_, candidate);
  }
  Candidate& now = candidates_.front();
  // Each addend is limited to about the threshold that its sum is compared with, so neither sum can overflow.
  const std::uint64_t each = std::min(invocations_of(grid, workgroup_size_), enough);
  now.calls += std::min(calls, kFewestCalls);
  now.invocations += each * std::min(calls, enough / std::max<std::uint64_t>(each, 1) + 1);
  if (!everywhere_ && (now.calls < kFewestCalls || now.invocations < enough)) return std::nullopt;
  candidates_.pop_front();
  chosen_.push_back(words);
  return chosen_.size() - 1;
}

validate::ValidProgram Specialization::program(std::size_t number) const {
  const Span span("specialize");
  Words words;
  {
    const std::lock_guard lock(mutex_);
    words = chosen_[number];
  }
  std::vector<ir::Value> values;
  auto from = words.begin();
  for (const Part& part : parts_) {
    std::copy_n(from, part.lanes, values.emplace_back().lanes.begin());
    from += part.lanes;
  }
  return transform::specialize(program_, elements_, values);
}

}  // namespace vyre::run
