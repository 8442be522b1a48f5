// Finds the files from which the Vulkan loader reads drivers, and reports damage in them. Without these checks, the loader reports a
// damaged manifest as a lack of memory, and a truncated driver or a manifest that is nested too deeply crashes the process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vyre::run {

// The places where the loader looks, by its documentation ("Driver discovery on Linux"): folders of manifests, and single manifests.
struct DriverPlaces {
  std::vector<std::filesystem::path> places;  // each once, in the loader's order
  std::string only;                           // the environment variable that lists them all; empty if none does
  bool added = false;                         // whether VK_ADD_DRIVER_FILES lists the first ones
};
DriverPlaces driver_places();

// The manifests in these places. Those of one folder are sorted by name.
std::vector<std::filesystem::path> driver_manifests();

// The library that a manifest names, as it is written there. Nothing for a file that is no driver manifest.
std::optional<std::string> driver_library(const std::filesystem::path& manifest);

// Says what is wrong with the driver of a manifest, as a sentence with its Fix. Empty when no damage was found, or when the driver cannot
// be examined.
std::string damage_of(const std::filesystem::path& manifest);

// The damage of the first damaged driver among driver_manifests(); deadly_driver() reports only damage that would end the process or make
// it hang.
std::string damaged_driver();
std::string deadly_driver();

}  // namespace vyre::run
