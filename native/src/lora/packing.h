// Tensors to what a forward pass reads: looked through first (numbers finite, norms within bounds,
// rows that differ from the model's, the digest and the bytes needed), then packed. Nothing is kept
// of an adapter that is refused. Private to lora.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "lora/adapter.h"
#include "lora/adapter_tensors.h"
#include "model/decoder.h"

namespace tessera::lora {

/// XXH3-128 of bytes, as 32 hex digits.
std::string hash_text(const void* data, uint64_t size);

class Packing {
 public:
  /// `device` has the decoder's kernels and threads of its own; the others outlive the object.
  /// `heads`, which may be null, are the adapter's.
  Packing(const model::Decoder& decoder, std::shared_ptr<device::Device> device,
          const AdapterTensors& tensors, std::shared_ptr<const Heads> heads, const Limits& limits);

  /// Errors: ADAPTER_CORRUPT for NaN and infinity, ADAPTER_INVALID for a norm over the limit, both
  /// naming the module; ADAPTER_INVALID for numbers that are all the base's.
  Status look_through();
  /// REQUIRES: look_through().
  const Summary& summary() const { return summary_; }
  /// REQUIRES: look_through(). Errors: ENGINE_OVERLOADED.
  Result<std::unique_ptr<Adapter>> pack();

 private:
  /// A replaced row: its token and its place in the tensor.
  struct Row {
    uint32_t id = 0;
    uint64_t place = 0;
  };
  /// Factors of rows: token t has `tokens` [t, rank] times `hidden` [rank, hidden] added to it.
  struct RowFactors {
    std::vector<float> tokens, hidden;
    uint32_t rank = 0;
    /// Factors of the sum: of the head a number for each token, of the embedding one for
    /// each of a row's numbers; empty where all are 1.
    std::vector<float> scales{};
  };
  using BaseRow = void (model::Decoder::*)(uint32_t token, float* row) const;

  Status look_at(const Factors& factors, std::string& content);
  Status look_at(const Rows& rows, const char* name, BaseRow base, std::vector<Row>& replaced,
                 std::string& content);
  Status check_base(const Rows& rows, BaseRow base) const;
  Status look_at_magnitudes(const Factors& factors);
  Status look_at_magnitudes(const Rows& rows);
  Status look_at_row_factors(const Rows& rows, std::string& content);
  RowFactors& factors_of(const Rows& rows);
  uint64_t row_count(const Rows& rows) const;
  Result<std::vector<float>> numbers_of(const model::TensorEntry& entry, double scale) const;
  Status keep_scales(const Factors& factors, const std::vector<double>& squared_lengths,
                     std::vector<float>& to);
  void read_row(const Rows& rows, uint64_t place, float* to) const;
  void read_exact_row(const Rows& rows, uint64_t place, float* to) const;
  Status check_rows() const;
  uint64_t factor_bytes(const Factors& factors) const;
  void count_bytes();
  char* pack_factors(const Factors& factors, char* at, Adapter& to) const;
  char* pack_head(char* at, Adapter& to) const;
  void pack_panel(uint32_t panel, const ops::PackedMatrix& to) const;
  void pack_embedding(char* at, Adapter& to) const;

  const model::Decoder& decoder_;
  const std::shared_ptr<device::Device> device_;
  const AdapterTensors& tensors_;
  const std::shared_ptr<const Heads> heads_;
  const Limits limits_;
  const device::PanelType type_;
  Summary summary_;
  std::unordered_map<const Factors*, std::vector<float>> scales_;  // of those with magnitudes
  bool do_scales_change_ = false;
  std::vector<Row> embedding_, head_;  // ascending; of those that differ from the model's
  RowFactors embedding_factors_, head_factors_;
  std::vector<uint32_t> head_panels_;  // ascending
};

}  // namespace tessera::lora
