#include "vyre/run/vulkan/calls/dispatches.hpp"

#include <algorithm>
#include <cstring>

#include "vyre/base/assert.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/run/vulkan/compile/translate.hpp"
#include "vyre/run/vulkan/memory/buffer.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::vulkan {

namespace {

// One invocation computes one word of `counts`. `parts` begins with the three words of counted_by. Two words for each word of `counts`
// follow: along the word's axis, the first workgroup of its part and the number of workgroups that the part has at most.
constexpr char kProgram[] = R"(vyre 1
workgroup_size 64 1 1
buffer given: read u32 binding 0
buffer parts: read u32 binding 1
buffer counts: read_write u32 binding 2 output

let i = gid.x
if i < len(counts) {
  let axis = i % 3
  let counted_by = parts[axis]
  let count = given[axis]
  let groups = (count / counted_by) + min(count % counted_by, 1)
  let first = parts[(i * 2) + 3]
  let most = parts[(i * 2) + 4]
  counts[i] = min(groups - min(groups, first), most)
}
)";
constexpr std::uint32_t kInvocations = 64;

const Shader& shader() {
  // Never destroyed, because another thread may use it while the process ends.
  static const Shader& made = *[] {
    const validate::Verdict verdict = validate::validate(ir::parse(kProgram), ir::OpTable());
    VYRE_ASSERT(verdict.program.has_value());
    return new Shader(translate(*verdict.program, {}));
  }();
  return made;
}

std::vector<std::uint32_t> described(const std::array<std::uint32_t, 3>& counted_by, const GridParts& parts) {
  std::vector<std::uint32_t> words(counted_by.begin(), counted_by.end());
  for (std::uint64_t index = 0; index < parts.count(); ++index) {
    const GridPart part = parts[index];
    VYRE_ASSERT(!part.coarse);
    for (std::size_t axis = 0; axis < 3; ++axis) words.insert(words.end(), {part.first[axis], part.groups[axis]});
  }
  return words;
}

VkDescriptorBufferInfo range_of(const Block& block, std::uint64_t bytes) { return {block.buffer(), block.offset(), device_bytes(bytes)}; }

}  // namespace

DispatchCounts::DispatchCounts(Device& device, const VkDescriptorBufferInfo& given, const std::array<std::uint32_t, 3>& counted_by,
                               const GridParts& parts)
    : words_(static_cast<std::uint32_t>(3 * parts.count())),
      pipeline_(device.pipeline(shader())),
      set_(device.context(), pipeline_->set_layout(), pipeline_->shader().binding_count()) {
  const std::vector<std::uint32_t> known = described(counted_by, parts);
  const std::uint64_t bytes = known.size() * sizeof(known[0]);
  parts_ = device.heap().allocate(device_bytes(bytes), BufferUse::Host);
  std::memcpy(parts_.mapped(), known.data(), bytes);
  counts_ = device.heap().allocate(device_bytes(kPartBytes * parts.count()));
  rebind(device.context(), given);
}

void DispatchCounts::rebind(Context& context, const VkDescriptorBufferInfo& given) {
  // `parts` has three words of counted_by, and two words for each word of `counts`.
  const std::uint64_t parts_bytes = 4 * (3 + 2 * std::uint64_t{words_});
  const std::array<VkDescriptorBufferInfo, 3> bindings = {given, range_of(parts_, parts_bytes), range()};
  set_.bind(context, bindings);
}

VkDescriptorBufferInfo DispatchCounts::range() const { return range_of(counts_, std::uint64_t{4} * words_); }

void DispatchCounts::record(Commands& commands) const {
  commands.bind(pipeline_->handle(), pipeline_->layout(), set_.handle());
  const std::array<std::uint32_t, 6> constants = {0, 0, 0, 3, 3 + 2 * words_, words_};
  commands.push(pipeline_->layout(), constants);
  commands.dispatch({(words_ + kInvocations - 1) / kInvocations, 1, 1});
  commands.order(kShader, kCounts);
}

void record_parts(Commands& commands, const Kernels& kernels, VkDescriptorSet set, std::span<std::uint32_t> constants,
                  const GridParts& parts, std::uint64_t first, std::uint64_t end, const DispatchCounts* counts) {
  for (std::uint64_t index = first; index < end; ++index) {
    const GridPart part = parts[index];
    const Pipeline& pipeline = kernels.of(part.coarse);
    // The barrier orders the atomics of this part after those of the parts before it. A program that has a coarsened kernel has no atomics,
    // so it needs no barrier.
    if (index > 0 && kernels.coarse == nullptr) commands.order(kShader, kShader);
    std::copy(part.first.begin(), part.first.end(), constants.begin());
    if (index == first || part.coarse != parts[index - 1].coarse) {
      commands.bind(pipeline.handle(), pipeline.layout(), set);
      commands.push(pipeline.layout(), constants);
    } else {
      commands.push(pipeline.layout(), constants.first(3));
    }
    if (counts != nullptr) {
      commands.dispatch(counts->buffer(), counts->offset(index));
    } else {
      commands.dispatch(part.groups);
    }
  }
}

void append_address(std::vector<std::uint32_t>& words, std::uint64_t address) {
  words.push_back(static_cast<std::uint32_t>(address));
  words.push_back(static_cast<std::uint32_t>(address >> 32));
}

}  // namespace vyre::run::vulkan
