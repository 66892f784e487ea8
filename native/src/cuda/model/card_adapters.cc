#include "cuda/model/card_adapters.h"

#include <algorithm>

#include "base/check.h"
#include "tensor/dtype.h"

namespace tessera::model::cuda {
namespace {

using device::kPanelColumns;
using ops::LowRank;
using ops::PackedMatrix;

static_assert(kPanelColumns == ops::cuda::kOverlayColumns);
static_assert(ops::kRankMax == ops::cuda::kRankMax);

/// Products take k in eights.
constexpr uint32_t padded_rank(uint64_t rank) { return static_cast<uint32_t>((rank + 7) / 8 * 8); }

uint16_t narrow(float value) { return tensor::bf16_of_f32(value); }

}  // namespace

class CardAdapters::Held final : public HeldAdapter {
 public:
  Held(std::shared_ptr<CardAdapters> all, const Adapter* adapter)
      : all_(std::move(all)), adapter_(adapter) {}
  ~Held() override { all_->drop(adapter_); }

 private:
  const std::shared_ptr<CardAdapters> all_;
  const Adapter* const adapter_;
};

uint64_t CardAdapters::lay_out(const Adapter& adapter, char* base, CardAdapter& card) const {
  device::cuda::Arrays arrays(base);
  card.layers.clear();
  for (const LayerAdapter& layer : adapter.layers) {
    std::vector<CardFactors>& factors = card.layers.emplace_back();
    for (const LowRank& matrix : layer) {
      CardFactors& own = factors.emplace_back();
      if (!matrix.is_set()) continue;
      own.rank = padded_rank(matrix.a.columns);
      arrays.take(own.a, own.rank * matrix.a.k);
      arrays.take(own.b, matrix.b.columns * own.rank);
      if (matrix.scales != nullptr) arrays.take(own.scales, matrix.b.columns);
    }
  }
  card.ids.assign(adapter.embedding.ids.begin(), adapter.embedding.ids.end());
  if (!card.ids.empty()) arrays.take(card.rows, card.ids.size() * hidden_);
  if (const uint64_t panels = adapter.head.panels.size(); panels > 0) {
    arrays.take(card.places, device::panel_count(vocab_));
    arrays.take(card.own, panels * kPanelColumns * hidden_);
  }
  return arrays.bytes();
}

/// Rows of `stride` numbers, of which those behind a column's own are zero.
Status CardAdapters::upload_rows(const PackedMatrix& from, uint64_t stride, uint16_t* to) {
  std::vector<float> row(from.k);
  std::vector<uint16_t> rows(from.columns * stride);
  for (uint64_t i = 0; i < from.columns; ++i) {
    ops::unpack_column(from, i, row.data());
    std::transform(row.begin(), row.end(), rows.begin() + static_cast<int64_t>(i * stride), narrow);
  }
  return copies_->copy_in(to, rows.data(), rows.size() * sizeof(uint16_t));
}

Status CardAdapters::upload_embedding(const ops::ReplacedRows& replaced, uint16_t* to) {
  const tensor::TensorView& table = replaced.rows;
  std::vector<uint16_t> rows;
  std::vector<float> row(hidden_);
  for (uint64_t i = 0; i < replaced.ids.size(); ++i) {
    if (table.data == nullptr) {
      const auto token = static_cast<uint64_t>(replaced.ids[i]);
      const uint64_t own = replaced.columns.find(token / kPanelColumns);
      TESSERA_CHECK(own != ops::PanelOverlay::kNone);
      ops::unpack_column(replaced.columns.own, own * kPanelColumns + token % kPanelColumns,
                         row.data());
      std::transform(row.begin(), row.end(), std::back_inserter(rows), narrow);
    } else if (table.type == tensor::DType::kBf16) {
      const auto* const from = static_cast<const uint16_t*>(table.row(i));
      rows.insert(rows.end(), from, from + hidden_);
    } else {
      const auto* const from = static_cast<const float*>(table.row(i));
      std::transform(from, from + hidden_, std::back_inserter(rows), narrow);
    }
  }
  return copies_->copy_in(to, rows.data(), rows.size() * sizeof(uint16_t));
}

Status CardAdapters::upload_overlay(const ops::PanelOverlay& head, const CardAdapter& card) {
  std::vector<uint32_t> places(device::panel_count(vocab_), ops::cuda::kNoPanel);
  for (uint32_t i = 0; i < head.panels.size(); ++i) places[head.panels[i]] = i;
  TESSERA_RETURN_IF_ERROR(
      copies_->copy_in(card.places, places.data(), places.size() * sizeof(uint32_t)));
  return upload_rows(head.own, hidden_, card.own);
}

Status CardAdapters::upload(const Adapter& adapter, CardAdapter& card) {
  for (size_t layer = 0; layer < adapter.layers.size(); ++layer) {
    for (size_t i = 0; i < adapter.layers[layer].size(); ++i) {
      const LowRank& matrix = adapter.layers[layer][i];
      if (!matrix.is_set()) continue;
      const CardFactors& own = card.layers[layer][i];
      // Rows of A behind its rank are zero, so that what they give is.
      TESSERA_RETURN_IF_ERROR(copies_->zero(own.a, own.rank * matrix.a.k * sizeof(uint16_t)));
      TESSERA_RETURN_IF_ERROR(upload_rows(matrix.a, matrix.a.k, own.a));
      TESSERA_RETURN_IF_ERROR(upload_rows(matrix.b, own.rank, own.b));
      if (matrix.scales == nullptr) continue;
      TESSERA_RETURN_IF_ERROR(
          copies_->copy_in(own.scales, matrix.scales, matrix.b.columns * sizeof(float)));
    }
  }
  if (!card.ids.empty()) TESSERA_RETURN_IF_ERROR(upload_embedding(adapter.embedding, card.rows));
  if (card.own != nullptr) TESSERA_RETURN_IF_ERROR(upload_overlay(adapter.head, card));
  return copies_->finish();
}

Result<std::unique_ptr<HeldAdapter>> CardAdapters::hold(const Adapter& adapter) {
  auto card = std::make_unique<CardAdapter>();
  const uint64_t bytes = lay_out(adapter, nullptr, *card);
  {
    const MutexLock transfer(transfer_);
    free_dropped();
    if (bytes > 0) {
      Result<device::cuda::Memory> memory = device::cuda::Memory::allocate(*copies_, bytes);
      if (!memory.is_ok()) return memory.status();
      card->memory = std::move(memory).value();
    }
    lay_out(adapter, card->memory.as<char>(), *card);
    if (const Status status = upload(adapter, *card); !status.is_ok()) {
      (void)copies_->finish();  // nothing is written to memory that has been given back
      card.reset();             // while the queue is this thread's
      return status;
    }
  }
  const MutexLock lock(mutex_);
  TESSERA_CHECK(held_.emplace(&adapter, std::move(card)).second);
  return std::unique_ptr<HeldAdapter>(std::make_unique<Held>(shared_from_this(), &adapter));
}

const CardAdapter& CardAdapters::find(const Adapter* adapter) const {
  const MutexLock lock(mutex_);
  const auto found = held_.find(adapter);
  TESSERA_CHECK(found != held_.end());
  return *found->second;
}

/// Its memory goes with the next one that is held: freeing it waits for the card, and for another's
/// way there, which the thread that drops it must not.
void CardAdapters::drop(const Adapter* adapter) {
  const MutexLock lock(mutex_);
  const auto found = held_.find(adapter);
  dropped_.push_back(std::move(found->second));
  held_.erase(found);
}

void CardAdapters::free_dropped() {
  std::vector<std::unique_ptr<CardAdapter>> dropped;
  {
    const MutexLock lock(mutex_);
    dropped.swap(dropped_);
  }
}

}  // namespace tessera::model::cuda
