// Tests which backend runs when a call names none.
#include <gtest/gtest.h>

#include "support/logged.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::test {
namespace {

// A backend that computes what the reference does, unless its bytes are to be wrong.
class FakeBackend : public run::Backend {
 public:
  enum class Runs : std::uint8_t { Right, Wrong, Not };

  FakeBackend(std::string name, std::vector<std::pair<std::string, bool>> devices, Runs runs = Runs::Right,
              std::vector<std::string> unavailable = {})
      : name_(std::move(name)), runs_(runs), unavailable_(std::move(unavailable)) {
    for (auto& [kind, usable] : devices) {
      run::DeviceInfo device;
      device.kind = kind;
      device.usable = usable;
      if (!usable) device.reasons = {"device `" + kind + "` is broken. Fix: mend it."};
      devices_.push_back(device);
    }
  }
  std::string_view name() const override { return name_; }
  std::vector<std::string> reasons_unavailable() override {
    asked = true;
    return unavailable_;
  }
  std::vector<run::DeviceInfo> devices() override { return devices_; }
  std::unique_ptr<run::Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t>, const run::Optimize& optimize,
                                           const run::RunOptions& waiting) override {
    tried = true;
    if (runs_ == Runs::Not) throw DeviceLostError("the device was lost. Fix: call again.");
    if (runs_ == Runs::Wrong) return std::make_unique<Nothing>();
    return run::find_backend("reference")->prepare(program, std::nullopt, optimize, waiting);
  }
  std::unique_ptr<run::Storage> allocate(std::optional<std::size_t>, std::uint64_t, bool) override { return nullptr; }
  std::shared_ptr<run::Recording> record(run::CallsToRecord, const run::RunOptions&, std::span<const run::StorageView>) override {
    return nullptr;
  }

  bool asked = false, tried = false;

 private:
  struct Nothing : run::Executable {
    void run(std::span<const run::BufferView>, run::Grid, const run::RunOptions&) override {}
  };

  std::string name_;
  Runs runs_;
  std::vector<std::string> unavailable_;
  std::vector<run::DeviceInfo> devices_;
};

using Runs = FakeBackend::Runs;
using Names = std::vector<std::string>;

Names available(const std::vector<run::Backend*>& backends) {
  Names names;
  for (run::Backend* backend : run::available_backends(backends, run::choose_default(backends))) names.emplace_back(backend->name());
  return names;
}

struct Here {
  FakeBackend cuda{"cuda", {}, Runs::Right, {"no driver. Fix: install one."}};
  FakeBackend vulkan{"vulkan", {{"software gpu", true}}};
  FakeBackend cpu{"cpu", {{"cpu", true}}};
  FakeBackend reference{"reference", {{"cpu", true}}};
  std::vector<run::Backend*> all{&reference, &cpu, &vulkan, &cuda};
};

constexpr char kNoCuda[] = "what comes before it does not: CUDA (no driver)";

TEST(Backends, prefer_cuda_then_a_gpu_by_vulkan_then_cpu_then_software_vulkan_then_the_reference) {
  Here here;
  EXPECT_EQ(available(here.all), (Names{"cpu", "vulkan", "reference"}));
  here.vulkan = FakeBackend("vulkan", {{"software gpu", true}, {"discrete gpu", false}, {"integrated gpu", true}});
  EXPECT_EQ(available(here.all), (Names{"vulkan", "cpu", "reference"}));
  here.cuda = FakeBackend("cuda", {{"discrete gpu", true}});
  EXPECT_EQ(available(here.all), (Names{"cuda", "vulkan", "cpu", "reference"}));
  EXPECT_EQ(available({&here.reference}), Names{"reference"});
}

TEST(Backends, say_why_the_default_is_what_it_is) {
  Here here;
  EXPECT_EQ(run::choose_default(here.all).why,
            std::string("cpu works here, and ") + kNoCuda + ", Vulkan on a GPU (it has software devices only)");
  here.vulkan = FakeBackend("vulkan", {{"discrete gpu", false}, {"software gpu", true}});
  EXPECT_EQ(run::choose_default(here.all).why,
            std::string("cpu works here, and ") + kNoCuda + ", Vulkan on a GPU (device `discrete gpu` is broken)");
  here.vulkan = FakeBackend("vulkan", {}, Runs::Right, {"no loader. Fix: install it."});
  EXPECT_EQ(run::choose_default(here.all).why, std::string("cpu works here, and ") + kNoCuda + ", Vulkan on a GPU (no loader)");
  here.cuda = FakeBackend("cuda", {{"discrete gpu", true}});
  EXPECT_EQ(run::choose_default(here.all).why, "CUDA works here, and comes first");
}

TEST(Backends, pass_over_one_that_fails_the_first_program) {
  for (const auto& [runs, problem] : {std::pair(Runs::Wrong, "it gave wrong bytes"), std::pair(Runs::Not, "the device was lost")}) {
    Here here;
    here.cuda = FakeBackend("cuda", {{"discrete gpu", true}}, runs);
    here.vulkan = FakeBackend("vulkan", {{"discrete gpu", true}});
    const run::DefaultBackend chosen = run::choose_default(here.all);
    EXPECT_EQ(chosen.backend, &here.vulkan);
    EXPECT_EQ(chosen.why, std::string("Vulkan on a GPU works here, and what comes before it does not: CUDA (its first program failed: ") +
                              problem + ")");
    EXPECT_EQ(available(here.all), (Names{"vulkan", "cpu", "reference"}));
    const std::vector<std::string> reasons = run::reasons_unavailable(here.cuda, chosen);
    const std::string fix = runs == Runs::Wrong ? "update its driver, or use another backend." : "call again.";
    EXPECT_EQ(reasons, Names{std::string("the first program failed on backend `cuda`: ") + problem + ". Fix: " + fix});
    here.vulkan = FakeBackend("vulkan", {{"discrete gpu", true}}, runs);
    here.cpu = FakeBackend("cpu", {{"cpu", true}}, runs);
    EXPECT_EQ(run::choose_default(here.all).backend, &here.reference) << "software Vulkan is the backend that failed";
  }
}

TEST(Backends, that_fail_the_first_program_are_named_in_the_log) {
  Here here;
  here.cuda = FakeBackend("cuda", {{"discrete gpu", true}}, Runs::Not);
  const Logged logged;
  run::choose_default(here.all);
  EXPECT_EQ(logged.lines(),
            Names{"backend `cuda` is passed over, because its first program failed: the device was lost. Fix: call again."});
}

TEST(Backends, behind_the_default_are_not_opened_to_choose_it) {
  Here here;
  EXPECT_EQ(run::choose_default(here.all).backend, &here.cpu);
  EXPECT_FALSE(here.vulkan.asked) << "software is no GPU, whether it works or not";
  here.cuda = FakeBackend("cuda", {{"discrete gpu", true}});
  EXPECT_EQ(run::choose_default(here.all).backend, &here.cuda);
  EXPECT_FALSE(here.vulkan.asked || here.vulkan.tried);
}

TEST(Backends, keep_the_first_program_out_of_profiles) {
  const auto profile = run::Profile::begin(100);
  std::vector<run::Backend*> here{run::find_backend("cpu"), run::find_backend("reference")};
  run::choose_default(here);
  profile->end({});
  EXPECT_TRUE(profile->report().rows.empty());
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
