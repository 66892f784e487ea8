#include "cuda/device/emulated_queue.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "cuda/device/plain_library.h"

namespace tessera::device::cuda {

Result<void*> EmulatedQueue::allocate(uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("allocate"));
  void* memory = std::malloc(bytes);
  if (memory == nullptr) return Status(Code::kEngineOverloaded, "no memory");
  std::memset(memory, 0xFF, bytes);  // NaN: nothing may be read that was not written
  return memory;
}

/// As a card's driver does, once all that may read it is done.
void EmulatedQueue::release(void* memory) {
  run();
  std::free(memory);
}

Status EmulatedQueue::copy_in(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_in"));
  if (is_pinned(from)) {
    asked_.emplace_back([=] { std::memcpy(to, from, bytes); });
    return Status::ok();
  }
  const auto* const data = static_cast<const char*>(from);
  asked_.emplace_back([to, taken = std::vector<char>(data, data + bytes)] {
    std::memcpy(to, taken.data(), taken.size());
  });
  return Status::ok();
}

Status EmulatedQueue::copy_out(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_out"));
  run();
  std::memcpy(to, from, bytes);
  return Status::ok();
}

Status EmulatedQueue::copy_to_pinned(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_to_pinned"));
  asked_.emplace_back([=] { std::memcpy(to, from, bytes); });
  return Status::ok();
}

Status EmulatedQueue::copy_within(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_within"));
  asked_.emplace_back([=] { std::memcpy(to, from, bytes); });
  return Status::ok();
}

Status EmulatedQueue::zero(void* at, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("zero"));
  asked_.emplace_back([=] { std::memset(at, 0, bytes); });
  return Status::ok();
}

Status EmulatedQueue::finish() {
  TESSERA_RETURN_IF_ERROR(check("finish"));
  run();
  return Status::ok();
}

void EmulatedQueue::run() {
  for (const Work& work : std::exchange(asked_, {})) work();
}

Result<void*> EmulatedQueue::allocate_pinned(uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("allocate_pinned"));
  constexpr uint64_t kPage = 4096;
  void* memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (memory == nullptr) return Status(Code::kEngineOverloaded, "no memory");
  pinned_[static_cast<const char*>(memory)] = bytes;
  return memory;
}

void EmulatedQueue::release_pinned(void* memory) {
  run();
  pinned_.erase(static_cast<const char*>(memory));
  std::free(memory);
}

bool EmulatedQueue::is_pinned(const void* at) const {
  const auto* const byte = static_cast<const char*>(at);
  const auto after = pinned_.upper_bound(byte);
  if (after == pinned_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return byte < begin + bytes;
}

Status EmulatedQueue::launch(const char* kernel, const LaunchShape& shape,
                             std::span<void* const> arguments) {
  const auto known = kernels_.find(kernel);
  if (known == kernels_.end()) return {Code::kEngineUnavailable, kernel};
  simt::Launch launched;
  launched.grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
  launched.block = {shape.block[0], shape.block[1], shape.block[2]};
  launched.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  return take([this, launched, call = known->second(arguments)]() mutable {
    launched.seed = seed_ + launches_;
    ++launches_;
    simt::run(launched, call);
  });
}

Status EmulatedQueue::multiply(const TesseraCardProduct& product) {
  return take([product] { plain::multiply(product); });
}

Status EmulatedQueue::attend(const TesseraCardAttention& attention) {
  return take([attention] { plain::attend(attention); });
}

Status EmulatedQueue::take(Work work) {
  (recorded_ != nullptr ? recorded_->launches : asked_).push_back(std::move(work));
  return Status::ok();
}

Status EmulatedQueue::check(const char* call) {
  if (recorded_ == nullptr) return Status::ok();
  Status refusal = refused_while_recording(call);
  if (refusal_.is_ok()) refusal_ = refusal;
  return refusal;
}

Status EmulatedQueue::begin_recording() {
  TESSERA_RETURN_IF_ERROR(check("begin_recording"));
  recorded_ = std::make_unique<Chain>();
  refusal_ = Status::ok();
  return Status::ok();
}

Result<std::unique_ptr<Recording>> EmulatedQueue::end_recording() {
  TESSERA_CHECK(recorded_ != nullptr);
  std::unique_ptr<Recording> recording = std::move(recorded_);
  if (!refusal_.is_ok()) return refusal_;
  return recording;
}

Status EmulatedQueue::replay(const Recording& recording) {
  TESSERA_RETURN_IF_ERROR(check("replay"));
  for (const Work& work : static_cast<const Chain&>(recording).launches) asked_.push_back(work);
  return Status::ok();
}

}  // namespace tessera::device::cuda
