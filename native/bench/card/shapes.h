// The models and catalogues of card_bench, drawn at random and kept in a folder, so that a peer on
// the same card reads the same files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/snapshot.h"

namespace tessera::bench::card {

inline constexpr uint32_t kLevels = 3;  // tokens of a semantic ID, as in the published figures

/// A decoder of the Qwen3 family, tied embeddings. Code c of level l is token l * codes + c.
struct Shape {
  std::string name;
  uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, inner = 0;
  uint32_t vocab = 0;
  uint32_t codes = 0;  // of a level
  uint32_t positions = 0;

  uint32_t q_size() const { return heads * head_dim; }
  uint32_t kv_size() const { return kv_heads * head_dim; }
};

/// Names of all shapes, for messages.
std::string shape_names();
/// Errors: REQUEST_INVALID.
Result<Shape> shape_of(const std::string& name);

/// Folder of a Hugging Face checkpoint of BF16, made where it is absent. Errors: IO_FAILED.
Result<std::string> model_folder(const Shape& shape, const std::string& cache);

/// A snapshot of `items` random SIDs of kLevels codes each, made where it is absent, and beside it
/// all SIDs as uint16 little endian, `sids.u16`. Errors: those of the builder, IO_FAILED.
Result<std::shared_ptr<const catalogue::Snapshot>> random_catalogue(uint32_t items, uint32_t codes,
                                                                    const std::string& cache);

/// Token of each code of each level.
std::vector<std::vector<int32_t>> level_tokens(const Shape& shape);
/// Random tokens of codes.
std::vector<int32_t> random_prompt(const Shape& shape, uint32_t length, uint64_t seed);

}  // namespace tessera::bench::card
