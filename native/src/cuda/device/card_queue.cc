#include "cuda/device/card_queue.h"

#include <utility>

#include "base/check.h"

namespace tessera::device::cuda {

Result<std::unique_ptr<CardQueue>> CardQueue::open(std::unique_ptr<Card> card,
                                                   std::shared_ptr<const CardLibrary> library) {
  Result<std::unique_ptr<CardQueue>> queue = open_copies(std::move(card));
  if (!queue.is_ok()) return queue;
  TESSERA_RETURN_IF_ERROR(queue.value()->card_->enter());
  TESSERA_RETURN_IF_ERROR(library->load());
  const void* const* images = library->images();
  queue.value()->library_ = std::move(library);
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

std::string CardQueue::numbers() const {
  return "sm_" + std::to_string(card_->capability()) + " library " +
         std::to_string(TESSERA_CARD_VERSION);
}

CardQueue::~CardQueue() {
  if (!card_->enter().is_ok()) return;
  for (const Module module : modules_) card_->drop_module(module);
  if (stream_ != nullptr) card_->drop_stream(stream_);
}

Result<void*> CardQueue::allocate(uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(enter("allocate"));
  Result<Address> address = card_->allocate(bytes);
  if (!address.is_ok()) return address.status();
  return reinterpret_cast<void*>(address.value());
}

void CardQueue::release(void* memory) {
  if (card_->enter().is_ok()) card_->release(reinterpret_cast<Address>(memory));
}

Result<uint64_t> CardQueue::bytes_left() const {
  TESSERA_RETURN_IF_ERROR(card_->enter());
  const Result<CardMemory> memory = card_->memory();
  if (!memory.is_ok()) return memory.status();
  return memory.value().free_bytes;
}

Result<void*> CardQueue::allocate_pinned(uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(enter("allocate_pinned"));
  return card_->allocate_pinned(bytes);
}

void CardQueue::release_pinned(void* memory) {
  if (card_->enter().is_ok()) card_->release_pinned(memory);
}

Status CardQueue::copy_within(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(enter("copy_within"));
  return card_->copy_within_card(reinterpret_cast<Address>(to), reinterpret_cast<Address>(from),
                                 bytes, stream_);
}

Status CardQueue::zero(void* at, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(enter("zero"));
  return card_->zero(reinterpret_cast<Address>(at), bytes, stream_);
}

Status CardQueue::copy_in(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(enter("copy_in"));
  return card_->copy_to_card(reinterpret_cast<Address>(to), from, bytes, stream_);
}

Status CardQueue::copy_out(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(enter("copy_out"));
  TESSERA_RETURN_IF_ERROR(
      card_->copy_from_card(to, reinterpret_cast<Address>(from), bytes, stream_));
  return finish();
}

Status CardQueue::copy_to_pinned(void* to, const void* from, uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(enter("copy_to_pinned"));
  return card_->copy_from_card(to, reinterpret_cast<Address>(from), bytes, stream_);
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

Status CardQueue::multiply(const TesseraCardProduct& product) {
  TESSERA_CHECK(library_ != nullptr);
  TESSERA_RETURN_IF_ERROR(card_->enter());
  return library_->multiply(product, stream_);
}

Status CardQueue::attend(const TesseraCardAttention& attention) {
  TESSERA_CHECK(library_ != nullptr);
  TESSERA_RETURN_IF_ERROR(card_->enter());
  return library_->attend(attention, stream_);
}

Status CardQueue::finish() {
  TESSERA_RETURN_IF_ERROR(enter("finish"));
  return card_->synchronise(stream_);
}

Status CardQueue::enter(const char* call) {
  if (!is_recording_) return card_->enter();
  Status refusal = refused_while_recording(call);
  if (refusal_.is_ok()) refusal_ = refusal;
  return refusal;
}

class CardQueue::Chain final : public Recording {
 public:
  Chain(Card& card, Graph graph) : card_(card), graph_(graph) {}
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  ~Chain() override {
    if (card_.enter().is_ok()) card_.drop_graph(graph_);
  }
  Graph graph() const { return graph_; }

 private:
  Card& card_;
  Graph graph_;
};

Status CardQueue::begin_recording() {
  TESSERA_RETURN_IF_ERROR(enter("begin_recording"));
  TESSERA_RETURN_IF_ERROR(card_->begin_capture(stream_));
  is_recording_ = true;
  refusal_ = Status::ok();
  return Status::ok();
}

Result<std::unique_ptr<Recording>> CardQueue::end_recording() {
  TESSERA_CHECK(is_recording_);
  is_recording_ = false;
  TESSERA_RETURN_IF_ERROR(card_->enter());
  Result<Graph> graph = card_->end_capture(stream_);
  if (!graph.is_ok()) return refusal_.is_ok() ? graph.status() : refusal_;
  std::unique_ptr<Recording> chain = std::make_unique<Chain>(*card_, graph.value());
  if (!refusal_.is_ok()) return refusal_;
  return chain;
}

Status CardQueue::replay(const Recording& recording) {
  TESSERA_RETURN_IF_ERROR(enter("replay"));
  return card_->launch(static_cast<const Chain&>(recording).graph(), stream_);
}

}  // namespace tessera::device::cuda
