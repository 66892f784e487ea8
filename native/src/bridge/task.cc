#include "bridge/task.h"

#include "bridge/errors.h"

namespace tessera::bridge {

Task::Task(Napi::Env env, std::function<Status()> work,
           std::function<Napi::Value(Napi::Env, const Status&)> settle)
    : Napi::AsyncWorker(env, "tessera task"),
      work_(std::move(work)),
      settle_(std::move(settle)),
      deferred_(Napi::Promise::Deferred::New(env)) {}

Napi::Promise Task::start(Napi::Env env, std::function<Status()> work,
                          std::function<Napi::Value(Napi::Env, const Status&)> settle) {
  auto* task = new Task(env, std::move(work), std::move(settle));  // deletes itself after OnOK
  const Napi::Promise promise = task->deferred_.Promise();
  task->Queue();
  return promise;
}

Napi::Promise Task::start_long(Napi::Env env, LaneKind kind, std::function<Status()> work,
                               Lane::Settle settle) {
  const auto run = [work = std::move(work)](const Lane::Stop&) { return work(); };
  return Lane::of(env, kind).start(env, run, std::move(settle));
}

void Task::Execute() { status_ = work_(); }

void Task::OnOK() {
  const Napi::Value value = settle_(Env(), status_);
  if (status_.is_ok()) {
    deferred_.Resolve(value);
  } else {
    deferred_.Reject(make_error(Env(), status_).Value());
  }
}

}  // namespace tessera::bridge
