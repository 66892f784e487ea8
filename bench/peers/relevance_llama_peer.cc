// llama.cpp as a peer of relevance: logits of label tokens behind prompts that begin alike, over
// its C API (its own rerank computes every prompt whole). What all prompts have in common is
// computed once; then what is left of each, `together` in one batch over a unified cache, in which
// a fork copies nothing, or `each` behind the other, which attends to no cells of others. stdin:
// {"prompts": [[token]], "labels": [token]} a line; stdout: {"totalMs", "logits": [[number]]}.
// usage: relevance_llama_peer MODEL.gguf THREADS together|each FOLDER_OF_BACKENDS
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ggml-backend.h"
#include "llama.h"
#include "llama_run.h"

namespace {

constexpr uint32_t kContext = 8192;
/// What is in common, and a fork of it for each prompt.
constexpr uint32_t kSequences = 256;

using Tokens = std::vector<int>;

/// First tokens of all; a last token is in common with nobody.
size_t common_tokens(const std::vector<Tokens>& prompts) {
  size_t common = prompts[0].size() - 1;
  for (const Tokens& prompt : prompts) {
    common = std::min(common, prompt.size() - 1);
    const auto at = std::mismatch(prompt.begin(), prompt.begin() + common, prompts[0].begin());
    common = at.first - prompt.begin();
  }
  return common;
}

class Peer {
 public:
  Peer(const char* model_path, int threads, bool together) : together_(together) {
    const uint32_t sequences = together ? kSequences : 1;
    context_ = open_context(model_path, threads, {kContext, kContext, sequences});
    batch_ = llama_batch_init(kContext, 0, 1);
  }

  void answer(const std::vector<Tokens>& prompts, const Tokens& labels) {
    if (together_ && prompts.size() >= kSequences) fail("expected fewer prompts");
    const auto start = std::chrono::steady_clock::now();
    const llama_memory_t memory = llama_get_memory(context_);
    llama_memory_clear(memory, false);
    logits_.clear();
    const size_t common = common_tokens(prompts);
    batch_.n_tokens = 0;
    for (size_t at = 0; at < common; ++at) add_row(batch_, prompts[0][at], at, 0, false);
    if (common > 0) decode();
    batch_.n_tokens = 0;
    std::vector<int> last;
    for (size_t i = 0; i < prompts.size(); ++i) {
      const int sequence = together_ ? 1 + static_cast<int>(i) : 0;
      if (together_) llama_memory_seq_cp(memory, 0, sequence, -1, -1);
      last.push_back(add_tail(prompts[i], common, sequence));
      if (together_) continue;
      decode();
      read(last, labels);
      llama_memory_seq_rm(memory, 0, static_cast<int>(common), -1);
      batch_.n_tokens = 0;
      last.clear();
    }
    if (together_) {
      decode();
      read(last, labels);
    }
    print(milliseconds_since(start), labels.size());
  }

 private:
  /// The row of its last token.
  int add_tail(const Tokens& prompt, size_t common, int sequence) {
    if (batch_.n_tokens + prompt.size() - common > kContext) fail("expected fewer tokens");
    int row = 0;
    for (size_t at = common; at < prompt.size(); ++at) {
      row = add_row(batch_, prompt[at], at, sequence, at + 1 == prompt.size());
    }
    return row;
  }

  void decode() {
    if (llama_decode(context_, batch_) != 0) fail("llama_decode failed");
  }

  void read(const std::vector<int>& rows, const Tokens& labels) {
    for (const int row : rows) {
      const float* logits = llama_get_logits_ith(context_, row);
      for (const int label : labels) logits_.push_back(logits[label]);
    }
  }

  void print(double total_ms, size_t labels) const {
    std::printf("{\"totalMs\": %.4f, \"logits\": [", total_ms);
    for (size_t at = 0; at < logits_.size(); ++at) {
      const bool is_first = at % labels == 0;
      std::printf("%s%s%.7g",
                  at == 0    ? ""
                  : is_first ? "],"
                             : ",",
                  is_first ? "[" : "", logits_[at]);
    }
    std::printf("]]}\n");
    std::fflush(stdout);
  }

  const bool together_;
  llama_context* context_ = nullptr;
  llama_batch batch_{};
  std::vector<float> logits_;
};

/// The innermost arrays of a line in the order in which they stand.
std::vector<Tokens> arrays(const std::string& line) {
  std::vector<Tokens> found;
  for (const char* at = line.c_str(); *at != '\0';) {
    const bool is_digit = *at >= '0' && *at <= '9';
    if (*at == '[') found.emplace_back();
    char* end = nullptr;
    if (is_digit && !found.empty()) {
      found.back().push_back(static_cast<int>(std::strtol(at, &end, 10)));
    }
    at = end == nullptr ? at + 1 : end;
  }
  std::erase_if(found, [](const Tokens& tokens) { return tokens.empty(); });
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("usage: MODEL.gguf THREADS together|each FOLDER_OF_BACKENDS");
  load_backends(argv[4]);
  Peer peer(argv[1], std::atoi(argv[2]), std::string_view(argv[3]) == "together");
  say_ready();
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<Tokens> found = arrays(line);
    if (found.size() < 2) fail("expected prompts and labels");
    const Tokens labels = std::move(found.back());
    found.pop_back();
    peer.answer(found, labels);
  }
}
