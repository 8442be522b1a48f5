// Finds the file that keeps the compiled pipeline of a shader.
#pragma once

#include <string>

#include "vyre/run/gpu/kept_file.hpp"
#include "vyre/run/vulkan/api/options.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"

namespace vyre::run::vulkan {

// `device_key` is PhysicalDevice::key.
KeptFile pipeline_file(const Options& options, const std::string& device_key, const Shader& shader);

}  // namespace vyre::run::vulkan
