// Tests which backend runs when a call names none.
#include <gtest/gtest.h>

#include "vyre/run/backends.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::test {
namespace {

class FakeBackend : public run::Backend {
 public:
  FakeBackend(std::string name, std::vector<std::pair<std::string, bool>> devices, std::vector<std::string> unavailable = {})
      : name_(std::move(name)), unavailable_(std::move(unavailable)) {
    for (auto& [kind, usable] : devices) {
      run::DeviceInfo device;
      device.kind = kind;
      device.usable = usable;
      devices_.push_back(device);
    }
  }
  std::string_view name() const override { return name_; }
  std::vector<std::string> reasons_unavailable() override { return unavailable_; }
  std::vector<run::DeviceInfo> devices() override { return devices_; }
  std::unique_ptr<run::Executable> prepare(const validate::ValidProgram&, std::optional<std::size_t>, const run::Optimize&,
                                           const run::RunOptions&) override {
    return nullptr;
  }
  std::unique_ptr<run::Storage> allocate(std::optional<std::size_t>, std::uint64_t, bool) override { return nullptr; }
  std::unique_ptr<run::Sequence> sequence(std::vector<run::Step>) override { return nullptr; }
  std::shared_ptr<run::Recording> record(run::CallsToRecord, const run::RunOptions&) override { return nullptr; }

 private:
  std::string name_;
  std::vector<std::string> unavailable_;
  std::vector<run::DeviceInfo> devices_;
};

std::vector<std::string> order(std::vector<run::Backend*> backends) {
  std::vector<std::string> names;
  for (const run::Choice& choice : run::ranked(backends)) {
    names.push_back(std::string(choice.backend->name()) + "/" + std::to_string(choice.device.value()));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Backends, prefer_a_real_gpu_then_cpu_then_software_vulkan_then_the_reference) {
  FakeBackend vulkan("vulkan", {{"software gpu", true}, {"discrete gpu", false}, {"integrated gpu", true}});
  FakeBackend cpu("cpu", {{"cpu", true}});
  FakeBackend reference("reference", {{"cpu", true}});
  EXPECT_EQ(order({&reference, &cpu, &vulkan}), (Names{"vulkan/2", "cpu/0", "vulkan/0", "reference/0"}));
}

TEST(Backends, take_the_first_route_to_a_gpu_that_several_can_use) {
  FakeBackend vulkan("vulkan", {{"discrete gpu", true}});
  FakeBackend cuda("cuda", {{"discrete gpu", true}});
  FakeBackend cpu("cpu", {{"cpu", true}});
  EXPECT_EQ(order({&vulkan, &cuda, &cpu}), (Names{"vulkan/0", "cuda/0", "cpu/0"}));
}

TEST(Backends, skip_what_does_not_work_here) {
  FakeBackend vulkan("vulkan", {}, {"no loader"});
  FakeBackend reference("reference", {{"cpu", true}});
  EXPECT_EQ(order({&vulkan, &reference}), Names{"reference/0"});
}

TEST(Backends, are_found_by_name) {
  EXPECT_EQ(run::find_backend("reference")->name(), "reference");
  EXPECT_EQ(run::find_backend("vulkan")->name(), "vulkan");
  EXPECT_EQ(run::find_backend("cpu")->name(), "cpu");
  EXPECT_EQ(run::find_backend("cuda")->name(), "cuda");
  EXPECT_EQ(run::find_backend("metal"), nullptr);
}

}  // namespace
}  // namespace vyre::test
