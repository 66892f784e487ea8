// llama.cpp's experts as a peer: a layer of a model's real shape as its graphs build it (gate, up
// and down through ggml_mul_mat_id, choices given), BF16 and Q8_0. Weights of two layers take
// turns, so that they come from memory.
// stdout: {"ready": true}, then for each line {"rows": N} of the standard input
//         {"results": [{"name": "TYPE/WAY/ROUTING/ROWS", "value", "unit": "us"}]}
// usage: experts_llama_peer FOLDER_OF_BACKENDS THREADS SECONDS HIDDEN EXPERTS CHOSEN SIZE ROWS_MAX
//        (the last is for peers that allocate before they are asked)
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace {

constexpr int kLayers = 2;

struct Shape {
  int64_t hidden, experts, chosen, size;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "experts_llama_peer: %s\n", what);
  std::exit(1);
}

/// The backend of the processor, thread i on core i, as the engine that it is compared with does.
ggml_backend_t open_backend(int threads) {
  const ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (device == nullptr) fail("expected a backend of the processor");
  const ggml_backend_reg_t functions = ggml_backend_dev_backend_reg(device);
  const auto find = [&](const char* name) {
    void* function = ggml_backend_reg_get_proc_address(functions, name);
    if (function == nullptr) fail(name);
    return function;
  };
  const ggml_backend_t backend = ggml_backend_dev_init(device, nullptr);
  using Make = ggml_threadpool_t (*)(ggml_threadpool_params*);
  using Give = void (*)(ggml_backend_t, ggml_threadpool_t);
  ggml_threadpool_params params = ggml_threadpool_params_default(threads);
  for (int i = 0; i < threads; ++i) params.cpumask[i] = true;
  params.strict_cpu = true;
  const auto make = reinterpret_cast<Make>(find("ggml_threadpool_new"));
  reinterpret_cast<Give>(find("ggml_backend_cpu_set_threadpool"))(backend, make(&params));
  reinterpret_cast<ggml_backend_set_n_threads_t>(find("ggml_backend_set_n_threads"))(backend,
                                                                                     threads);
  return backend;
}

/// Layers of one type. All experts have the same values, each in its own memory.
class Layers {
 public:
  struct Layer {
    ggml_tensor *gate, *up, *down;
  };

  Layers(ggml_backend_t backend, ggml_type type, const Shape& s) {
    context_ = ggml_init({16 * kLayers * ggml_tensor_overhead(), nullptr, true});
    for (Layer& layer : layers_) {
      layer.gate = ggml_new_tensor_3d(context_, type, s.hidden, s.size, s.experts);
      layer.up = ggml_new_tensor_3d(context_, type, s.hidden, s.size, s.experts);
      layer.down = ggml_new_tensor_3d(context_, type, s.size, s.hidden, s.experts);
    }
    buffer_ = ggml_backend_alloc_ctx_tensors(context_, backend);
    if (buffer_ == nullptr) fail("the weights have no room");
    for (const Layer& layer : layers_) {
      for (ggml_tensor* tensor : {layer.gate, layer.up, layer.down}) fill(tensor);
    }
  }
  ~Layers() {
    ggml_backend_buffer_free(buffer_);
    ggml_free(context_);
  }

  const Layer& operator[](size_t number) const { return layers_[number % kLayers]; }

 private:
  static void fill(ggml_tensor* tensor) {
    const int64_t count = tensor->ne[0] * tensor->ne[1];
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 0.02f);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = normal(random);
    std::vector<char> bytes(tensor->nb[2]);
    ggml_quantize_chunk(tensor->type, values.data(), bytes.data(), 0, tensor->ne[1], tensor->ne[0],
                        nullptr);
    for (int64_t expert = 0; expert < tensor->ne[2]; ++expert)
      ggml_backend_tensor_set(tensor, bytes.data(), expert * tensor->nb[2], bytes.size());
  }

  ggml_context* context_ = nullptr;
  ggml_backend_buffer_t buffer_ = nullptr;
  Layer layers_[kLayers] = {};
};

/// The graph of one layer and number of rows.
class Graph {
 public:
  Graph(ggml_backend_t backend, const Layers::Layer& layer, const Shape& s, int64_t rows)
      : backend_(backend), shape_(s), rows_(rows) {
    context_ = ggml_init({256 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true});
    x_ = input(ggml_new_tensor_3d(context_, GGML_TYPE_F32, s.hidden, 1, rows));
    choices_ = input(ggml_new_tensor_2d(context_, GGML_TYPE_I32, s.chosen, rows));
    weights_ = input(ggml_new_tensor_3d(context_, GGML_TYPE_F32, 1, s.chosen, rows));
    ggml_tensor* const up = ggml_mul_mat_id(context_, layer.up, x_, choices_);
    ggml_tensor* const gate = ggml_mul_mat_id(context_, layer.gate, x_, choices_);
    ggml_tensor* const gated = ggml_swiglu_split(context_, gate, up);
    ggml_tensor* outputs = ggml_mul_mat_id(context_, layer.down, gated, choices_);
    outputs = ggml_mul(context_, outputs, weights_);
    ggml_tensor* sum = nullptr;
    for (int64_t i = 0; i < s.chosen; ++i) {
      ggml_tensor* const one = ggml_view_2d(context_, outputs, s.hidden, rows, outputs->nb[2],
                                            static_cast<size_t>(i) * outputs->nb[1]);
      sum = sum == nullptr ? one : ggml_add(context_, sum, one);
    }
    ggml_set_output(sum);
    graph_ = ggml_new_graph(context_);
    ggml_build_forward_expand(graph_, sum);
    allocator_ = ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));
    if (!ggml_gallocr_alloc_graph(allocator_, graph_)) fail("the graph has no room");
    fill_rows();
  }
  ~Graph() {
    ggml_gallocr_free(allocator_);
    ggml_free(context_);
  }

  /// Without putting back: all alike, or the n-th of a random order 1 / n times as often.
  void choose(bool is_zipf, uint32_t draw) {
    std::mt19937 random(draw);
    std::vector<int32_t> ranks(static_cast<size_t>(shape_.experts)), order(ranks.size()), chosen;
    std::iota(ranks.begin(), ranks.end(), 1);
    std::shuffle(ranks.begin(), ranks.end(), random);
    std::exponential_distribution<double> wait(1);
    std::vector<double> waits(ranks.size());
    for (int64_t row = 0; row < rows_; ++row) {
      for (size_t e = 0; e < ranks.size(); ++e) waits[e] = wait(random) * (is_zipf ? ranks[e] : 1);
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + shape_.chosen, order.end(),
                        [&](int32_t a, int32_t b) { return waits[a] < waits[b]; });
      chosen.insert(chosen.end(), order.begin(), order.begin() + shape_.chosen);
    }
    ggml_backend_tensor_set(choices_, chosen.data(), 0, chosen.size() * sizeof(int32_t));
  }

  double run() {
    const double start = seconds_now();
    if (ggml_backend_graph_compute(backend_, graph_) != GGML_STATUS_SUCCESS)
      fail("the graph failed");
    return seconds_now() - start;
  }

 private:
  static ggml_tensor* input(ggml_tensor* tensor) {
    ggml_set_input(tensor);
    return tensor;
  }
  void fill_rows() {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> x(static_cast<size_t>(shape_.hidden * rows_));
    for (float& value : x) value = uniform(random);
    const std::vector<float> weights(static_cast<size_t>(shape_.chosen * rows_),
                                     1.0f / static_cast<float>(shape_.chosen));
    ggml_backend_tensor_set(x_, x.data(), 0, x.size() * sizeof(float));
    ggml_backend_tensor_set(weights_, weights.data(), 0, weights.size() * sizeof(float));
  }

  const ggml_backend_t backend_;
  const Shape shape_;
  const int64_t rows_;
  ggml_context* context_ = nullptr;
  ggml_cgraph* graph_ = nullptr;
  ggml_gallocr_t allocator_ = nullptr;
  ggml_tensor *x_ = nullptr, *choices_ = nullptr, *weights_ = nullptr;
};

/// The results of one type and number of rows, with commas between them.
std::string measure(ggml_backend_t backend, const Layers& layers, const std::string& name,
                    const Shape& shape, int64_t rows, double seconds) {
  std::string results;
  Graph first(backend, layers[0], shape, rows), second(backend, layers[1], shape, rows);
  uint32_t draw = 0;
  for (const bool is_zipf : {false, true}) {
    std::vector<double> times;
    double end = 0;
    for (int round = -1; times.empty() || seconds_now() < end; ++round) {
      Graph& graph = ++draw % 2 == 0 ? first : second;
      graph.choose(is_zipf, draw);
      const double taken = graph.run();
      if (round < 0) end = seconds_now() + seconds;  // the first is not counted
      if (round >= 0) times.push_back(taken);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    const std::string routing = is_zipf ? "Zipf" : "uniform";
    const std::string full_name = name + "/" + routing + "/" + std::to_string(rows);
    const std::string value = std::to_string(1e6 * times[times.size() / 2]);
    if (!results.empty()) results += ", ";
    results += "{\"name\": \"" + full_name + "\", \"value\": " + value + ", \"unit\": \"us\"}";
  }
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9)
    fail("usage: FOLDER_OF_BACKENDS THREADS SECONDS HIDDEN EXPERTS CHOSEN SIZE ROWS_MAX");
  ggml_backend_load_all_from_path(argv[1]);
  const ggml_backend_t backend = open_backend(std::atoi(argv[2]));
  const double seconds = std::atof(argv[3]);
  const Shape shape{std::atoll(argv[4]), std::atoll(argv[5]), std::atoll(argv[6]),
                    std::atoll(argv[7])};
  const Layers bf16(backend, GGML_TYPE_BF16, shape), q8_0(backend, GGML_TYPE_Q8_0, shape);
  std::printf("{\"ready\": true}\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const size_t digits = line.find_first_of("0123456789");
    if (digits == std::string::npos) fail("expected a line {\"rows\": N}");
    const int64_t rows = std::atoll(line.c_str() + digits);
    const std::string of_bf16 = measure(backend, bf16, "BF16/llama.cpp bf16", shape, rows, seconds);
    const std::string of_q8_0 = measure(backend, q8_0, "INT8/llama.cpp q8_0", shape, rows, seconds);
    std::printf("{\"results\": [%s, %s]}\n", of_bf16.c_str(), of_q8_0.c_str());
    std::fflush(stdout);
  }
}
