// A call off the JavaScript thread, as a promise: a short one on libuv's pool, which serving needs
// (reads of stores, eligibility), a long one in the lane of its kind (lane.h).
#pragma once

#include <napi.h>

#include <functional>

#include "base/status.h"
#include "bridge/lane.h"

namespace tessera::bridge {

class Task final : public Napi::AsyncWorker {
 public:
  /// `work` runs off the JavaScript thread; `settle` runs on it afterwards, also when the work
  /// failed (its value is then ignored and the promise rejects with the Status).
  static Napi::Promise start(Napi::Env env, std::function<Status()> work,
                             std::function<Napi::Value(Napi::Env, const Status&)> settle);

  /// The same for a call that may be long. Throws ENGINE_OVERLOADED where too many wait.
  static Napi::Promise start_long(Napi::Env env, LaneKind kind, std::function<Status()> work,
                                  Lane::Settle settle);

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
