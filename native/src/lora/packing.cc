#include "lora/packing.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lora/norms.h"
#include "ops/convert.h"

namespace tessera::lora {
namespace {

using device::kPanelColumns;
using device::PanelType;
using tensor::DType;
using tensor::TensorView;

uint64_t aligned(uint64_t bytes) {
  constexpr uint64_t kAlignment = device::Device::kAlignment;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::string hash_of(const model::TensorEntry& entry) {
  return entry.dtype + " " + hash_text(entry.bytes.data(), entry.bytes.size());
}

std::string number_text(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

DType dtype_of(PanelType type) { return type == PanelType::kBf16 ? DType::kBf16 : DType::kF32; }

}  // namespace

std::string hash_text(const void* data, uint64_t size) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Packing::Packing(const model::Decoder& decoder, std::shared_ptr<device::Device> device,
                 const AdapterTensors& tensors, std::shared_ptr<const Heads> heads,
                 const Limits& limits)
    : decoder_(decoder),
      device_(std::move(device)),
      tensors_(tensors),
      heads_(std::move(heads)),
      limits_(limits),
      type_(model::head_panels(decoder.compute_type())) {}

Result<std::vector<float>> Packing::numbers_of(const model::TensorEntry& entry,
                                               double scale) const {
  const TensorView view = view_of(entry);
  std::vector<float> numbers(view.element_count());
  ops::convert(*device_, view, DType::kF32, numbers.data());
  const uint64_t bad = device_->kernels().find_non_finite_f32(numbers.data(), numbers.size());
  if (bad < numbers.size()) {
    return Status(Code::kAdapterCorrupt, entry.name +
                                             ": expected finite numbers, got NaN or infinity at "
                                             "element " +
                                             std::to_string(bad));
  }
  if (scale != 1)
    device_->kernels().scale(numbers.data(), numbers.size(), static_cast<float>(scale));
  return numbers;
}

Status Packing::look_at(const Factors& factors, std::string& content) {
  Result<std::vector<float>> a = numbers_of(factors.a, 1);
  if (!a.is_ok()) return a.status();
  Result<std::vector<float>> b = numbers_of(factors.b, factors.scale);
  if (!b.is_ok()) return b.status();
  const double norm = norm_of(*device_, factors, a.value(), b.value());
  if (!(norm <= limits_.norm_max)) {
    return {Code::kAdapterInvalid, factors.module + ": expected a norm of at most " +
                                       number_text(limits_.norm_max) + ", got " +
                                       number_text(norm)};
  }
  summary_.largest_norm = std::max(summary_.largest_norm, norm);
  summary_.rank_max = std::max(summary_.rank_max, factors.rank);
  summary_.target_count += 1;
  content += factors.module + " " + std::to_string(factors.rank) + " " +
             number_text(factors.scale) + " " + hash_of(factors.a) + " " + hash_of(factors.b) +
             (factors.magnitudes ? " " + hash_of(*factors.magnitudes) : "") + "\n";
  return Status::ok();
}

Status Packing::look_at_magnitudes(const Factors& factors) {
  if (!factors.magnitudes) return Status::ok();
  const std::vector<float> a = numbers_of(factors.a, 1).value();
  const std::vector<float> b = numbers_of(factors.b, factors.scale).value();
  return keep_scales(factors, squared_lengths(decoder_, *device_, factors, a, b),
                     scales_[&factors]);
}

Status Packing::keep_scales(const Factors& factors, const std::vector<double>& squared_lengths,
                            std::vector<float>& to) {
  const Result<std::vector<float>> magnitudes = numbers_of(*factors.magnitudes, 1);
  if (!magnitudes.is_ok()) return magnitudes.status();
  Result<std::vector<float>> scales =
      scales_of(factors.module, magnitudes.value(), squared_lengths);
  if (!scales.is_ok()) return scales.status();
  to = std::move(scales).value();
  do_scales_change_ = do_scales_change_ || do_change(to);
  return Status::ok();
}

Packing::RowFactors& Packing::factors_of(const Rows& rows) {
  return &rows == &tensors_.head ? head_factors_ : embedding_factors_;
}

uint64_t Packing::row_count(const Rows& rows) const {
  return rows.factors ? decoder_.config().vocab_size : rows.entry.shape[0];
}

/// One row in the type that it is kept in, as floats.
void Packing::read_row(const Rows& rows, uint64_t place, float* to) const {
  read_exact_row(rows, place, to);
  const uint64_t n = decoder_.config().hidden_size;
  if (type_ == PanelType::kBf16) device_->kernels().round_bf16(to, n);
}

Status Packing::look_at(const Rows& rows, const char* name, BaseRow base,
                        std::vector<Row>& replaced, std::string& content) {
  if (!rows.is_there) return Status::ok();
  if (rows.factors) {
    TESSERA_RETURN_IF_ERROR(check_base(rows, base));
    TESSERA_RETURN_IF_ERROR(look_at_row_factors(rows, content));
  }
  const uint64_t n = decoder_.config().hidden_size;
  const std::string& tensor = rows.factors ? rows.factors->module : rows.entry.name;
  std::vector<float> own(n), theirs(n);
  for (uint64_t place = 0; place < row_count(rows); ++place) {
    const bool is_read = &rows != &tensors_.head || !rows.factors ||
                         decoder_.head_vocabulary().has(static_cast<uint32_t>(place));
    if (!is_read) continue;
    read_row(rows, place, own.data());
    if (device_->kernels().find_non_finite_f32(own.data(), n) < n) {
      return {Code::kAdapterCorrupt, tensor +
                                         ": expected finite numbers, got NaN or infinity in row " +
                                         std::to_string(place)};
    }
    const uint32_t id = rows.is_whole ? static_cast<uint32_t>(place) : rows.ids[place];
    if (&rows == &tensors_.head && !decoder_.head_vocabulary().has(id)) continue;
    (decoder_.*base)(id, theirs.data());
    if (std::equal(own.begin(), own.end(), theirs.begin())) continue;
    replaced.push_back({id, place});
  }
  std::sort(replaced.begin(), replaced.end(),
            [](const Row& a, const Row& b) { return a.id < b.id; });
  content += std::string(name) + (rows.is_whole ? " all " : " some ") +
             hash_text(rows.ids.data(), rows.ids.size() * sizeof(uint32_t)) + " " +
             (rows.entry.bytes.empty() ? "factors" : hash_of(rows.entry)) + "\n";
  return Status::ok();
}

Status Packing::look_through() {
  std::string content = "tessera.adapter.1\n";
  for (const Factors& factors : tensors_.factors) {
    TESSERA_RETURN_IF_ERROR(look_at(factors, content));
    TESSERA_RETURN_IF_ERROR(look_at_magnitudes(factors));
  }
  const bool do_factors_change = summary_.largest_norm > 0 || do_scales_change_;
  TESSERA_RETURN_IF_ERROR(look_at(tensors_.embedding, "embedding", &model::Decoder::embedding_row,
                                  embedding_, content));
  TESSERA_RETURN_IF_ERROR(
      look_at(tensors_.head, "head", &model::Decoder::head_row, head_, content));
  summary_.replaced_rows = static_cast<uint32_t>(embedding_.size() + head_.size());
  if (tensors_.head_is_embedding) head_ = embedding_;
  for (const Row& row : head_) {
    const auto panel = static_cast<uint32_t>(row.id / kPanelColumns);
    if (head_panels_.empty() || head_panels_.back() != panel) head_panels_.push_back(panel);
  }
  if (tensors_.is_activated) content += "activated\n";
  if (heads_ != nullptr) content += "heads " + heads_->digest() + "\n";
  summary_.digest = hash_text(content.data(), content.size());
  summary_.is_activated = tensors_.is_activated;
  count_bytes();
  if (heads_ == nullptr) return do_factors_change ? Status::ok() : check_rows();
  for (const HeadForm& head : heads_->form().heads) summary_.heads.push_back(head.name);
  return Status::ok();
}

/// A trainer's library that could not load weights warns, and saves factors that are zero or rows
/// that are the base's. Factors of rows count by the rows that they make.
Status Packing::check_rows() const {
  if (!embedding_.empty() || !head_.empty()) return Status::ok();
  return {Code::kAdapterInvalid,
          "adapter: expected one that changes an answer, got one that changes nothing: the factors "
          "of all " +
              std::to_string(tensors_.factors.size()) +
              " matrices are zero, and rows of the embedding and the head are the base model's"};
}

uint64_t Packing::factor_bytes(const Factors& factors) const {
  return ops::packed_bytes(type_, factors.a.shape[1], factors.rank) +
         ops::packed_bytes(type_, factors.rank, factors.b.shape[0]) +
         (factors.magnitudes ? aligned(factors.b.shape[0] * sizeof(float)) : 0);
}

/// Panels are whole cache lines, so that each piece begins aligned.
void Packing::count_bytes() {
  const uint64_t hidden = decoder_.config().hidden_size;
  uint64_t bytes = 0;
  for (const Factors& factors : tensors_.factors) bytes += factor_bytes(factors);
  bytes += head_panels_.size() * device::panel_bytes(type_, hidden);
  if (!tensors_.head_is_embedding) {
    bytes += aligned(embedding_.size() * hidden * tensor::dtype_size(dtype_of(type_)));
  }
  uint64_t matrices = 0;
  for (const model::Layer& layer : decoder_.recipe().layers()) matrices += layer.matrices().size();
  summary_.bytes = bytes + embedding_.size() * sizeof(int32_t) +
                   head_panels_.size() * sizeof(uint32_t) + matrices * sizeof(ops::LowRank) +
                   (heads_ == nullptr ? 0 : heads_->bytes());
}

char* Packing::pack_factors(const Factors& factors, char* at, Adapter& to) const {
  const uint64_t inputs = factors.a.shape[1], outputs = factors.b.shape[0], rank = factors.rank;
  ops::LowRank packed;
  packed.a = {type_, at, inputs, rank, device::panel_bytes(type_, inputs), nullptr};
  at += ops::packed_bytes(type_, inputs, rank);
  packed.b = {type_, at, rank, outputs, device::panel_bytes(type_, rank), nullptr};
  at += ops::packed_bytes(type_, rank, outputs);
  ops::pack(*device_, view_of(factors.a), packed.a);
  const std::vector<float> b = numbers_of(factors.b, factors.scale).value();
  ops::pack(*device_, TensorView{b.data(), DType::kF32, 2, {outputs, rank}}, packed.b);
  if (factors.magnitudes) {
    packed.scales = reinterpret_cast<const float*>(at);
    std::ranges::copy(scales_.at(&factors), reinterpret_cast<float*>(at));
    at += aligned(outputs * sizeof(float));
  }
  to.numbers_.layers[factors.layer][factors.matrix] = packed;
  return at;
}

/// The panel as the model has it, with the rows that are replaced in their places. Of a panel that
/// the model's head has not, which is there for the embedding alone, the other rows are zero.
void Packing::pack_panel(uint32_t panel, const ops::PackedMatrix& to) const {
  const model::ModelConfig& config = decoder_.config();
  const Rows& source = tensors_.head_is_embedding ? tensors_.embedding : tensors_.head;
  std::vector<float> rows(kPanelColumns * config.hidden_size);
  auto next = std::lower_bound(head_.begin(), head_.end(), panel * kPanelColumns,
                               [](const Row& row, uint64_t first) { return row.id < first; });
  for (uint64_t i = 0; i < kPanelColumns; ++i) {
    const auto id = static_cast<uint32_t>(panel * kPanelColumns + i);
    float* row = rows.data() + i * config.hidden_size;
    if (id >= config.vocab_size) break;
    if (next != head_.end() && next->id == id) {
      read_row(source, (next++)->place, row);
    } else if (decoder_.head_vocabulary().has(id)) {
      decoder_.head_row(id, row);
    }
  }
  ops::pack(*device_, TensorView{rows.data(), DType::kF32, 2, {kPanelColumns, config.hidden_size}},
            to);
}

char* Packing::pack_head(char* at, Adapter& to) const {
  if (head_panels_.empty()) return at;
  const uint64_t hidden = decoder_.config().hidden_size;
  const uint64_t bytes = device::panel_bytes(type_, hidden);
  to.head_panels_ = head_panels_;
  to.numbers_.head = {to.head_panels_,
                      {type_, at, hidden, head_panels_.size() * kPanelColumns, bytes, nullptr}};
  for (const uint32_t panel : head_panels_) {
    pack_panel(panel, {type_, at, hidden, kPanelColumns, bytes, nullptr});
    at += bytes;
  }
  return at;
}

void Packing::pack_embedding(char* at, Adapter& to) const {
  if (embedding_.empty()) return;
  for (const Row& row : embedding_) to.embedding_ids_.push_back(static_cast<int32_t>(row.id));
  ops::ReplacedRows& replaced = to.numbers_.embedding;
  replaced.ids = to.embedding_ids_;
  if (tensors_.head_is_embedding) {
    replaced.columns = to.numbers_.head;
    return;
  }
  const DType type = dtype_of(type_);
  const uint64_t n = decoder_.config().hidden_size;
  std::vector<float> numbers(n);
  replaced.rows = {at, type, 2, {embedding_.size(), n}};
  for (const Row& row : embedding_) {
    read_row(tensors_.embedding, row.place, numbers.data());
    ops::convert(*device_, TensorView{numbers.data(), DType::kF32, 2, {1, n}}, type, at);
    at += n * tensor::dtype_size(type);
  }
}

Result<std::unique_ptr<Adapter>> Packing::pack() {
  auto adapter = std::make_unique<Adapter>();
  adapter->device_ = device_;
  adapter->summary_ = summary_;
  adapter->heads_ = heads_;
  Result<device::Buffer> memory = device_->allocate(summary_.bytes);
  if (!memory.is_ok()) return memory.status();
  adapter->memory_ = std::move(memory).value();
  for (const model::Layer& layer : decoder_.recipe().layers()) {
    adapter->numbers_.layers.emplace_back(layer.matrices().size());
  }
  char* at = adapter->memory_.as<char>();
  for (const Factors& factors : tensors_.factors) at = pack_factors(factors, at, *adapter);
  at = pack_head(at, *adapter);
  pack_embedding(at, *adapter);
  return adapter;
}

}  // namespace tessera::lora
