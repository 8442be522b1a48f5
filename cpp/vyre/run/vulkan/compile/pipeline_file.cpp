#include "vyre/run/vulkan/compile/pipeline_file.hpp"

#include <cstdint>

namespace vyre::run::vulkan {

KeptFile pipeline_file(const Options& options, const std::string& device_key, const Shader& shader) {
  const std::uint32_t interface[] = {shader.buffer_count, shader.has_status ? 1u : 0u};
  std::string bytes(reinterpret_cast<const char*>(shader.words.data()), shader.words.size() * sizeof(std::uint32_t));
  bytes.append(reinterpret_cast<const char*>(interface), sizeof(interface));
  return {options.cache_directory, device_key, KeptFile::hash_of(bytes)};
}

}  // namespace vyre::run::vulkan
