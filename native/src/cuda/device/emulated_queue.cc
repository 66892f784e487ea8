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

void EmulatedQueue::release(void* memory) { std::free(memory); }

Status EmulatedQueue::copy_in(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_in"));
  std::memcpy(to, from, bytes);
  return Status::ok();
}

Status EmulatedQueue::copy_out(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_out"));
  deliver();
  std::memcpy(to, from, bytes);
  return Status::ok();
}

Status EmulatedQueue::copy_to_pinned(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_to_pinned"));
  const auto* const data = static_cast<const char*>(from);
  pending_.push_back({to, {data, data + bytes}});
  return Status::ok();
}

Status EmulatedQueue::copy_within(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("copy_within"));
  std::memcpy(to, from, bytes);
  return Status::ok();
}

Status EmulatedQueue::zero(void* at, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("zero"));
  std::memset(at, 0, bytes);
  return Status::ok();
}

Status EmulatedQueue::finish() {
  TESSERA_RETURN_IF_ERROR(check("finish"));
  deliver();
  return Status::ok();
}

void EmulatedQueue::deliver() {
  for (const Pending& copy : pending_) std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
  pending_.clear();
}

Result<void*> EmulatedQueue::allocate_pinned(uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check("allocate_pinned"));
  constexpr uint64_t kPage = 4096;
  void* memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (memory == nullptr) return Status(Code::kEngineOverloaded, "no memory");
  return memory;
}

void EmulatedQueue::release_pinned(void* memory) { std::free(memory); }

Status EmulatedQueue::launch(const char* kernel, const LaunchShape& shape,
                             std::span<void* const> arguments) {
  const auto known = kernels_.find(kernel);
  if (known == kernels_.end()) return {Code::kEngineUnavailable, kernel};
  Launched launched;
  launched.shape.grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
  launched.shape.block = {shape.block[0], shape.block[1], shape.block[2]};
  launched.shape.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launched.call = known->second(arguments);
  return take(std::move(launched));
}

Status EmulatedQueue::multiply(const TesseraCardProduct& product) {
  return take([product] { plain::multiply(product); });
}

Status EmulatedQueue::attend(const TesseraCardAttention& attention) {
  return take([attention] { plain::attend(attention); });
}

Status EmulatedQueue::take(Call call) {
  Launched launched;
  launched.call = std::move(call);
  launched.is_kernel = false;
  return take(std::move(launched));
}

Status EmulatedQueue::take(Launched launched) {
  if (recorded_ != nullptr) {
    recorded_->launches.push_back(std::move(launched));
  } else {
    run(launched);
  }
  return Status::ok();
}

void EmulatedQueue::run(const Launched& launched) {
  if (!launched.is_kernel) return launched.call();
  simt::Launch shape = launched.shape;
  shape.seed = seed_ + launches_;
  ++launches_;
  simt::run(shape, launched.call);
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
  for (const Launched& launched : static_cast<const Chain&>(recording).launches) run(launched);
  return Status::ok();
}

}  // namespace tessera::device::cuda
