// Prepared programs whose calls are recorded, for tests of calls with arrays that stay on their device.
#pragma once

#include <memory>

#include "vyre/run/recording.hpp"

namespace vyre::test {

class Prepared final : public run::Executable {
 public:
  Prepared(run::Backend& backend, const validate::ValidProgram& program, std::unique_ptr<run::Executable> executable)
      : backend_(backend), program_(std::make_shared<const validate::ValidProgram>(program)), executable_(std::move(executable)) {}

  void run(std::span<const run::BufferView> buffers, run::Grid grid, const run::RunOptions& options) override {
    executable_->run(buffers, grid, options);
  }
  std::vector<run::DriverFact> driver_facts(const run::RunOptions& waiting = {}) override { return executable_->driver_facts(waiting); }
  // A recording of one call, whose slots are the views.
  std::shared_ptr<run::Recording> plan(std::span<const run::StorageView> views, run::Grid grid) const {
    return run::record_call(backend_, {program_, executable_, grid, {}}, views);
  }

 private:
  run::Backend& backend_;
  const run::ProfiledProgram program_;
  const std::shared_ptr<run::Executable> executable_;
};

inline std::unique_ptr<Prepared> prepared(run::Backend& backend, const validate::ValidProgram& program, std::optional<std::size_t> device,
                                          const run::Optimize& optimize = {}) {
  return std::make_unique<Prepared>(backend, program, backend.prepare(program, device, optimize));
}

inline run::JoinedSteps joined(run::Backend& backend, const std::vector<run::Step>& steps) { return run::join(backend, 0, steps); }

}  // namespace vyre::test
