// A rare, long call (open, build, drain, close) on a pool thread, as a promise. Steady work never
// comes this way.
#pragma once

#include <napi.h>

#include <functional>

#include "base/status.h"

namespace tessera::bridge {

class Task final : public Napi::AsyncWorker {
 public:
  /// `work` runs off the JavaScript thread; `settle` runs on it afterwards, also when the work
  /// failed (its value is then ignored and the promise rejects with the Status).
  static Napi::Promise start(Napi::Env env, std::function<Status()> work,
                             std::function<Napi::Value(Napi::Env, const Status&)> settle);

 private:
  Task(Napi::Env env, std::function<Status()> work,
       std::function<Napi::Value(Napi::Env, const Status&)> settle);
  void Execute() override;
  void OnOK() override;

  std::function<Status()> work_;
  std::function<Napi::Value(Napi::Env, const Status&)> settle_;
  Napi::Promise::Deferred deferred_;
  Status status_;
};

}  // namespace tessera::bridge
