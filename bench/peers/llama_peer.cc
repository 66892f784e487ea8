// llama.cpp as a peer: constrained beam search over its C API, in the settings that suit it best
// (one unified cache in which a fork copies nothing, flash attention, all beams in one decode).
// stdin: a request a line, {"width": W, "tokens": [...]}; stdout: an answer a line, see README.md.
// usage: llama_peer MODEL.gguf SIDS.u16 LEVELS CODES THREADS FOLDER_OF_BACKENDS
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "llama.h"
#include "llama_run.h"

namespace {

constexpr uint32_t kContext = 8192;
constexpr uint32_t kBatch = 4096;
constexpr int kWidthMax = 64;
/// The prompt, the beams of a step, and those of the step before while they are forked.
constexpr uint32_t kSequences = 1 + 2 * kWidthMax;

struct Beam {
  uint64_t prefix = 0;  // codes so far, 16 bits each, the first one highest
  double score = 0;
  int parent = 0;
  int token = 0;
};

/// The paths of the catalogue in order; the children of a node are found by bisection.
class Paths {
 public:
  Paths(const char* path, int levels, int codes) : levels_(levels), codes_(codes) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const auto* words = reinterpret_cast<const uint16_t*>(bytes.data());
    for (size_t at = 0; at + levels <= bytes.size() / 2; at += levels) {
      uint64_t key = 0;
      for (int level = 0; level < levels; ++level) key = key << 16 | words[at + level];
      keys_.push_back(key);
    }
    if (keys_.empty()) fail("expected SIDs, got nothing");
    std::sort(keys_.begin(), keys_.end());
  }

  int levels() const { return levels_; }
  int codes() const { return codes_; }

  /// Calls fn(code) for every child of the node that `prefix` of `level` codes leads to.
  void children(uint64_t prefix, int level, const auto& fn) const {
    const int below = 16 * (levels_ - level - 1);
    const auto first = [&](uint64_t node) {
      return std::lower_bound(keys_.begin(), keys_.end(), node << below);
    };
    for (auto at = first(prefix << 16); at != keys_.end();) {
      const uint64_t node = *at >> below;
      if (node >> 16 != prefix) return;
      fn(static_cast<int>(node & 0xffff));
      at = first(node + 1);
    }
  }

 private:
  int levels_;
  int codes_;
  std::vector<uint64_t> keys_;
};

double log_sum_exp(const float* logits, int count) {
  const float most = *std::max_element(logits, logits + count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += std::exp(logits[i] - most);
  return most + std::log(sum);
}

class Peer {
 public:
  Peer(const char* model_path, int threads, const Paths& paths) : paths_(paths) {
    context_ = open_context(model_path, threads, {kContext, kBatch, kSequences});
    vocabulary_ = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context_)));
    batch_ = llama_batch_init(kBatch, 0, 1);
  }

  void answer(const std::vector<int>& tokens, int width) {
    const auto start = std::chrono::steady_clock::now();
    llama_memory_clear(llama_get_memory(context_), false);
    add_prompt(tokens);
    decode();
    const float* logits = llama_get_logits_ith(context_, -1);
    const double prefill_ms = milliseconds_since(start);
    const std::vector<float> first(logits, logits + paths_.codes());
    std::vector<Beam> beams{{}};
    select(beams, 0, width);
    double decode_ms = 0;
    for (int level = 1; level < paths_.levels(); ++level) {
      const auto step_start = std::chrono::steady_clock::now();
      fork(beams, level, static_cast<int>(tokens.size()));
      decode();
      decode_ms += milliseconds_since(step_start);
      select(beams, level, width);
    }
    const double total_ms = milliseconds_since(start);
    print(prefill_ms, decode_ms, total_ms, first, beams);
  }

 private:
  void add_prompt(const std::vector<int>& tokens) {
    batch_.n_tokens = 0;
    for (size_t at = 0; at < tokens.size(); ++at) {
      add_row(batch_, tokens[at], static_cast<int>(at), 0, at + 1 == tokens.size());
    }
  }

  /// Beams of even and of odd levels use different sequences, so that parents stay while they are
  /// copied from.
  static int sequence(int level, int beam) {
    return level == 0 ? 0 : 1 + (level % 2) * kWidthMax + beam;
  }

  void fork(const std::vector<Beam>& beams, int level, int prompt_length) {
    llama_memory_t memory = llama_get_memory(context_);
    batch_.n_tokens = 0;
    for (int beam = 0; beam < static_cast<int>(beams.size()); ++beam) {
      const int to = sequence(level, beam);
      llama_memory_seq_rm(memory, to, -1, -1);
      llama_memory_seq_cp(memory, sequence(level - 1, beams[beam].parent), to, -1, -1);
      add_row(batch_, beams[beam].token, prompt_length + level - 1, to, true);
    }
  }

  void decode() {
    if (llama_decode(context_, batch_) != 0) fail("llama_decode failed");
  }

  void select(std::vector<Beam>& beams, int level, int width) const {
    std::vector<Beam> next;
    for (int beam = 0; beam < static_cast<int>(beams.size()); ++beam) {
      const float* logits = llama_get_logits_ith(context_, level == 0 ? -1 : beam);
      const double base = beams[beam].score - log_sum_exp(logits, vocabulary_);
      paths_.children(beams[beam].prefix, level, [&](int code) {
        const int token = level * paths_.codes() + code;
        next.push_back({beams[beam].prefix << 16 | static_cast<uint64_t>(code),
                        base + logits[token], beam, token});
      });
    }
    const auto better = [](const Beam& a, const Beam& b) {
      return a.score != b.score ? a.score > b.score : a.prefix < b.prefix;
    };
    const size_t kept = std::min<size_t>(next.size(), width);
    std::partial_sort(next.begin(), next.begin() + kept, next.end(), better);
    next.resize(kept);
    beams = std::move(next);
  }

  void print(double prefill_ms, double decode_ms, double total_ms, const std::vector<float>& first,
             const std::vector<Beam>& beams) const {
    std::printf("{\"prefillMs\": %.4f, \"decodeMs\": %.4f, \"totalMs\": %.4f, \"firstLogits\": [",
                prefill_ms, decode_ms, total_ms);
    for (size_t at = 0; at < first.size(); ++at) std::printf("%s%.7g", at ? "," : "", first[at]);
    std::printf("], \"paths\": [");
    for (size_t at = 0; at < beams.size(); ++at) {
      std::printf("%s{\"score\": %.7g, \"sid\": [", at ? "," : "", beams[at].score);
      for (int level = 0; level < paths_.levels(); ++level) {
        const int shift = 16 * (paths_.levels() - level - 1);
        std::printf("%s%d", level ? "," : "", static_cast<int>(beams[at].prefix >> shift & 0xffff));
      }
      std::printf("]}");
    }
    std::printf("]}\n");
    std::fflush(stdout);
  }

  const Paths& paths_;
  llama_context* context_ = nullptr;
  llama_batch batch_{};
  int vocabulary_ = 0;
};

/// All numbers of a line in the order in which they stand.
std::vector<int> numbers(const std::string& line) {
  std::vector<int> found;
  for (const char* at = line.c_str(); *at != '\0';) {
    char* end = nullptr;
    const bool is_digit = *at >= '0' && *at <= '9';
    if (is_digit) found.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    at = is_digit ? end : at + 1;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) fail("usage: MODEL.gguf SIDS.u16 LEVELS CODES THREADS FOLDER_OF_BACKENDS");
  load_backends(argv[6]);
  const Paths paths(argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
  Peer peer(argv[1], std::atoi(argv[5]), paths);
  say_ready();
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<int> found = numbers(line);
    if (found.size() < 2 || found[0] < 1 || found[0] > kWidthMax) fail("expected width and tokens");
    const int width = found[0];
    found.erase(found.begin());
    peer.answer(found, width);
  }
}
