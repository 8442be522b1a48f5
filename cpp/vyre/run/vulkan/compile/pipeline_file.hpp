// Compiled pipelines on disk, one file a pipeline, so that the next process need not compile again.
//
// A file is only ever a shortcut: one that is missing, cut short, damaged or of another driver is passed over, and one that
// cannot be written is no error. The checksum stands in front of drivers that trust what they are given.
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
  // `device_key` names driver, device and driver version.
  PipelineFile(const Options& options, const std::string& device_key, const Shader& shader);

  // Returns the data that write() stored; empty when there is no usable file.
  std::vector<std::byte> read() const;
  void write(const std::vector<std::byte>& data) const;

 private:
  std::string key_;
  std::optional<std::filesystem::path> folder_;
};

}  // namespace vyre::run::vulkan
