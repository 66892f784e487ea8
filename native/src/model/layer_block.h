// A block of a decoder's layer: attention, or a feed-forward network. It owns all that is its own:
// the names and shapes of its weights, the products that adapters may have factors for, the inputs
// that have scales where activations are quantised, what its work is counted as, and its pass on
// the CPU. No other code names a weight of it. The list of slots to load does not depend on the
// device: a card's loader asks for the same ones.
//
// Immutable, of no weights: one object may serve several decoders at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/packed_matrix.h"

namespace tessera::model {

class Pass;

/// A tensor of a block, as a checkpoint has it.
struct WeightSlot {
  enum class Kind : uint8_t { kVector, kTable, kMatrix };

  /// Rows [first_row, first_row + outputs) of a tensor of many matrices, one behind the other.
  struct Part {
    std::string name;  // empty: there is none
    std::vector<uint64_t> shape;
    uint64_t first_row = 0;
  };

  /// Name of the tensor after the layer's, e.g. mlp.up_proj.weight.
  std::string name;
  Kind kind = Kind::kVector;
  /// Index in BlockWeights: matrices have numbers of their own, vectors and tables too.
  uint32_t number = 0;
  uint64_t outputs = 0;  // rows of a matrix or a table, numbers of a vector
  uint64_t inputs = 0;   // of a matrix or a table
  /// Its panels lie side by side with those of the matrix before: both are read in one product.
  bool beside_previous = false;
  /// Part of the tensor that has it in checkpoints without a tensor of the name.
  Part part = {};
  bool adds_one = false;  // of a vector: 1 is added to each number when it is loaded
  uint32_t taps = 0;      // of a vector that is [outputs / taps][1][taps], kept as [taps][...]

  /// Name of a matrix without its ending, as adapters call it.
  std::string_view module() const;
  std::vector<uint64_t> shape() const;
};

/// Weights of one block on the CPU, by the numbers of its slots. Vectors and tables are F32, tables
/// row by row; matrices are of the compute type.
struct BlockWeights {
  std::vector<const float*> vectors;
  std::vector<ops::PackedMatrix> matrices;

  /// Null where the model has no such vector.
  const float* vector(uint32_t number) const {
    return number < vectors.size() ? vectors[number] : nullptr;
  }
};

/// The work of a block's pass, in multiplications. Where a block chooses experts, each
/// expert that a row of the pass chooses costs `expert` once, however many rows choose it.
struct BlockWork {
  double row = 0;      // of each row
  double pair = 0;     // of each row and position that it attends to
  double experts = 0;  // 0: every row goes through all weights
  double chosen = 0;   // experts of a row
  double expert = 0;
};

/// Place where activations enter products of a block.
struct InputSlot {
  std::string_view name;  // as files of scales call it
  uint32_t scales = 1;    // fixed ones that it has: one, or one for each expert
};

/// Sizes that a pass reserves for a block that chooses experts.
struct ExpertLimits {
  uint32_t experts = 0;  // 0: none are chosen
  uint32_t chosen = 0;   // by a row
  uint64_t widest = 0;   // numbers of the longest row that enters a product of an expert
};

class LayerBlock {
 public:
  virtual ~LayerBlock() = default;

  /// In the order in which they are read, kept in memory and counted in the digest.
  const std::vector<WeightSlot>& slots() const { return slots_; }
  /// Null where there is none.
  const WeightSlot* find(WeightSlot::Kind kind, uint32_t number) const;
  /// Weights with room for all of them, nothing set.
  BlockWeights empty_weights() const;
  uint32_t matrix_count() const { return matrix_count_; }
  /// The input that a matrix reads, as feed() says. REQUIRES: an encoder's block.
  uint32_t input_of(uint32_t matrix) const { return inputs_of_[matrix]; }
  /// Input slots by number.
  std::span<const InputSlot> inputs() const { return inputs_; }
  /// Floats of scratch per row of a pass.
  uint64_t floats_per_row() const { return floats_per_row_; }
  virtual BlockWork work() const = 0;
  virtual ExpertLimits expert_limits() const { return {}; }

  /// Adds the block's output to the residual stream of all rows.
  virtual void forward(const BlockWeights& weights, Pass& pass) const = 0;
  /// Keeps what rows of a decoder read of an encoder's rows, which are the pass's. Of most blocks
  /// that is nothing.
  virtual void keep_encoded(const BlockWeights& /*weights*/, Pass& /*pass*/) const {}

 protected:
  LayerBlock(std::vector<InputSlot> inputs, uint64_t floats_per_row)
      : inputs_(std::move(inputs)), floats_per_row_(floats_per_row) {}

  /// The next slot; numbers are those of the block's own enumerations.
  void add_vector(uint32_t number, std::string name, uint64_t size, bool adds_one = false);
  /// Weights of a convolution of each channel by itself, kept tap by tap.
  void add_taps(uint32_t number, std::string name, uint64_t channels, uint32_t taps);
  void add_table(uint32_t number, std::string name, uint64_t rows, uint64_t columns);
  void add_matrix(uint32_t number, const std::string& module, uint64_t outputs, uint64_t inputs,
                  bool beside_previous = false, WeightSlot::Part part = {});
  /// These matrices read input `input`; said of every matrix of an encoder's block.
  void feed(uint32_t input, std::initializer_list<uint32_t> matrices);
  /// Multiplications of a row with every table and matrix.
  double multiplications() const;

 private:
  std::vector<WeightSlot> slots_;
  std::vector<InputSlot> inputs_;
  std::vector<uint32_t> inputs_of_;  // by number of the matrix
  uint64_t floats_per_row_ = 0;
  uint32_t vector_count_ = 0;  // numbers in use end here
  uint32_t matrix_count_ = 0;
};

}  // namespace tessera::model
