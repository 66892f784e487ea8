// Heads: what an item will do, read from the model's hidden state behind the item's last token and
// from number attributes of the item (docs/integrate/ranking.md). A head is a linear map or a small
// network, an activation and a calibration; all arithmetic is in double, in an order of its own, so
// an item's numbers are the same bits in any company.
//
// Thread-safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera::lora {

inline constexpr size_t kHeadsMax = 16;
inline constexpr size_t kHeadAttributesMax = 64;
inline constexpr uint32_t kInnerLayersMax = 2;
inline constexpr uint32_t kInnerSizeMax = 1024;
inline constexpr size_t kKnotsMax = 4096;  // of an isotonic calibration
inline constexpr uint64_t kRankingBytesMax = 4u << 20;

/// x = (function(number) - mean) / deviation; `by_default` where that is no number.
struct HeadAttribute {
  enum class Function : uint8_t { kIdentity, kLog, kLog1p };
  std::string name;
  Function function = Function::kIdentity;
  double mean = 0;
  double deviation = 1;
  double by_default = 0;

  /// Value of a number, NaN: the item has none.
  double of(double number) const;
};

/// Form of one head. Values.
struct HeadForm {
  enum class Inner : uint8_t { kRelu, kGelu, kSilu, kTanh };
  enum class Activation : uint8_t { kIdentity, kSigmoid, kExp, kSoftplus };
  enum class Calibration : uint8_t { kNone, kPlatt, kIsotonic };

  std::string name;
  std::vector<uint32_t> inner;  // sizes of the inner layers
  Inner inner_activation = Inner::kRelu;
  Activation activation = Activation::kSigmoid;
  Calibration calibration = Calibration::kNone;
  std::array<double, 2> platt{1, 0};
  std::vector<double> knots_x, knots_y;  // isotonic: x rises, y never falls

  /// Answer from the last layer's number.
  double answer(double number) const;
};

/// ranking.json without its tensors. Values.
struct RankingForm {
  std::vector<HeadAttribute> attributes;
  std::vector<HeadForm> heads;

  /// Errors: ADAPTER_INVALID naming the field.
  static Result<RankingForm> parse(std::string_view text, const std::string& file);
};

class Heads {
 public:
  /// ranking.json and heads.safetensors of a folder. Errors: ADAPTER_NOT_FOUND, ADAPTER_CORRUPT,
  /// ADAPTER_INVALID naming field or tensor; of another hidden size as well.
  static Result<std::shared_ptr<const Heads>> open(const std::string& folder, uint32_t hidden_size);
  /// True if the folder has either of the two files.
  static bool are_in(const std::string& folder);

  const RankingForm& form() const { return form_; }
  size_t count() const { return form_.heads.size(); }
  /// XXH3-128 of both files, 32 hex digits each.
  const std::string& digest() const { return digest_; }
  uint64_t bytes() const;

  /// The number of each head for an item. `hidden`: of its last token, after the final norm;
  /// `numbers`: of its attributes in their order, NaN: none. Not finite where a number overflows.
  void say(std::span<const float> hidden, std::span<const double> numbers,
           std::span<float> answers) const;

 private:
  struct Layer {
    uint64_t inputs = 0;
    std::vector<float> weight;  // [outputs][inputs]
    std::vector<float> bias;    // [outputs]
  };

  RankingForm form_;
  std::vector<std::vector<Layer>> layers_;  // of each head
  std::string digest_;
};

}  // namespace tessera::lora
