#include "metal/tuning/workloads.h"

#include <array>

#include "formats/error.h"

namespace longhand::metal {

namespace {

// A matrix read from memory, as in decoding: 34 MB and 38 MB in turn, so that no cache holds them.
constexpr int64_t in = 2048, plain_rows = 8192, coded_rows = 32768, group = 64;
constexpr size_t matrix_bytes = size_t{plain_rows} * in * 2;
static_assert(matrix_bytes == size_t{coded_rows} * in / 2);
constexpr int matvecs = 4;

constexpr Heads heads{.query = 8, .kv = 2, .dim = 256};
constexpr int64_t keys = 1000, layers = 12, long_keys = 4096, long_layers = 3;

constexpr std::array<int64_t, 3> prompts{64, 256, 512};
constexpr int64_t delta_heads = 16, delta_dim = 128, taps = 4, delta_layers = 12;
constexpr int64_t matmul_rows = 64;

std::unique_ptr<Device> open() {
  std::string reason;
  std::unique_ptr<Device> device = Device::open(reason);
  if (!device) throw DeviceError(reason);
  return device;
}

}  // namespace

Workloads::Workloads(const Tuning& tuning) : backend_(open(), tuning) {
  const std::vector<std::byte> nothing(matrix_bytes);
  const WeightView plain{.name = "plain",
                         .type = DType::bf16,
                         .shape = {plain_rows, in},
                         .data = nothing.data(),
                         .data_bytes = matrix_bytes};
  const WeightView coded{
      .name = "coded",
      .type = DType::affine,
      .shape = {coded_rows, in},
      .data = nothing.data(),
      .data_bytes = matrix_bytes,
      .affine = {
          .bits = 4, .group = group, .scale_type = DType::bf16, .scales = nothing.data(), .biases = nothing.data()}};
  for (const WeightView& view : {plain, coded}) matrices_.push_back(backend_.prepare({&view, 1}, nullptr, 1));
  const auto add_caches = [&](std::vector<KvCache>& to, int64_t count, int64_t length) {
    const auto bytes = static_cast<size_t>(length * cache_row_bytes(CacheType::f16, heads.kv, heads.dim));
    for (int64_t i = 0; i < count; ++i)
      to.push_back({.layout = {heads.kv, heads.dim},
                    .type = CacheType::f16,
                    .keys = backend_.allocate(bytes),
                    .values = backend_.allocate(bytes),
                    .capacity = length,
                    .length = length});
  };
  add_caches(caches_, layers, keys);
  add_caches(long_caches_, long_layers, long_keys);
  delta_ = {.key_heads = delta_heads, .value_heads = delta_heads, .key_dim = delta_dim, .value_dim = delta_dim};
  delta_.conv = floats(delta_.channels() * taps);
  delta_.decay = floats(delta_heads);
  delta_.dt_bias = floats(delta_heads);
  delta_.norm.weight = floats(delta_dim);
  const auto window = [&] { return floats(delta_.channels() * (taps - 1)); };
  const auto state = [&] { return floats(delta_heads * delta_dim * delta_dim); };
  for (int64_t i = 0; i < delta_layers; ++i) {
    windows_.push_back({.layout = {delta_.channels(), taps}, .window = window(), .other = window()});
    states_.push_back({.layout = {delta_heads, delta_dim, delta_dim}, .state = state(), .other = state()});
  }
  zeros_ = floats(prompts.back() * delta_.columns());
}
Workloads::~Workloads() = default;

// One pass, in as many command buffers as it needs.
template <class Work>
double Workloads::seconds(const Work& work) {
  const double before = backend_.device_seconds();
  backend_.begin({.path = Path::fast});
  work();
  backend_.finish();
  return backend_.device_seconds() - before;
}

double Workloads::matvec() {
  const Tensor x{zeros_.get(), 0, 1, in, in};
  return seconds([&] {
    for (int i = 0; i < matvecs; ++i)
      for (const WeightPtr& matrix : matrices_) backend_.linear(x, *matrix, {});
  });
}

double Workloads::matmul() {
  const Tensor x{zeros_.get(), 0, matmul_rows, in, in};
  return seconds([&] {
    for (const WeightPtr& matrix : matrices_) backend_.linear(x, *matrix, {});
  });
}

double Workloads::attention(const std::vector<KvCache>& caches) {
  const int64_t width = heads.query * heads.dim;
  const Tensor q{zeros_.get(), 0, 1, width, width};
  return seconds([&] {
    for (const KvCache& cache : caches) backend_.attention(q, cache, {.heads = heads, .scale = 1});
  });
}

// A token, in as many layers as keep the states out of a cache.
double Workloads::delta_step() {
  const Tensor p{zeros_.get(), 0, 1, delta_.columns(), delta_.columns()};
  return seconds([&] {
    for (size_t i = 0; i < states_.size(); ++i) backend_.gated_delta(p, delta_, windows_[i], states_[i]);
  });
}

// 512 tokens, read in passes of 64, of 256 and at once.
double Workloads::delta() {
  double all = 0;
  for (const int64_t tokens : prompts) {
    const Tensor p{zeros_.get(), 0, tokens, delta_.columns(), delta_.columns()};
    const double pass = seconds([&] { backend_.gated_delta(p, delta_, windows_[0], states_[0]); });
    all += pass * static_cast<double>(prompts.back() / tokens);
  }
  return all;
}

double Workloads::run(const Tuning& tuning, size_t question) {
  const int64_t Tuning::* value = choices()[question].value;
  Tuning asked = tuning;
  if (value == &Tuning::matmul_half) asked.matmul_tensor = 0;  // which would take its place
  backend_.tune(asked);
  if (value == &Tuning::attention_shared) return attention(caches_);
  if (value == &Tuning::attention_groups) return attention(long_caches_);
  if (value == &Tuning::delta_slices) return delta_step();
  if (value == &Tuning::scan_simdgroups || value == &Tuning::delta_chunk_from) return delta();
  return value == &Tuning::matmul_half || value == &Tuning::matmul_tensor ? matmul() : matvec();
}

}  // namespace longhand::metal
