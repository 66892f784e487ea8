// The head on a card: logits of chosen tokens and log sum exp over the vocabulary of rows of the
// last pass, of many requests at once. They come back in pinned memory, with one wait where they
// fit into it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/model/card_adapters.h"
#include "cuda/model/card_pass.h"
#include "cuda/model/card_plan.h"
#include "cuda/model/card_weights.h"
#include "model/decoder.h"

namespace tessera::model::cuda {

class CardHead {
 public:
  CardHead(const ModelConfig& config, const CardWeights& weights, const CardAdapters& adapters,
           CardPass& pass);

  /// Decoder::head(). Errors: what the queue says.
  Status run(std::span<const HeadRequest> requests);

 private:
  /// Requests' rows that are multiplied together, and where the results of each go.
  struct Run {
    std::span<const int32_t> ids;
    const CardAdapter* adapter = nullptr;  // that has an overlay
    std::vector<uint32_t> rows;
    std::vector<float*> to;
  };
  /// Results [at, at + to.size() * count) of `count` floats for each row.
  struct Piece {
    uint64_t at = 0;
    uint64_t count = 0;
    std::vector<float*> to;
    bool is_direct = false;  // rows lie behind each other in pinned memory of the caller's
  };
  bool is_direct(const Piece& piece) const;
  /// Rows whose log-sum-exps are wanted, and logits of the same sets of tokens beside them.
  struct Whole {
    const CardAdapter* adapter = nullptr;
    std::span<const ops::HeadTokens> sets;
    std::vector<uint32_t> rows;
    std::vector<float*> sums;
    std::vector<std::vector<float*>> logits;  // by set
  };
  const CardAdapter* overlaid(const HeadRequest& request) const;
  static void append(const HeadRequest& request, float* to, uint64_t stride, Run& run);
  Status run_set(std::span<const HeadRequest> requests, size_t set);
  Status run_whole(std::span<const HeadRequest> requests);
  Status select(const Run& run);
  Status reduce(const Whole& run);
  Status gather(std::span<const int32_t> all, std::span<float* const> to);
  Status multiply(const CardAdapter* adapter, const uint32_t* rows, uint32_t row_count,
                  const int32_t* ids, uint32_t columns, float* y);
  /// Logits of the whole vocabulary.
  Status multiply_all(const CardAdapter* adapter, const uint32_t* rows, uint32_t row_count,
                      float* logits);
  /// Makes room for results and a plan of so many bytes, and notes where the results go.
  Status open_piece(std::span<float* const> to, uint64_t count, uint64_t offset,
                    uint64_t plan_bytes);
  Status copy_plan(uint64_t begin);
  /// Waits, and gives the results to the callers.
  Status flush();

  const ModelConfig& config_;
  const CardWeights& weights_;
  const CardAdapters& adapters_;
  CardPass& pass_;
  Staging staging_;
  std::vector<Piece> pieces_;
  uint64_t used_ = 0;  // of the results
};

}  // namespace tessera::model::cuda
