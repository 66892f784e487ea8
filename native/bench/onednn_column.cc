#include "onednn_column.h"

#include <algorithm>
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <vector>

namespace tessera::bench {
namespace {

using dnnl::memory;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Random values in a layout of the library's choice.
memory filled(const memory::desc& wanted, const dnnl::engine& engine, dnnl::stream& stream) {
  const memory::dims dims = wanted.dims();
  const memory::desc plain(dims, memory::data_type::f32, memory::format_tag::ab);
  memory from(plain, engine), to(wanted, engine);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  float* values = static_cast<float*>(from.get_data_handle());
  for (int64_t i = 0; i < dims[0] * dims[1]; ++i) values[i] = uniform(random);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return to;
}

}  // namespace

double onednn_flops(bool is_bf16, uint64_t rows, uint64_t n, uint64_t k, double budget) {
  using tag = memory::format_tag;
  const auto m = static_cast<int64_t>(rows), columns = static_cast<int64_t>(n);
  const auto depth = static_cast<int64_t>(k);
  const auto type = is_bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::desc x({m, depth}, type, tag::ab), w({depth, columns}, type, tag::any);
  const memory::desc y({m, columns}, memory::data_type::f32, tag::ab);
  try {
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine, x, w, y);
#else
    const dnnl::matmul::primitive_desc description({x, w, y}, engine);
#endif
    const dnnl::matmul product(description);
    memory x_memory = filled(x, engine, stream);
    memory w_memory = filled(description.weights_desc(), engine, stream), y_memory(y, engine);
    double best = 1e30;
    for (const double end = now() + budget; now() < end;) {
      const double start = now();
      product.execute(
          stream,
          {{DNNL_ARG_SRC, x_memory}, {DNNL_ARG_WEIGHTS, w_memory}, {DNNL_ARG_DST, y_memory}});
      stream.wait();
      best = std::min(best, now() - start);
    }
    return 2.0 * static_cast<double>(rows * n * k) / best;
  } catch (const dnnl::error&) {
    return 0;  // the type is not supported on this machine
  }
}

}  // namespace tessera::bench
