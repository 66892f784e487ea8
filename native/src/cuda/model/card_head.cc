#include "cuda/model/card_head.h"

#include <algorithm>

#include "cuda/kernels/forward_kernels.h"

namespace tessera::model::cuda {
namespace {

using device::cuda::ceil_of;
using device::cuda::LaunchShape;
using ops::cuda::kMultiplyTile;

Staging head_staging(const HostArrays& host, const PassArrays& card, uint64_t bytes) {
  return Staging(host.head_plan, card.head_plan, bytes);
}

}  // namespace

CardHead::CardHead(const ModelConfig& config, const CardWeights& weights,
                   const CardAdapters& adapters, CardPass& pass)
    : config_(config),
      weights_(weights),
      adapters_(adapters),
      pass_(pass),
      staging_(head_staging(pass.host_, pass.card_, pass.head_plan_bytes_)) {}

const CardAdapter* CardHead::overlaid(const HeadRequest& request) const {
  if (request.adapter == nullptr || request.adapter->head.panels.empty()) return nullptr;
  return &adapters_.find(request.adapter);
}

void CardHead::append(const HeadRequest& request, float* to, uint64_t stride, Run& run) {
  for (size_t i = 0; i < request.rows.size(); ++i) {
    run.rows.push_back(request.rows[i]);
    run.to.push_back(to + i * stride);
  }
}

Status CardHead::run(std::span<const HeadRequest> requests) {
  // The plan's memory may still be read from.
  TESSERA_RETURN_IF_ERROR(pass_.finish());
  size_t sets = 0;
  for (const HeadRequest& request : requests) sets = std::max(sets, request.tokens.size());
  for (size_t set = 0; set < sets; ++set) TESSERA_RETURN_IF_ERROR(run_set(requests, set));
  TESSERA_RETURN_IF_ERROR(run_whole(requests));
  return pieces_.empty() ? Status::ok() : flush();
}

Status CardHead::run_set(std::span<const HeadRequest> requests, size_t set) {
  Run run;
  for (const HeadRequest& request : requests) {
    if (request.log_sum_exp != nullptr) continue;  // run_whole()
    const ops::HeadTokens tokens =
        set < request.tokens.size() ? request.tokens[set] : ops::HeadTokens{};
    const CardAdapter* const adapter = overlaid(request);
    const bool is_alike = tokens.ids.data() == run.ids.data() &&
                          tokens.ids.size() == run.ids.size() && adapter == run.adapter;
    if (!is_alike) {
      TESSERA_RETURN_IF_ERROR(select(run));
      run = {tokens.ids, adapter, {}, {}};
    }
    if (!tokens.ids.empty()) append(request, tokens.logits, tokens.ids.size(), run);
  }
  return select(run);
}

/// Logits and sums of a row come from one product: a sum is not below any of its logits.
Status CardHead::run_whole(std::span<const HeadRequest> requests) {
  Whole run;
  for (const HeadRequest& request : requests) {
    if (request.log_sum_exp == nullptr) continue;
    const CardAdapter* const adapter = overlaid(request);
    const bool is_alike =
        adapter == run.adapter &&
        std::equal(request.tokens.begin(), request.tokens.end(), run.sets.begin(), run.sets.end(),
                   [](const ops::HeadTokens& one, const ops::HeadTokens& other) {
                     return one.ids.data() == other.ids.data() &&
                            one.ids.size() == other.ids.size();
                   });
    if (!is_alike || run.rows.empty()) {
      TESSERA_RETURN_IF_ERROR(reduce(run));
      run = {adapter, request.tokens, {}, {}, {}};
      run.logits.resize(request.tokens.size());
    }
    for (size_t i = 0; i < request.rows.size(); ++i) {
      run.rows.push_back(request.rows[i]);
      run.sums.push_back(request.log_sum_exp + i);
      for (size_t set = 0; set < request.tokens.size(); ++set) {
        const ops::HeadTokens& tokens = request.tokens[set];
        run.logits[set].push_back(tokens.logits + i * tokens.ids.size());
      }
    }
  }
  return reduce(run);
}

Status CardHead::open_piece(std::span<float* const> to, uint64_t count, uint64_t offset,
                            uint64_t plan_bytes) {
  const bool has_room = used_ + to.size() * count <= pass_.results_max_ &&
                        Staging::padded(staging_.used()) + plan_bytes <= pass_.head_plan_bytes_;
  if (!has_room) TESSERA_RETURN_IF_ERROR(flush());
  Piece& piece = pieces_.emplace_back();
  piece.at = used_;
  piece.count = count;
  for (float* const row : to) piece.to.push_back(row + offset);
  used_ += to.size() * count;
  return Status::ok();
}

Status CardHead::copy_plan(uint64_t begin) {
  pass_.is_pending_ = true;
  return pass_.queue_->copy_in(pass_.card_.head_plan + begin, pass_.host_.head_plan + begin,
                               staging_.used() - begin);
}

Status CardHead::multiply(const CardAdapter* adapter, const uint32_t* rows, uint32_t row_count,
                          const int32_t* ids, uint32_t columns, float* y) {
  ops::cuda::Product product;
  product.x = pass_.card_.normed;
  product.x_rows = rows;
  product.rows = row_count;
  product.k = config_.hidden_size;
  product.w = weights_.head();
  product.w_rows = ids;
  product.columns = columns;
  product.y_f32 = y;
  if (adapter != nullptr) product.overlay = adapter->overlay();
  const LaunchShape shape{{ceil_of(columns, kMultiplyTile), ceil_of(row_count, kMultiplyTile), 1},
                          {ops::cuda::kMultiplyThreads, 1, 1}};
  return device::cuda::launch(*pass_.queue_, kMultiply, shape, product);
}

Status CardHead::multiply_all(const CardAdapter* adapter, const uint32_t* rows, uint32_t row_count,
                              float* logits) {
  // Columns of an adapter lie apart.
  if (adapter != nullptr)
    return multiply(adapter, rows, row_count, nullptr, config_.vocab_size, logits);
  uint16_t* const gathered = pass_.card_.added;  // free behind a pass
  const LaunchShape shape{{row_count, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(
      *pass_.queue_, kGatherRows, shape, pass_.card_.normed, rows, config_.hidden_size, gathered));
  TesseraCardProduct product{};
  product.x = gathered;
  product.w = weights_.head();
  product.rows = row_count;
  product.columns = config_.vocab_size;
  product.k = config_.hidden_size;
  product.y_f32 = logits;
  return pass_.queue_->multiply(product);
}

Status CardHead::select(const Run& run) {
  if (run.rows.empty()) return Status::ok();
  const std::span<const uint32_t> rows(run.rows);
  const std::span<float* const> to(run.to);
  for (size_t first = 0; first < run.ids.size(); first += config_.vocab_size) {
    const auto ids =
        run.ids.subspan(first, std::min<size_t>(config_.vocab_size, run.ids.size() - first));
    const size_t at_once = pass_.results_max_ / ids.size();
    for (size_t row = 0; row < rows.size(); row += at_once) {
      const size_t count = std::min(at_once, rows.size() - row);
      TESSERA_RETURN_IF_ERROR(
          open_piece(to.subspan(row, count), ids.size(), first,
                     count * sizeof(uint32_t) + ids.size_bytes() + Staging::kPadding));
      const uint64_t begin = Staging::padded(staging_.used());
      const auto* const card_rows = staging_.add<uint32_t>(rows.subspan(row, count));
      const auto* const card_ids = staging_.add<int32_t>(ids);
      TESSERA_RETURN_IF_ERROR(copy_plan(begin));
      TESSERA_RETURN_IF_ERROR(multiply(run.adapter, card_rows, static_cast<uint32_t>(count),
                                       card_ids, static_cast<uint32_t>(ids.size()),
                                       pass_.card_.results + pieces_.back().at));
    }
  }
  return Status::ok();
}

Status CardHead::reduce(const Whole& run) {
  const std::span<const uint32_t> rows(run.rows);
  const std::span<float* const> sums(run.sums);
  const size_t at_once = pass_.vocab_rows_;
  for (size_t row = 0; row < rows.size(); row += at_once) {
    const auto count = static_cast<uint32_t>(std::min(at_once, rows.size() - row));
    TESSERA_RETURN_IF_ERROR(open_piece(sums.subspan(row, count), 1, 0, count * sizeof(uint32_t)));
    const uint64_t begin = Staging::padded(staging_.used());
    const auto* const card_rows = staging_.add<uint32_t>(rows.subspan(row, count));
    TESSERA_RETURN_IF_ERROR(copy_plan(begin));
    float* const logits = pass_.card_.vocab_logits;
    TESSERA_RETURN_IF_ERROR(multiply_all(run.adapter, card_rows, count, logits));
    const LaunchShape shape{{count, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
    TESSERA_RETURN_IF_ERROR(device::cuda::launch(*pass_.queue_, kLogSumExp, shape, logits,
                                                 config_.vocab_size,
                                                 pass_.card_.results + pieces_.back().at));
    for (size_t set = 0; set < run.sets.size(); ++set) {
      TESSERA_RETURN_IF_ERROR(
          gather(run.sets[set].ids, std::span(run.logits[set]).subspan(row, count)));
    }
  }
  return Status::ok();
}

/// Columns of the vocabulary's logits, of as many rows as `to` has.
Status CardHead::gather(std::span<const int32_t> all, std::span<float* const> to) {
  for (size_t first = 0; first < all.size(); first += config_.vocab_size) {
    const auto ids = all.subspan(first, std::min<size_t>(config_.vocab_size, all.size() - first));
    const size_t at_once = pass_.results_max_ / ids.size();
    for (size_t row = 0; row < to.size(); row += at_once) {
      const auto rows = static_cast<uint32_t>(std::min(at_once, to.size() - row));
      TESSERA_RETURN_IF_ERROR(open_piece(to.subspan(row, rows), ids.size(), first,
                                         ids.size_bytes() + Staging::kPadding));
      const uint64_t begin = Staging::padded(staging_.used());
      const auto* const card_ids = staging_.add<int32_t>(ids);
      TESSERA_RETURN_IF_ERROR(copy_plan(begin));
      const LaunchShape shape{{rows, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
      TESSERA_RETURN_IF_ERROR(device::cuda::launch(
          *pass_.queue_, kGatherColumns, shape, pass_.card_.vocab_logits + row * config_.vocab_size,
          config_.vocab_size, card_ids, static_cast<uint32_t>(ids.size()),
          pass_.card_.results + pieces_.back().at));
    }
  }
  return Status::ok();
}

bool CardHead::is_direct(const Piece& piece) const {
  for (size_t row = 1; row < piece.to.size(); ++row) {
    if (piece.to[row] != piece.to[row - 1] + piece.count) return false;
  }
  return pass_.is_pinned(piece.to.front(), piece.to.size() * piece.count);
}

Status CardHead::flush() {
  const float* const results = pass_.host_.results;
  for (Piece& piece : pieces_) {
    piece.is_direct = is_direct(piece);
    float* const to = piece.is_direct ? piece.to.front() : pass_.host_.results + piece.at;
    TESSERA_RETURN_IF_ERROR(pass_.queue_->copy_to_pinned(
        to, pass_.card_.results + piece.at, piece.to.size() * piece.count * sizeof(float)));
  }
  TESSERA_RETURN_IF_ERROR(pass_.finish());
  for (const Piece& piece : pieces_) {
    if (piece.is_direct) continue;
    for (size_t row = 0; row < piece.to.size(); ++row)
      std::copy_n(results + piece.at + row * piece.count, piece.count, piece.to[row]);
  }
  pieces_.clear();
  used_ = 0;
  staging_ = head_staging(pass_.host_, pass_.card_, pass_.head_plan_bytes_);
  return Status::ok();
}

}  // namespace tessera::model::cuda
