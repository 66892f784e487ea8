// Nothing but the prompt's keys and values, kept in the pool of its user.
#include "base/check.h"
#include "engine/running_request.h"
#include "engine/tasks/task.h"
#include "engine/tasks/tasks.h"

namespace tessera::engine {
namespace {

class AppendRun final : public TaskRun {
 public:
  void take(const StepRows&, beam::Scratch&) override {
    TESSERA_CHECK(false);  // it asks for no selection
  }
  void next(const NextRows&, beam::Rows&) override { TESSERA_CHECK(false); }
  void answer(const RunningRequest& request, platform::ThreadPool&,
              Completion& completion) override {
    completion.catalogue_sequence = request.reach().view().sequence();
  }
};

class AppendTask final : public Task {
 public:
  AppendTask() : Task({.selection = Selection::kNone}) {}
  Status check(const Request&, const EngineOptions&) const override { return Status::ok(); }
  uint32_t width(const Request&, uint32_t) const override { return 0; }
  uint32_t widest(const Request&) const override { return 0; }
  std::unique_ptr<TaskRun> start(const Request&) const override {
    return std::make_unique<AppendRun>();
  }
};

}  // namespace

const Task& append_task() {
  static const AppendTask task;
  return task;
}

}  // namespace tessera::engine
