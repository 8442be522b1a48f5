# Finds what the core is built on, and when something is missing says, once, the command that installs all of it.

set(VYRE_PACKAGES libfmt-dev)
set(missing "")

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  list(APPEND missing libfmt-dev)
endif()

if(VYRE_SPIRV)
  list(APPEND VYRE_PACKAGES glslang-dev spirv-tools libvulkan-dev libvulkan-volk-dev)
  find_path(VYRE_SPIRV_HPP_DIR glslang/SPIRV/spirv.hpp)
  if(NOT VYRE_SPIRV_HPP_DIR)
    list(APPEND missing glslang-dev)
  endif()
  find_path(VYRE_SPIRV_TOOLS_DIR spirv-tools/libspirv.hpp)
  # By file name: a shared library of the same name would have to be present wherever the wheel is installed.
  find_library(VYRE_SPIRV_TOOLS_LIBRARY NAMES libSPIRV-Tools.a)
  if(NOT VYRE_SPIRV_TOOLS_DIR OR NOT VYRE_SPIRV_TOOLS_LIBRARY)
    list(APPEND missing spirv-tools)
  endif()
  find_path(VYRE_VULKAN_HEADERS_DIR vulkan/vulkan_core.h)
  if(NOT VYRE_VULKAN_HEADERS_DIR)
    list(APPEND missing libvulkan-dev)
  endif()
  find_path(VYRE_VOLK_DIR volk.c)
  if(NOT VYRE_VOLK_DIR)
    list(APPEND missing libvulkan-volk-dev)
  endif()
  mark_as_advanced(VYRE_SPIRV_HPP_DIR VYRE_SPIRV_TOOLS_DIR VYRE_SPIRV_TOOLS_LIBRARY VYRE_VULKAN_HEADERS_DIR VYRE_VOLK_DIR)
endif()

if(VYRE_TESTS)
  list(APPEND VYRE_PACKAGES libgtest-dev)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    list(APPEND missing libgtest-dev)
  endif()
endif()

if(missing)
  list(JOIN missing ", " missing)
  list(JOIN VYRE_PACKAGES " " packages)
  set(text "vyre cannot be built: ${missing} not found. Fix: install what it is built on\n\n    apt-get install --no-install-recommends ${packages}\n")
  if(VYRE_SPIRV)
    string(APPEND text
           "\n(with sudo unless you are root), or pass -DVYRE_SPIRV=OFF to build the reference alone, which needs libfmt-dev only"
           " (pip: pip install . -C cmake.define.VYRE_SPIRV=OFF).\n")
  endif()
  message(FATAL_ERROR "${text}")
endif()

if(VYRE_SPIRV)
  add_library(vyre_spirv_tools STATIC IMPORTED)
  set_target_properties(vyre_spirv_tools PROPERTIES IMPORTED_LOCATION "${VYRE_SPIRV_TOOLS_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${VYRE_SPIRV_TOOLS_DIR}")
endif()
