// Writes the parts of the module before the function's code: capabilities, types, the interface of the shader (emit/interface.hpp) and its
// variables.
#include <algorithm>
#include <bit>

#include "vyre/emit/interface.hpp"
#include "vyre/emit/spirv/emitter.hpp"

namespace vyre::spirv {

void Emitter::declare_capabilities() {
  module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityShader});
  module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityVulkanMemoryModel});
  if (options_.addresses) module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityPhysicalStorageBufferAddresses});
  const auto has_elements_of = [&](std::uint32_t bytes) {
    return std::ranges::any_of(kernel_.buffers, [&](const lower::KernelBuffer& buffer) { return buffer.narrow == bytes; });
  };
  if (has_elements_of(1)) module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityStorageBuffer8BitAccess});
  if (has_elements_of(2)) module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityStorageBuffer16BitAccess});
  const auto is_wide = [](const Instruction& it) {
    return it.op == Opcode::WideMulHigh || it.op == Opcode::WideDiv || it.op == Opcode::WideMod;
  };
  if (std::ranges::any_of(kernel_.code, is_wide)) module_.add(Section::Capabilities, spv::OpCapability, {spv::CapabilityInt64});
}

void Emitter::declare() {
  declare_capabilities();
  glsl_ = module_.fresh();
  std::vector<Word> import{glsl_};
  const std::vector<Word> library = string_words("GLSL.std.450");
  import.insert(import.end(), library.begin(), library.end());
  module_.add(Section::Imports, spv::OpExtInstImport, import);
  const auto addressing = options_.addresses ? spv::AddressingModelPhysicalStorageBuffer64 : spv::AddressingModelLogical;
  module_.add(Section::MemoryModel, spv::OpMemoryModel, {static_cast<Word>(addressing), spv::MemoryModelVulkan});

  // These are made here, so that no id depends on the order in which a compiler evaluates arguments.
  uint_ = module_.uint();
  boolean_type_ = module_.type(spv::OpTypeBool, {});

  std::vector<Word> interface;
  const auto built_in = [&](spv::BuiltIn which, Word type) {
    const Word id = module_.variable(Section::Globals, spv::StorageClassInput, type);
    module_.decorate(id, {spv::DecorationBuiltIn, static_cast<Word>(which)});
    interface.push_back(id);
    return id;
  };
  const Word vector = module_.uints(3);
  workgroup_id_ = built_in(spv::BuiltInWorkgroupId, vector);
  local_id_ = built_in(spv::BuiltInLocalInvocationId, vector);
  if (!kernel_.shared.empty() || !closed_loops_.empty()) local_index_ = built_in(spv::BuiltInLocalInvocationIndex, uint());

  const auto words = static_cast<Word>(kFirstLengthWord + kernel_.buffers.size());
  const Word words_type = module_.distinct_type(spv::OpTypeArray, {uint(), constant(words)});
  module_.decorate(words_type, {spv::DecorationArrayStride, 4});
  const auto block = [&](Word member) {
    const Word type = module_.distinct_type(spv::OpTypeStruct, {member});
    module_.decorate(type, {spv::DecorationBlock});
    module_.decorate_member(type, 0, {spv::DecorationOffset, 0});
    return type;
  };
  parameters_ = module_.variable(Section::Globals, spv::StorageClassPushConstant, block(words_type));
  interface.push_back(parameters_);

  const auto bind = [&](Word type, std::size_t binding) {
    const Word id = module_.variable(Section::Globals, spv::StorageClassStorageBuffer, type);
    module_.decorate(id, {spv::DecorationDescriptorSet, 0});
    module_.decorate(id, {spv::DecorationBinding, static_cast<Word>(binding)});
    interface.push_back(id);
    return id;
  };
  // Buffers that are only read have types of their own. Where both shared a type, an NVIDIA H200 moved loads of written buffers past
  // stores, as if NonWritable held for every variable of the type.
  std::array<std::array<Word, 5>, 2> blocks{};  // by whether it is written, and the bytes of an element
  const auto array_of = [&](const lower::KernelBuffer& buffer) {
    Word& type = blocks[buffer.writable ? 1 : 0][static_cast<std::size_t>(std::countr_zero(buffer.bytes()))];
    if (type == 0) {
      const Word elements = module_.distinct_type(spv::OpTypeRuntimeArray, {element_type(buffer)});
      module_.decorate(elements, {spv::DecorationArrayStride, buffer.bytes()});
      type = block(elements);
      if (!buffer.writable) module_.decorate_member(type, 0, {spv::DecorationNonWritable});
    }
    return type;
  };
  if (options_.addresses) {
    buffers_.push_back(bind(array_of({.lanes = 2}), 0));
  } else {
    for (const lower::KernelBuffer& buffer : kernel_.buffers) buffers_.push_back(bind(array_of(buffer), buffers_.size()));
  }
  if (options_.check_loops) status_ = bind(block(uint()), buffers_.size());

  for (const lower::SharedArray& array : kernel_.shared) {
    const Word type = module_.type(spv::OpTypeArray, {module_.uints(array.lanes), constant(array.count)});
    shared_.push_back(module_.variable(Section::Globals, spv::StorageClassWorkgroup, type));
    interface.push_back(shared_.back());
  }

  const Word nothing = module_.type(spv::OpTypeVoid, {});
  const Word function_type = module_.type(spv::OpTypeFunction, {nothing});
  const Word main = module_.fresh();
  module_.add(Section::FunctionHead, spv::OpFunction, {nothing, main, spv::FunctionControlMaskNone, function_type});
  block_ = module_.fresh();
  module_.add(Section::FunctionHead, spv::OpLabel, {block_});
  live_ = true;
  for (const lower::PrivateArray& array : kernel_.privates) {
    const Word type = module_.type(spv::OpTypeArray, {module_.uints(array.lanes), constant(array.count)});
    privates_.push_back(module_.variable(Section::FunctionVariables, spv::StorageClassFunction, type));
  }
  for (const std::uint8_t lanes : kernel_.variables) {
    variables_.push_back(module_.variable(Section::FunctionVariables, spv::StorageClassFunction, module_.uints(lanes)));
  }

  std::vector<Word> entry{spv::ExecutionModelGLCompute, main};
  const std::vector<Word> entry_name = string_words("main");
  entry.insert(entry.end(), entry_name.begin(), entry_name.end());
  entry.insert(entry.end(), interface.begin(), interface.end());
  module_.add(Section::EntryPoint, spv::OpEntryPoint, entry);
  const ir::WorkgroupSize& size = kernel_.workgroup_size;
  module_.add(Section::ExecutionModes, spv::OpExecutionMode, {main, spv::ExecutionModeLocalSize, size[0], size[1], size[2]});
}

void Emitter::load_addresses() {
  if (!options_.addresses) return;
  const Word pair = module_.uints(2), pointer = module_.pointer(spv::StorageClassStorageBuffer, pair);
  for (std::uint32_t slot = 0; slot < kernel_.buffers.size(); ++slot) {
    const Word entry = result(spv::OpAccessChain, pointer, {buffers_[0], constant(0), constant(slot)});
    const Word address = result(spv::OpLoad, pair, {entry});
    const Word low = result(spv::OpCompositeExtract, uint(), {address, 0});
    addresses_.push_back({low, result(spv::OpCompositeExtract, uint(), {address, 1})});
  }
}

}  // namespace vyre::spirv
