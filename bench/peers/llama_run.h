// What programs over llama.cpp's C API have in common.
#pragma once

#include <chrono>
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
