// Common parts of the programs over llama.cpp's C API.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "ggml-backend.h"
#include "llama.h"

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "llama.cpp peer: %s\n", what);
  std::exit(1);
}

inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Thread i on core i, as the engine that it is compared with does.
inline void pin_threads(llama_context* context, int threads) {
  const ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  const ggml_backend_reg_t backend = ggml_backend_dev_backend_reg(cpu);
  using Make = ggml_threadpool_t (*)(ggml_threadpool_params*);
  const auto make =
      reinterpret_cast<Make>(ggml_backend_reg_get_proc_address(backend, "ggml_threadpool_new"));
  if (make == nullptr) fail("expected a backend with pools of threads");
  ggml_threadpool_params params = ggml_threadpool_params_default(threads);
  for (int i = 0; i < threads; ++i) params.cpumask[i] = true;
  params.strict_cpu = true;
  llama_attach_threadpool(context, make(&params), nullptr);
}

/// Before anything else of the library: what computes is in files of its own.
inline void load_backends(const char* folder) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  ggml_backend_load_all_from_path(folder);
  llama_backend_init();
}

inline void say_ready() {
  std::printf("{\"ready\": true}\n");
  std::fflush(stdout);
}

struct ContextShape {
  uint32_t context;  // tokens of all sequences
  uint32_t batch;    // tokens of a call
  uint32_t sequences;
};

constexpr uint32_t kMicroBatch = 512;

/// The model with one cache for all sequences, in which a fork copies nothing, and flash attention.
inline llama_context* open_context(const char* model_path, int threads, ContextShape shape) {
  llama_model* model = llama_model_load_from_file(model_path, llama_model_default_params());
  if (model == nullptr) fail("the model could not be loaded");
  llama_context_params params = llama_context_default_params();
  params.n_ctx = shape.context;
  params.n_batch = shape.batch;
  params.n_ubatch = kMicroBatch;
  params.n_seq_max = shape.sequences;
  params.n_threads = params.n_threads_batch = threads;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
  params.kv_unified = true;
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) fail("the context could not be made");
  pin_threads(context, threads);
  return context;
}

/// A row of a batch; its index.
inline int add_row(llama_batch& batch, int token, int position, int sequence, bool wants_logits) {
  const int at = batch.n_tokens++;
  batch.token[at] = token;
  batch.pos[at] = position;
  batch.n_seq_id[at] = 1;
  batch.seq_id[at][0] = sequence;
  batch.logits[at] = wants_logits ? 1 : 0;
  return at;
}
