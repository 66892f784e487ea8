// Layers of experts with random weights and given choices: what experts_bench multiplies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "ops/packed_matrix.h"
#include "ops/route.h"

namespace tessera::bench {

struct ExpertsShape {
  uint64_t hidden = 2048;
  uint32_t experts = 128, chosen = 8;
  uint64_t size = 768;  // of an expert
};

/// How often experts are chosen: all alike, or the n-th of them 1 / n times as often as the first.
enum class Routing { kUniform, kZipf };

/// The choices of rows of draw number `draw`, all with the same weight. Another draw has other
/// choices and, of a Zipf distribution, another order of experts.
void draw_choices(const ExpertsShape& shape, Routing routing, uint32_t draw,
                  const ops::Choices& to);

/// Matrices of several layers in one memory, as a model lays them out: gate and up of an expert
/// panel by panel beside each other. All experts have the same values, each in its own memory.
class ExpertsWeights {
 public:
  static constexpr uint32_t kLayers = 2;  // taken in turns: more than any cache holds

  /// REQUIRES: sizes are multiples of 64, experts a multiple of chosen.
  ExpertsWeights(device::Device& device, device::PanelType type, const ExpertsShape& shape);

  struct Layer {
    std::span<const ops::PackedMatrix> gates, ups, downs;  // by expert
  };
  Layer layer(uint32_t number) const;

  /// A gated block without experts that is as large as those that a row chooses, from the same
  /// memory. REQUIRES: number < dense_count().
  struct Dense {
    ops::PackedMatrix gate, up, down;
  };
  Dense dense(uint32_t number) const;
  uint32_t dense_count() const { return kLayers * (shape_.experts / shape_.chosen); }

  device::PanelType type() const { return type_; }
  const ExpertsShape& shape() const { return shape_; }
  /// Bytes that a product with all matrices of one expert reads, scales included.
  uint64_t expert_bytes() const;
  const device::Buffer& memory() const { return memory_; }

 private:
  void place();
  void fill(device::Device& device);

  const device::PanelType type_;
  const ExpertsShape shape_;
  uint64_t gated_bytes_ = 0, down_bytes_ = 0;           // of an expert
  uint64_t gate_scales_ = 0, down_scales_ = 0;          // floats of an expert's matrix
  device::Buffer memory_;                               // gates with ups, then downs
  std::vector<float> scales_;                           // gates, ups, downs
  std::vector<ops::PackedMatrix> gates_, ups_, downs_;  // of all layers, one after the other
};

}  // namespace tessera::bench
