// A model's weights on a card, row-major, products that read the same rows joined: BF16, the
// matrices of layers INT8 where the compute type says so (ops/quantise.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/device/queue.h"
#include "cuda/kernels/multiply_kernels.h"
#include "device/device.h"
#include "model/recipe.h"
#include "model/weights.h"

namespace tessera::model::cuda {

/// Rows of `k` numbers: `values`, or `quantised` with a scale per row and tile of k.
struct CardMatrix {
  uint32_t k = 0;
  uint16_t* values = nullptr;
  int8_t* quantised = nullptr;  // rows of whole tiles
  float* scales = nullptr;

  uint32_t tiles() const { return tiles_of(k); }
  static constexpr uint32_t tiles_of(uint64_t k) {
    constexpr uint64_t kDepth = ops::cuda::kQuantisedDepth;
    return static_cast<uint32_t>((k + kDepth - 1) / kDepth);
  }
  /// The same from row `first` on.
  CardMatrix from(uint64_t first) const {
    if (values != nullptr) return {k, values + first * k, nullptr, nullptr};
    return {k, nullptr, quantised + first * tiles() * ops::cuda::kQuantisedDepth,
            scales + first * tiles()};
  }
};

struct CardLayer {
  uint16_t* input_norm = nullptr;
  CardMatrix qkv;                // [heads + 2 kv_heads][head_dim] rows of hidden
  uint16_t* qkv_bias = nullptr;  // null: none, as below
  CardMatrix o;
  uint16_t* o_bias = nullptr;
  uint16_t* q_norm = nullptr;
  uint16_t* k_norm = nullptr;
  uint16_t* post_norm = nullptr;
  CardMatrix gate_up;  // gate's rows, then up's
  CardMatrix down;
};

/// Products of a layer, and the matrices of Layer::matrices() that each joins.
enum class CardProduct : uint8_t { kQkv, kO, kGateUp, kDown };
inline constexpr uint32_t kProducts = 4;
/// Rows of a product of a layer that are one matrix's.
struct ProductPart {
  uint32_t matrix = 0;  // of Layer::matrices()
  CardProduct product = CardProduct::kQkv;
  uint32_t part = 0;  // of the product
  uint32_t first_column = 0;
  uint32_t columns = 0;
};
inline constexpr uint32_t kPartsMax = 3;
/// Parts of every layer's products, in their order.
std::vector<ProductPart> product_parts(const ModelConfig& config);

/// Errors: MODEL_INVALID naming the field of a model whose layers or sizes have no kernels.
Status check_shape(const std::string& folder, const Recipe& recipe);

class CardWeights {
 public:
  /// Memory for the weights of a recipe that check_shape() accepts, without content. Errors:
  /// ENGINE_OVERLOADED where the card lacks memory.
  static Result<CardWeights> allocate(const Recipe& recipe, ComputeType type,
                                      device::cuda::Queue& queue);

  /// Copies the tensors of a folder that was looked through to where these are. Errors:
  /// MODEL_CORRUPT where the files are others by now; what the queue says. The weights are of no
  /// model after one.
  Status stream(const Recipe& recipe, const WeightsUpdate& files, device::Device& processor,
                device::cuda::Queue& queue) const;

  const uint16_t* embedding() const { return embedding_; }  // [vocab][hidden]
  const uint16_t* head() const { return head_; }            // the embedding where they are tied
  const uint16_t* final_norm() const { return final_norm_; }
  const std::vector<CardLayer>& layers() const { return layers_; }
  uint64_t bytes() const { return bytes_; }

 private:
  /// A tensor of the file, and where it goes.
  struct Target {
    std::string name;
    CardMatrix to;
  };
  uint64_t lay_out(const Recipe& recipe, ComputeType type, char* base);
  /// In the order in which the digest counts them.
  std::vector<Target> targets(const Recipe& recipe, const std::string& prefix) const;

  uint16_t* embedding_ = nullptr;
  uint16_t* head_ = nullptr;
  uint16_t* final_norm_ = nullptr;
  std::vector<CardLayer> layers_;
  uint64_t bytes_ = 0;
  device::cuda::Memory memory_;
};

/// The tensor of an embedding or a head. REQUIRES: the files have been looked through.
const TensorEntry& table_of(const WeightsUpdate& files, const Recipe& recipe, bool is_head);

}  // namespace tessera::model::cuda
