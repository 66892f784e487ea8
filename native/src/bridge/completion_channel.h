// The one doorbell between an engine and JavaScript: completions are packed on the engine's thread
// and drained, many at a time and as they lie, in one call on the JavaScript thread.
//
// Lifetime: the ThreadSafeFunction keeps the channel alive until Node has finalised it. The engine
// is joined before release(), so no foreign thread ever calls a dead ThreadSafeFunction.
#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "engine/request.h"

namespace tessera::bridge {

class CompletionChannel final : public engine::CompletionSink,
                                public std::enable_shared_from_this<CompletionChannel> {
 public:
  /// JavaScript thread.
  static std::shared_ptr<CompletionChannel> create(Napi::Env env, Napi::Function on_completions);

  /// Any thread, until release().
  void complete(engine::Completion completion) override;
  /// JavaScript thread; idempotent. Completions pushed before are still delivered.
  void release();

 private:
  using Holder = std::shared_ptr<CompletionChannel>;
  static void call_js(Napi::Env env, Napi::Function callback, Holder* holder, void* data);
  using Doorbell = Napi::TypedThreadSafeFunction<Holder, void, &CompletionChannel::call_js>;

  using Packed = std::vector<std::vector<uint32_t>>;
  Packed take();

  Doorbell doorbell_;
  Mutex mutex_;
  Packed waiting_ GUARDED_BY(mutex_);
  bool rung_ GUARDED_BY(mutex_) = false;  // a call is on its way
  bool released_ GUARDED_BY(mutex_) = false;
};

}  // namespace tessera::bridge
