// The words of card_bench, checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "card/bench_card.h"

namespace tessera::bench::card {

inline constexpr uint32_t kContextMax =
    8000;  // of the shapes' positions, a path and room beside it
inline constexpr uint32_t kRowsMax = 1u << 16;
inline constexpr uint32_t kWidthMax = 1024;
inline constexpr uint32_t kRequestsMax = 64;
inline constexpr uint32_t kItemsMax = 200'000'000;
inline constexpr uint32_t kRoundsMax = 10'000;
inline constexpr uint32_t kMebibytesMax = 64 << 10;
inline constexpr uint32_t kSideMax = 1u << 15;

/// Requests that are asked for together, and the length of their prompts.
struct Case {
  uint32_t context = 0;
  uint32_t requests = 0;
};

struct Options {
  std::string stage;  // kernels, bits, recall or load
  bool is_emulated = false;
  uint32_t card = 0;
  std::string shape = "qwen3-1.7b";
  std::string cache = ".cache/bench";  // where models and catalogues are kept
  std::vector<Case> cases = {{1000, 1}, {1000, 8}, {5000, 1}, {5000, 4}, {5000, 8}};
  std::vector<uint32_t> contexts = {1000, 5000};
  std::vector<uint32_t> rows = {1, 256, 1024, 4096};
  uint32_t items = 1'000'000;
  uint32_t width = 256;
  uint32_t copy_mebibytes = 2048;  // read, and as many written
  uint32_t peak_side = 8192;       // of a square product
  uint32_t requests = 200;         // of each offered load
  Rounds rounds;
};

std::string usage();
/// Errors: REQUEST_INVALID with the flag, what was expected and what it got.
Result<Options> parse(std::span<const std::string> words);

}  // namespace tessera::bench::card
