#include "ops/embed.h"

#include <algorithm>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

/// Row `i` of the table as floats.
void read_row(device::Device& device, const tensor::TensorView& table, uint64_t i, float* y) {
  const uint64_t n = table.columns();
  if (table.type == tensor::DType::kBf16) {
    device.kernels().widen_bf16(static_cast<const uint16_t*>(table.row(i)), n, y);
  } else {
    device.copy(y, table.row(i), n * sizeof(float));
  }
}

}  // namespace

void embed(device::Device& device, const tensor::TensorView& table, std::span<const int32_t> tokens,
           float* y) {
  TESSERA_CHECK(table.rank == 2);
  TESSERA_CHECK(table.type == tensor::DType::kF32 || table.type == tensor::DType::kBf16);
  for (const int32_t token : tokens) {
    TESSERA_CHECK(token >= 0 && static_cast<uint64_t>(token) < table.rows());
  }
  const uint64_t n = table.columns();
  for_rows(device, tokens.size(), n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      read_row(device, table, static_cast<uint64_t>(tokens[i]), y + i * n);
    }
  });
}

void embed(device::Device& device, const PackedMatrix& w, std::span<const int32_t> tokens,
           float* y) {
  for (const int32_t token : tokens) {
    TESSERA_CHECK(token >= 0 && static_cast<uint64_t>(token) < w.columns);
  }
  for_rows(device, tokens.size(), w.k, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      unpack_column(w, static_cast<uint64_t>(tokens[i]), y + i * w.k);
    }
  });
}

void add_rows(device::Device& device, const float* table, uint64_t n,
              std::span<const uint32_t> rows, float* y) {
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows.size(), n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) kernels.add(table + rows[i] * n, n, y + i * n);
  });
}

void embed_replaced(device::Device& device, const ReplacedRows& replaced,
                    std::span<const int32_t> tokens, uint64_t n, float* y) {
  if (replaced.ids.empty()) return;
  const bool is_table = replaced.rows.data != nullptr;
  TESSERA_CHECK((is_table ? replaced.rows.columns() : replaced.columns.own.k) == n);
  for_rows(device, tokens.size(), n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      const auto found = std::lower_bound(replaced.ids.begin(), replaced.ids.end(), tokens[i]);
      if (found == replaced.ids.end() || *found != tokens[i]) continue;
      if (is_table) {
        read_row(device, replaced.rows, static_cast<uint64_t>(found - replaced.ids.begin()),
                 y + i * n);
        continue;
      }
      const auto token = static_cast<uint64_t>(tokens[i]);
      const uint64_t own = replaced.columns.find(token / device::kPanelColumns);
      TESSERA_CHECK(own != PanelOverlay::kNone);
      unpack_column(replaced.columns.own,
                    own * device::kPanelColumns + token % device::kPanelColumns, y + i * n);
    }
  });
}

}  // namespace tessera::ops
