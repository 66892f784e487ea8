#include "bridge/catalogue_build.h"

#include <chrono>

#include "bridge/errors.h"
#include "bridge/object_writer.h"
#include "catalogue/import.h"

namespace tessera::bridge {
namespace {

struct ProgressReport {
  std::string stage;
  uint64_t done = 0;
  uint64_t total = 0;
};

class BuildTask final : public Napi::AsyncProgressQueueWorker<ProgressReport> {
 public:
  BuildTask(Napi::Env env, BuildRequest request, Napi::Function on_progress)
      : Napi::AsyncProgressQueueWorker<ProgressReport>(env),
        request_(std::move(request)),
        on_progress_(Napi::Persistent(on_progress)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute(const ExecutionProgress& execution) override {
    const auto start = std::chrono::steady_clock::now();
    const catalogue::Progress progress = [&](std::string_view stage, uint64_t done,
                                             uint64_t total) {
      const ProgressReport report{std::string(stage), done, total};
      execution.Send(&report, 1);
    };
    catalogue::ImportOptions options;
    options.titles_path = request_.titles_path;
    options.level_sizes = request_.level_sizes;
    std::vector<catalogue::ImportSource> sources;
    for (size_t i = 0; i < request_.sources.size(); ++i)
      sources.push_back({request_.sources[i], request_.domains[i]});
    auto input = catalogue::import_files(sources, options, progress);
    if (!input.is_ok()) {
      status_ = input.status();
      return;
    }
    auto report = catalogue::build_snapshot(input.value(), request_.output_path, progress);
    if (!report.is_ok()) {
      status_ = report.status();
      return;
    }
    report_.report = std::move(report).value();
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void OnProgress(const ProgressReport* reports, size_t count) override {
    Napi::HandleScope scope(Env());
    for (size_t i = 0; i < count; ++i) {
      on_progress_.Call({Napi::String::New(Env(), reports[i].stage),
                         Napi::Number::New(Env(), static_cast<double>(reports[i].done)),
                         Napi::Number::New(Env(), static_cast<double>(reports[i].total))});
    }
  }

  void OnOK() override {
    if (!status_.is_ok()) {
      deferred_.Reject(make_error(Env(), status_).Value());
      return;
    }
    deferred_.Resolve(to_js(Env(), report_));
  }

  const BuildRequest request_;
  Napi::FunctionReference on_progress_;
  Napi::Promise::Deferred deferred_;
  Status status_;
  TimedBuild report_;
};

}  // namespace

Napi::Promise start_build(Napi::Env env, BuildRequest request, Napi::Function on_progress) {
  auto* task = new BuildTask(env, std::move(request), on_progress);  // deletes itself after OnOK
  const Napi::Promise promise = task->promise();
  task->Queue();
  return promise;
}

}  // namespace tessera::bridge
