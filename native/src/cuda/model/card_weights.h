// A model's weights on a card: BF16, row-major, products that read the same rows joined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/device/queue.h"
#include "device/device.h"
#include "model/recipe.h"
#include "model/weights.h"

namespace tessera::model::cuda {

struct CardLayer {
  uint16_t* input_norm = nullptr;
  uint16_t* qkv = nullptr;       // [heads + 2 kv_heads][head_dim] rows of hidden
  uint16_t* qkv_bias = nullptr;  // null: none, as below
  uint16_t* o = nullptr;
  uint16_t* o_bias = nullptr;
  uint16_t* q_norm = nullptr;
  uint16_t* k_norm = nullptr;
  uint16_t* post_norm = nullptr;
  uint16_t* gate_up = nullptr;  // gate's rows, then up's
  uint16_t* down = nullptr;
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
  static Result<CardWeights> allocate(const Recipe& recipe, device::cuda::Queue& queue);

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
    uint16_t* at = nullptr;
  };
  uint64_t lay_out(const Recipe& recipe, char* base);
  static void lay_out_layer(const ModelConfig& config, const Layer& layer,
                            device::cuda::Arrays& arrays, CardLayer& card);
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
