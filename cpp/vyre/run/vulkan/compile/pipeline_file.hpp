// Compiled pipelines on disk, a file for each, so that the next process need not compile again.
//
// A file that is missing, cut short, damaged or of another driver is ignored, and a file that cannot be written is no error. The checksum
// protects drivers that trust the data they are given.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "vyre/run/vulkan/api/options.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"

namespace vyre::run::vulkan {

class PipelineFile {
 public:
  // `device_key` is PhysicalDevice::key.
  PipelineFile(const Options& options, const std::string& device_key, const Shader& shader);

  // The data that write() stored; empty if there is no usable file.
  std::vector<std::byte> read() const;
  void write(const std::vector<std::byte>& data) const;

 private:
  std::string key_;
  std::optional<std::filesystem::path> folder_;
};

}  // namespace vyre::run::vulkan
