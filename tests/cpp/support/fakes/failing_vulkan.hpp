// A Vulkan that fails on command: it forwards to the one of this machine, except where a test says otherwise, and keeps the
// books of what is created and destroyed. Made from the table of functions that the backend uses, so that it is complete.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/run/vulkan/api/loader.hpp"

namespace vyre::test {

// One at a time: Vulkan's functions carry no context, so there is one such Vulkan a process.
class FailingVulkan {
 public:
  FailingVulkan();
  FailingVulkan(const FailingVulkan&) = delete;
  FailingVulkan& operator=(const FailingVulkan&) = delete;
  ~FailingVulkan();

  run::vulkan::Loader loader() const;

  static std::vector<std::string> all();
  // Every function of the table that returns a VkResult, in the table's order.
  static std::vector<std::string> fallible();

  // The nth call of a function from now on (1: the next) returns `result`, if it returns any, and does nothing; `work()` ends the order.
  void fail(std::string_view function, int nth, VkResult result);
  void work();
  // Whether the ordered failure has happened.
  bool failed() const;

  // A timeline to which something is submitted while this is on is not seen to advance until release_submissions(); waits for it end at
  // once.
  void hold_submissions(bool on);
  void release_submissions();
  // While on, asking a timeline for its value says 0, and only waiting for a value tells. So calls wait, however fast the device.
  void only_waiting_tells(bool on);
  // Calls of the function are not forwarded from now on, and wait, until release_calls().
  void hold_calls(std::string_view function);
  void release_calls();
  // Waits until one waits.
  void wait_for_held_call() const;
  // How many do.
  int held_calls() const;
  // As if the driver had no such function.
  void hide(std::string function);
  // Every device has VK_KHR_pipeline_executable_properties, and tells four statistics of a pipeline.
  void tell_statistics();
  void show_all();
  // As if the machine had no device, whatever drivers it has.
  void no_devices();
  // Called after each forwarded call of the function, with its last argument, to change what it gave; of an array with each
  // element.
  void change(std::string function, std::function<void(void*)> with);

  // While on, the driver keeps compiled pipelines, as those of GPUs do: the data of a pipeline cache is what it was made with, or, where
  // that was nothing, a header and bytes that no other cache has. Software drivers keep nothing.
  void keep_pipelines(bool on);
  // What each pipeline cache that was made since then was given.
  std::vector<std::string> given_to_pipeline_caches() const;

  // Called with true when a call comes in and with false when it is answered, on the caller's thread: what happens between is the
  // driver's, and this class's own.
  void around_each_call(void (*inside)(bool));

  int calls(std::string_view function) const;
  void forget_calls();
  // One line for each kind of object that is not destroyed.
  std::vector<std::string> leaks() const;
  // Waits until there are none.
  void wait_until_all_is_destroyed() const;
};

}  // namespace vyre::test
