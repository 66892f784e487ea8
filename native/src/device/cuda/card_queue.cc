#include "device/cuda/card_queue.h"

#include <utility>

namespace tessera::device::cuda {

Result<std::unique_ptr<CardQueue>> CardQueue::open(std::unique_ptr<Card> card,
                                                   const void* const* images) {
  if (*images == nullptr) {
    return Status(Code::kEngineUnavailable,
                  "device: built without kernels for a card: "
                  "expected TESSERA_CUDA at the build");
  }
  Result<std::unique_ptr<CardQueue>> queue = open_copies(std::move(card));
  if (!queue.is_ok()) return queue;
  for (; *images != nullptr; ++images) {
    Result<Module> module = queue.value()->card_->load_module(*images);
    if (!module.is_ok()) return module.status();
    queue.value()->modules_.push_back(module.value());
  }
  return queue;
}

Result<std::unique_ptr<CardQueue>> CardQueue::open_copies(std::unique_ptr<Card> card) {
  auto queue = std::unique_ptr<CardQueue>(new CardQueue(std::move(card)));
  Result<Stream> stream = queue->card_->make_stream();
  if (!stream.is_ok()) return stream.status();
  queue->stream_ = stream.value();
  return queue;
}

CardQueue::~CardQueue() {
  if (!card_->enter().is_ok()) return;
  for (const Module module : modules_) card_->drop_module(module);
  if (stream_ != nullptr) card_->drop_stream(stream_);
}

Result<void*> CardQueue::allocate(uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  Result<Address> address = card_->allocate(bytes);
  if (!address.is_ok()) return address.status();
  return reinterpret_cast<void*>(address.value());
}

void CardQueue::release(void* memory) {
  if (card_->enter().is_ok()) card_->release(reinterpret_cast<Address>(memory));
}

Result<void*> CardQueue::allocate_pinned(uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  return card_->allocate_pinned(bytes);
}

void CardQueue::release_pinned(void* memory) {
  if (card_->enter().is_ok()) card_->release_pinned(memory);
}

Status CardQueue::copy_within(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  return card_->copy_within_card(reinterpret_cast<Address>(to), reinterpret_cast<Address>(from),
                                 bytes, stream_);
}

Status CardQueue::zero(void* at, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  return card_->zero(reinterpret_cast<Address>(at), bytes, stream_);
}

Status CardQueue::copy_in(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  return card_->copy_to_card(reinterpret_cast<Address>(to), from, bytes, stream_);
}

Status CardQueue::copy_out(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  TESSERA_RETURN_IF_ERROR(
      card_->copy_from_card(to, reinterpret_cast<Address>(from), bytes, stream_));
  return finish();
}

Result<Function> CardQueue::find(const char* kernel) {
  const auto known = functions_.find(kernel);
  if (known != functions_.end()) return known->second;
  Status last(Code::kEngineUnavailable, kernel);
  for (const Module module : modules_) {
    Result<Function> found = card_->find_function(module, kernel);
    if (found.is_ok()) {
      functions_.emplace(kernel, found.value());
      return found.value();
    }
    last = found.status();
  }
  return last;
}

Status CardQueue::launch(const char* kernel, const LaunchShape& shape,
                         std::span<void* const> arguments) {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  Result<Function> function = find(kernel);
  if (!function.is_ok()) return function.status();
  return card_->launch(function.value(), shape, arguments, stream_);
}

Status CardQueue::finish() {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  return card_->synchronise(stream_);
}

}  // namespace tessera::device::cuda
