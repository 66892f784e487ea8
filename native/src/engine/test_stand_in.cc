#include "engine/test_stand_in.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "device/backends.h"
#include "engine/int8_codec.h"

namespace tessera::engine {
namespace {

constexpr uint64_t kPage = 4096;

Status failed() { return {Code::kEngineUnavailable, "device: the stand-in has failed"}; }

}  // namespace

Result<device::Buffer> ClosedMemory::allocate(uint64_t bytes) {
  if (bytes == 0) return device::Buffer(*this, nullptr, 0);
  if (before_allocation) TESSERA_RETURN_IF_ERROR(before_allocation());
  if (bytes > left_) {
    return Status(Code::kEngineOverloaded, "device: expected room for " + std::to_string(bytes) +
                                               " bytes, got " + std::to_string(left_));
  }
  const MutexLock lock(mutex_);
  const Region region{nullptr, (bytes + kPage - 1) / kPage * kPage};
  void* data = ::mmap(nullptr, region.size, opened_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TESSERA_CHECK(data != MAP_FAILED);
  regions_.push_back({data, region.size});
  left_ -= bytes;
  return device::Buffer(*this, data, bytes);
}

void ClosedMemory::release(void* data, uint64_t bytes) {
  if (data == nullptr) return;
  const MutexLock lock(mutex_);
  std::erase_if(regions_, [&](const Region& region) { return region.data == data; });
  ::munmap(data, (bytes + kPage - 1) / kPage * kPage);
  left_ += bytes;
}

Status ClosedMemory::zero(device::Buffer& buffer) {
  const Opened opened(*this);
  if (buffer.size() > 0) std::memset(buffer.data(), 0, buffer.size());
  return Status::ok();
}

void ClosedMemory::open() {
  const MutexLock lock(mutex_);
  if (opened_++ > 0) return;
  for (const Region& region : regions_)
    TESSERA_CHECK(::mprotect(region.data, region.size, PROT_READ | PROT_WRITE) == 0);
}

void ClosedMemory::close() {
  const MutexLock lock(mutex_);
  if (--opened_ > 0) return;
  for (const Region& region : regions_)
    TESSERA_CHECK(::mprotect(region.data, region.size, PROT_NONE) == 0);
}

namespace {

class ClosedBlocks final : public kv::BlockMemory {
 public:
  ClosedBlocks(ClosedMemory& memory, device::Buffer blocks, uint32_t slot_count,
               uint64_t block_bytes)
      : memory_(memory),
        blocks_(std::move(blocks)),
        slot_count_(slot_count),
        block_bytes_(block_bytes) {}

  uint32_t slot_count() const override { return slot_count_; }
  std::byte* address(kv::SlotIndex slot) override {
    return blocks_.as<std::byte>() + slot * block_bytes_;
  }
  bool is_addressable() const override { return false; }
  Status read(kv::SlotIndex slot, std::span<std::byte> to) override {
    const ClosedMemory::Opened opened(memory_);
    std::memcpy(to.data(), address(slot), to.size());
    return Status::ok();
  }
  Status write(kv::SlotIndex slot, std::span<const std::byte> from) override {
    const ClosedMemory::Opened opened(memory_);
    std::memcpy(address(slot), from.data(), from.size());
    return Status::ok();
  }
  Status copy(kv::SlotIndex to, kv::SlotIndex from) override {
    const ClosedMemory::Opened opened(memory_);
    std::memcpy(address(to), address(from), block_bytes_);
    return Status::ok();
  }
  Status zero(kv::SlotIndex slot) override {
    const ClosedMemory::Opened opened(memory_);
    std::memset(address(slot), 0, block_bytes_);
    return Status::ok();
  }

 private:
  ClosedMemory& memory_;
  device::Buffer blocks_;
  const uint32_t slot_count_;
  const uint64_t block_bytes_;
};

}  // namespace

Result<std::unique_ptr<kv::BlockMemory>> stand_in_blocks(ClosedMemory& memory, uint32_t slot_count,
                                                         uint64_t block_bytes) {
  auto blocks = memory.allocate(slot_count * block_bytes);
  if (!blocks.is_ok()) return blocks.status();
  return std::unique_ptr<kv::BlockMemory>(
      std::make_unique<ClosedBlocks>(memory, std::move(blocks).value(), slot_count, block_bytes));
}

class StandInCard::Memory final : public model::PassMemory {
 public:
  explicit Memory(std::unique_ptr<model::PassMemory> inner) : inner_(std::move(inner)) {
    max_rows_ = inner_->max_rows();
  }
  model::PassMemory& inner() { return *inner_; }
  Result<float*> results(uint64_t count) override { return inner_->results(count); }
  void note_done() {
    times_ = inner_->times();
    expert_use_ = inner_->expert_use();
  }

 private:
  const std::unique_ptr<model::PassMemory> inner_;
};

/// A pass with all that the caller may reuse once its call has returned.
struct StandInCard::Job {
  Job(const model::ForwardBatch& batch, Memory& of)
      : memory(of),
        tokens(batch.tokens.begin(), batch.tokens.end()),
        groups(batch.groups.begin(), batch.groups.end()),
        adapters(batch.adapters.begin(), batch.adapters.end()) {
    for (const attention::RowGroup& group : groups) {
      ancestors.emplace_back(group.ancestors.begin(), group.ancestors.end());
      mirrors.emplace_back(group.mirrors.begin(), group.mirrors.end());
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      groups[g].ancestors = ancestors[g];
      groups[g].mirrors = mirrors[g];
    }
  }

  Memory& memory;
  std::vector<int32_t> tokens;
  std::vector<attention::RowGroup> groups;
  std::vector<model::AdapterRows> adapters;
  std::vector<std::vector<uint32_t>> ancestors;
  std::vector<std::vector<attention::Mirror>> mirrors;
};

class StandInCard::Held final : public model::HeldAdapter {
 public:
  Held(const StandInCard& card, const model::Adapter* adapter) : card_(card), adapter_(adapter) {
    const MutexLock lock(card_.mutex_);
    TESSERA_CHECK(card_.held_.insert(adapter_).second);
  }
  ~Held() override {
    const MutexLock lock(card_.mutex_);
    card_.held_.erase(adapter_);
  }

 private:
  const StandInCard& card_;
  const model::Adapter* const adapter_;
};

StandInCard::StandInCard(std::unique_ptr<device::Device> device,
                         std::shared_ptr<model::ProcessorDecoder> inner)
    : device_(std::move(device)),
      inner_(std::move(inner)),
      numbers_("stand-in " + inner_->numbers()),
      thread_([this] { run(); }) {}

StandInCard::~StandInCard() {
  {
    const MutexLock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<std::shared_ptr<StandInCard>> StandInCard::load(const EngineOptions& options) {
  auto device = open_processor(options);
  if (!device.is_ok()) return device.status();
  auto inner = model::ProcessorDecoder::load(options.model_path, options.compute_type,
                                             *device.value(), options.activation_scales_path,
                                             model::families(), options.head_tokens);
  if (!inner.is_ok()) return inner.status();
  if (inner.value()->state_bytes() > 0) {  // copied to and fro by the processor (prompt_state.h)
    return Status(Code::kModelInvalid, options.model_path +
                                           "/config.json: model_type: expected a model without a "
                                           "recurrent state on a card");
  }
  return std::shared_ptr<StandInCard>(
      new StandInCard(std::move(device).value(), std::move(inner).value()));
}

Result<std::unique_ptr<model::PassMemory>> StandInCard::make_memory(uint32_t max_rows,
                                                                    uint32_t max_context,
                                                                    uint32_t max_adapters) const {
  auto inner = inner_->make_memory(max_rows, max_context, max_adapters);
  if (!inner.is_ok()) return inner.status();
  return std::unique_ptr<model::PassMemory>(std::make_unique<Memory>(std::move(inner).value()));
}

Result<std::unique_ptr<model::HeldAdapter>> StandInCard::hold(const model::Adapter& adapter) const {
  return std::unique_ptr<model::HeldAdapter>(std::make_unique<Held>(*this, &adapter));
}

void StandInCard::run() {
  MutexLock lock(mutex_);
  while (true) {
    lock.wait(changed_, [&]() REQUIRES(mutex_) { return job_ != nullptr || is_ending_; });
    if (job_ == nullptr) return;
    Job& job = *job_;
    lock.unlock();
    {
      const ClosedMemory::Opened opened(memory_);
      TESSERA_CHECK(
          inner_->forward({job.tokens, job.groups, job.adapters}, job.memory.inner()).is_ok());
      job.memory.note_done();
    }
    lock.lock();
    job_.reset();
    changed_.notify_all();
  }
}

Status StandInCard::finish() const {
  MutexLock lock(mutex_);
  lock.wait(changed_, [&]() REQUIRES(mutex_) { return job_ == nullptr; });
  return passes_left_ > 0 ? Status::ok() : failed();
}

Status StandInCard::forward(const model::ForwardBatch& batch, model::PassMemory& memory) const {
  TESSERA_RETURN_IF_ERROR(finish());
  if (lacks_memory_.exchange(false)) return {Code::kEngineOverloaded, "device: no memory is left"};
  if (passes_left_ != UINT32_MAX) --passes_left_;
  const MutexLock lock(mutex_);
  for (const model::AdapterRows& rows : batch.adapters) TESSERA_CHECK(held_.contains(rows.adapter));
  job_ = std::make_unique<Job>(batch, static_cast<Memory&>(memory));
  changed_.notify_all();
  return Status::ok();
}

Result<bool> StandInCard::is_finite(model::PassMemory& memory, uint32_t first,
                                    uint32_t count) const {
  TESSERA_RETURN_IF_ERROR(finish());
  return inner_->is_finite(static_cast<Memory&>(memory).inner(), first, count);
}

Result<std::span<const float>> StandInCard::hidden(model::PassMemory& memory, uint32_t first,
                                                   uint32_t count) const {
  TESSERA_RETURN_IF_ERROR(finish());
  return inner_->hidden(static_cast<Memory&>(memory).inner(), first, count);
}

Status StandInCard::head(std::span<const model::HeadRequest> requests,
                         model::PassMemory& memory) const {
  TESSERA_RETURN_IF_ERROR(finish());
  return inner_->head(requests, static_cast<Memory&>(memory).inner());
}

Status StandInCard::clear(const attention::PromptKv& prompt, uint32_t first, uint32_t count) const {
  TESSERA_RETURN_IF_ERROR(finish());
  const ClosedMemory::Opened opened(memory_);
  return inner_->clear(prompt, first, count);
}

Result<EngineParts> open_on_stand_in(EngineOptions& options, StandInCard** opened) {
  auto processor = open_processor(options);
  if (!processor.is_ok()) return processor.status();
  auto card = StandInCard::load(options);
  if (!card.is_ok()) return card.status();
  if (opened != nullptr) *opened = card.value().get();
  PoolMemory memory;
  memory.device = [&](uint32_t slots, uint64_t bytes) {
    return stand_in_blocks(card.value()->memory(), slots, bytes);
  };
  return open_parts(options, std::move(processor).value(), card.value(),
                    std::make_shared<Int8Codec>(card.value()->block_layout()), memory);
}

}  // namespace tessera::engine
