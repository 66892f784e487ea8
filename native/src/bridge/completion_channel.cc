#include "bridge/completion_channel.h"

#include <algorithm>
#include <utility>

#include "abi/pack_completion.h"

namespace tessera::bridge {

std::shared_ptr<CompletionChannel> CompletionChannel::create(Napi::Env env,
                                                             Napi::Function on_completions) {
  auto channel = std::make_shared<CompletionChannel>();
  auto* holder = new Holder(channel);
  channel->doorbell_ = Doorbell::New(env, on_completions, "tessera completions", 0, 1, holder,
                                     [](Napi::Env, void*, Holder* finished) { delete finished; });
  return channel;
}

void CompletionChannel::complete(engine::Completion completion) {
  std::vector<uint32_t> packed = abi::pack_completion(completion);
  const MutexLock lock(mutex_);
  if (released_) return;
  waiting_.push_back(std::move(packed));
  if (rung_) return;
  rung_ = true;
  doorbell_.NonBlockingCall();
}

void CompletionChannel::release() {
  const MutexLock lock(mutex_);
  if (released_) return;
  released_ = true;
  doorbell_.Release();
}

CompletionChannel::Packed CompletionChannel::take() {
  const MutexLock lock(mutex_);
  rung_ = false;
  return std::exchange(waiting_, {});
}

void CompletionChannel::call_js(Napi::Env env, Napi::Function callback, Holder* holder, void*) {
  // At teardown Node drains the queue after the environment is gone: look at env before anything
  // else.
  if (env == nullptr || callback == nullptr) return;
  const Packed completions = (*holder)->take();
  if (completions.empty()) return;
  size_t count = 0;
  for (const std::vector<uint32_t>& words : completions) count += words.size();
  auto all = Napi::Uint32Array::New(env, count);
  uint32_t* next = all.Data();
  for (const std::vector<uint32_t>& words : completions)
    next = std::copy(words.begin(), words.end(), next);
  callback.Call({all});
}

}  // namespace tessera::bridge
