// The files that the Vulkan loader reads drivers from, and what is wrong with one. The loader says of a damaged manifest that memory ran
// out, and mapping a driver whose file was cut short ends the process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vyre::run::vulkan {

// Manifests as the environment names them, or of the folders where drivers are installed.
std::vector<std::filesystem::path> driver_manifests();

// What is wrong with the driver of a manifest, as a sentence with its Fix; empty when nothing is, or nothing is known.
std::string damage_of(const std::filesystem::path& manifest);
// The same for those that would end the process alone.
std::string deadly_damage_of(const std::filesystem::path& manifest);

// Of the first manifest that has any.
std::string damaged_driver();
std::string deadly_driver();

}  // namespace vyre::run::vulkan
