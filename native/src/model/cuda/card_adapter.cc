#include "model/cuda/card_adapter.h"

#include <string>
#include <utility>

#include "tensor/dtype.h"

namespace tessera::model::cuda {
namespace {

using ops::cuda::kRankMax;
using ops::cuda::LowRank;
using ops::cuda::ReplacedRows;

constexpr uint32_t kRankUnit = 8;  // of ranks on the card: 16 bytes of a row

struct Sizes {
  uint64_t inputs = 0;
  uint64_t outputs = 0;
};

Sizes sizes_of(Matrix matrix, const ModelConfig& config) {
  const uint64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const uint64_t q = uint64_t{config.head_count} * config.head_dim;
  const uint64_t kv = uint64_t{config.kv_head_count} * config.head_dim;
  switch (matrix) {
    case Matrix::kQ: return {hidden, q};
    case Matrix::kK:
    case Matrix::kV: return {hidden, kv};
    case Matrix::kO: return {q, hidden};
    case Matrix::kGate:
    case Matrix::kUp: return {hidden, inner};
    case Matrix::kDown: return {inner, hidden};
  }
  return {};
}

Status invalid(const std::string& place, const std::string& expected, uint64_t got) {
  return {Code::kAdapterInvalid, place + ": expected " + expected + ", got " + std::to_string(got)};
}

Status check(const AdapterFactors& factors, const ModelConfig& config) {
  const std::string place = "layers[" + std::to_string(factors.layer) + "].matrices[" +
                            std::to_string(static_cast<uint32_t>(factors.matrix)) + "]";
  if (factors.layer >= config.layer_count) {
    return invalid(place, "a layer below " + std::to_string(config.layer_count), factors.layer);
  }
  if (factors.rank < 1 || factors.rank > kRankMax) {
    return invalid(place + ".rank", "1.." + std::to_string(kRankMax), factors.rank);
  }
  const Sizes sizes = sizes_of(factors.matrix, config);
  if (factors.a.size() != factors.rank * sizes.inputs) {
    return invalid(place + ".a", std::to_string(factors.rank * sizes.inputs) + " numbers",
                   factors.a.size());
  }
  if (factors.b.size() != factors.rank * sizes.outputs) {
    return invalid(place + ".b", std::to_string(factors.rank * sizes.outputs) + " numbers",
                   factors.b.size());
  }
  return Status::ok();
}

Status check(const AdapterTableRows& table, const char* name, const ModelConfig& config) {
  int64_t before = -1;
  for (const int32_t id : table.ids) {
    if (id <= before || id >= static_cast<int64_t>(config.vocab_size)) {
      return {Code::kAdapterInvalid, std::string(name) + ".ids: expected ascending tokens below " +
                                         std::to_string(config.vocab_size) + ", got " +
                                         std::to_string(id) + " behind " + std::to_string(before)};
    }
    before = id;
  }
  const uint64_t expected = table.ids.size() * config.hidden_size;
  if (table.rows.size() == expected) return Status::ok();
  return invalid(std::string(name) + ".rows", std::to_string(expected) + " numbers",
                 table.rows.size());
}

uint32_t card_rank(uint32_t rank) { return (rank + kRankUnit - 1) / kRankUnit * kRankUnit; }

/// In BF16, `rows` by `columns`, filled up with zeros to `card_columns` and `card_rows`.
std::vector<uint16_t> rounded(const std::vector<float>& numbers, uint64_t rows, uint64_t columns,
                              uint64_t card_rows, uint64_t card_columns) {
  std::vector<uint16_t> result(card_rows * card_columns);
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t column = 0; column < columns; ++column) {
      result[row * card_columns + column] = tensor::bf16_of_f32(numbers[row * columns + column]);
    }
  }
  return result;
}

template <typename T>
Status copy_in(device::cuda::Queue& queue, void* to, const std::vector<T>& values) {
  return values.empty() ? Status::ok()
                        : queue.copy_in(to, values.data(), values.size() * sizeof(T));
}

/// Where an adapter's arrays lie on the card.
struct Layout {
  std::vector<uint16_t*> a, b;  // as the factors
  LowRank* matrices = nullptr;
  int32_t *embedding_ids = nullptr, *head_ids = nullptr;
  uint16_t *embedding_rows = nullptr, *head_rows = nullptr;

  uint64_t lay(char* base, const AdapterNumbers& numbers, const ModelConfig& config) {
    device::cuda::Arrays arrays(base);
    a.resize(numbers.factors.size());
    b.resize(numbers.factors.size());
    arrays.take(matrices, uint64_t{config.layer_count} * kMatrices);
    for (size_t i = 0; i < numbers.factors.size(); ++i) {
      const AdapterFactors& factors = numbers.factors[i];
      const Sizes sizes = sizes_of(factors.matrix, config);
      arrays.take(a[i], card_rank(factors.rank) * sizes.inputs);
      arrays.take(b[i], card_rank(factors.rank) * sizes.outputs);
    }
    arrays.take(embedding_ids, numbers.embedding.ids.size());
    arrays.take(embedding_rows, numbers.embedding.rows.size());
    arrays.take(head_ids, numbers.head.ids.size());
    arrays.take(head_rows, numbers.head.rows.size());
    return arrays.bytes();
  }
};

Status fill(const Layout& layout, const AdapterNumbers& numbers, const ModelConfig& config,
            device::cuda::Queue& queue) {
  std::vector<LowRank> matrices(uint64_t{config.layer_count} * kMatrices);
  for (size_t i = 0; i < numbers.factors.size(); ++i) {
    const AdapterFactors& factors = numbers.factors[i];
    const Sizes sizes = sizes_of(factors.matrix, config);
    const uint32_t rank = card_rank(factors.rank);
    matrices[factors.layer * kMatrices + static_cast<uint32_t>(factors.matrix)] = {
        layout.a[i], layout.b[i], rank};
    TESSERA_RETURN_IF_ERROR(copy_in(
        queue, layout.a[i], rounded(factors.a, factors.rank, sizes.inputs, rank, sizes.inputs)));
    TESSERA_RETURN_IF_ERROR(copy_in(
        queue, layout.b[i], rounded(factors.b, sizes.outputs, factors.rank, sizes.outputs, rank)));
  }
  TESSERA_RETURN_IF_ERROR(copy_in(queue, layout.matrices, matrices));
  const auto copy_table = [&](const AdapterTableRows& table, int32_t* ids, uint16_t* rows) {
    TESSERA_RETURN_IF_ERROR(copy_in(queue, ids, table.ids));
    const uint64_t size = config.hidden_size, count = table.ids.size();
    return copy_in(queue, rows, rounded(table.rows, count, size, count, size));
  };
  TESSERA_RETURN_IF_ERROR(
      copy_table(numbers.embedding, layout.embedding_ids, layout.embedding_rows));
  return copy_table(numbers.head, layout.head_ids, layout.head_rows);
}

}  // namespace

Result<std::shared_ptr<const CardAdapter>> CardAdapter::copy(const AdapterNumbers& numbers,
                                                             const ModelConfig& config,
                                                             device::cuda::Queue& queue) {
  for (const AdapterFactors& factors : numbers.factors) {
    TESSERA_RETURN_IF_ERROR(check(factors, config));
  }
  TESSERA_RETURN_IF_ERROR(check(numbers.embedding, "embedding", config));
  TESSERA_RETURN_IF_ERROR(check(numbers.head, "head", config));
  Layout layout;
  auto adapter = std::shared_ptr<CardAdapter>(new CardAdapter());
  adapter->bytes_ = layout.lay(nullptr, numbers, config);
  Result<device::cuda::Memory> memory = device::cuda::Memory::allocate(queue, adapter->bytes_);
  if (!memory.is_ok()) return memory.status();
  adapter->memory_ = std::move(memory).value();
  layout.lay(adapter->memory_.as<char>(), numbers, config);
  TESSERA_RETURN_IF_ERROR(fill(layout, numbers, config, queue));
  adapter->matrices_ = layout.matrices;
  adapter->embedding_ = {layout.embedding_ids, static_cast<uint32_t>(numbers.embedding.ids.size()),
                         layout.embedding_rows};
  adapter->head_ = {layout.head_ids, static_cast<uint32_t>(numbers.head.ids.size()),
                    layout.head_rows};
  return std::shared_ptr<const CardAdapter>(std::move(adapter));
}

}  // namespace tessera::model::cuda
