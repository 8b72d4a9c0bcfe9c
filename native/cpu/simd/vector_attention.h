// Softmax attention in tiles of query rows over blocks of keys. Included by vector_kernels.h.
#pragma once

namespace {

constexpr int64_t key_block = 32;  // keys and values of a block stay in the first-level cache

// Prefetches the next block of keys when they are read directly from a cache. (Always inline: GCC drops a call of a
// function that only prefetches as having no effect.)
template <class Rows>
[[gnu::always_inline]] inline void fetch_ahead(const AttentionTile& tile, const std::byte* at, int64_t element) {
  constexpr int64_t line = 64 / Rows::bytes;
  if (Rows::bytes == 2 && element % line == 0) __builtin_prefetch(at + key_block * tile.stride * Rows::bytes, 0, 2);
}

// q . k of R rows with the K keys from `key` on: [R][K] into scores[r * key_block + k]. Four sums are added up
// together, bit for bit as alone.
template <class V, class Rows, int R, int K>
inline void score_keys(const AttentionTile& tile, const float* q, const std::byte* key, float* scores) {
  constexpr int sums = (R * K + 3) / 4 * 4;
  typename V::F sum[sums];
  for (auto& one : sum) one = V::zero();
  const auto add = [&](int64_t i, auto load, auto load_key) {
    typename V::F row[R];
    for (int r = 0; r < R; ++r) row[r] = load(q + r * tile.dim + i);
    for (int k = 0; k < K; ++k) {
      fetch_ahead<Rows>(tile, key + (k * tile.stride + i) * Rows::bytes, i);
      const typename V::F part = load_key(key + (k * tile.stride + i) * Rows::bytes);
      for (int r = 0; r < R; ++r) sum[r * K + k] = V::fma(part, row[r], sum[r * K + k]);
    }
  };
  int64_t i = 0;
  for (; i + V::width <= tile.dim; i += V::width)
    add(i, [](const float* p) { return V::load(p); }, [](const std::byte* p) { return Rows::load(p); });
  if (const int64_t left = tile.dim - i; left > 0)
    add(
        i, [left](const float* p) { return V::load_part(p, left); },
        [left](const std::byte* p) { return Rows::load_part(p, left); });
  float side_by_side[sums];
  for (int n = 0; n < sums; n += 4) V::store_sums(side_by_side + n, sum[n], sum[n + 1], sum[n + 2], sum[n + 3]);
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) scores[r * key_block + k] = side_by_side[r * K + k];
}

// C vectors of the values from `values` on, weighed by the scores of R rows and added to their sums: R * C chains of
// sums, so that none waits for itself.
template <class V, class Rows, int R, int C, class Load, class LoadValue, class Store>
inline void add_values(const AttentionTile& tile, const float* scores, const std::byte* values, int64_t count, float* o,
                       const Load& load, const LoadValue& load_value, const Store& store) {
  typename V::F sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = load(o + r * tile.dim + c * V::width);
  for (int64_t j = 0; j < count; ++j) {
    for (int c = 0; c < C; ++c) {
      fetch_ahead<Rows>(tile, values + (j * tile.stride + c * V::width) * Rows::bytes, c * V::width);
      const typename V::F v = load_value(values + (j * tile.stride + c * V::width) * Rows::bytes);
      for (int r = 0; r < R; ++r) sum[r][c] = V::fma(V::set(scores[r * key_block + j]), v, sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) store(o + r * tile.dim + c * V::width, sum[r][c]);
}

// score_keys for `count` keys.
template <class V, class Rows, int R>
inline void score_block(const AttentionTile& tile, const float* q, const std::byte* keys, int64_t count,
                        float* scores) {
  // As many chains of sums as two multipliers keep busy; with 32 registers more, so that a load serves more of them.
  constexpr int together = R == 1 ? 8 : R == 2 || V::registers == 32 ? 4 : 2;
  const int64_t bytes = tile.stride * Rows::bytes;
  int64_t key = 0;
  for (; key + together <= count; key += together)
    score_keys<V, Rows, R, together>(tile, q, keys + key * bytes, scores + key);
  for (; key < count; ++key) score_keys<V, Rows, R, 1>(tile, q, keys + key * bytes, scores + key);
}

// Turns the scores of one row into weights and rescales its sums to the new peak. Returns how many keys the row sees.
template <class V>
inline int64_t soften(const AttentionTile& tile, int64_t row, int64_t limit, int64_t from, int64_t count,
                      float* scores) {
  const int64_t visible = limit - tile.first - from, seen = visible < 0 ? 0 : smaller(count, visible);
  for (int64_t j = seen; j < count; ++j) scores[j] = 0;
  if (seen == 0) return 0;
  const float block_peak = largest<V>(scores, seen), old = tile.peak[row];
  const float peak = block_peak > old ? block_peak : old;
  const float fade = old == peak ? 1.0f : __builtin_expf(old - peak);
  float sum = tile.sum[row] * fade;
  int64_t j = 0;
  for (; j + V::width <= seen; j += V::width) {
    const typename V::F e = exp<V>(V::sub(V::load(scores + j), V::set(peak)));
    V::store(scores + j, e);
    sum += V::sum(e);
  }
  if (const int64_t left = seen - j; left > 0) {
    V::store_part(scores + j, exp<V>(V::sub(V::load_part(scores + j, left), V::set(peak))), left);
    for (; j < seen; ++j) sum += scores[j];
  }
  tile.sum[row] = sum;
  tile.peak[row] = peak;
  float* o = tile.o + row * tile.dim;
  if (fade != 1.0f)
    for_vectors<V>(tile.dim,
                   [&](int64_t i, auto load, auto store) { store(o + i, V::mul(load(o + i), V::set(fade))); });
  return seen;
}

// add_values for all columns of `count` keys.
template <class V, class Rows, int R>
inline void value_block(const AttentionTile& tile, const float* scores, const std::byte* values, int64_t count,
                        float* o) {
  constexpr int side_by_side = R <= 2 || V::registers == 32 ? 4 : 2;
  const auto load = [](const float* x) { return V::load(x); };
  const auto load_value = [](const std::byte* x) { return Rows::load(x); };
  const auto store = [](float* x, typename V::F y) { V::store(x, y); };
  int64_t i = 0;
  for (; i + side_by_side * V::width <= tile.dim; i += side_by_side * V::width)
    add_values<V, Rows, R, side_by_side>(tile, scores, values + i * Rows::bytes, count, o + i, load, load_value, store);
  for (; i + V::width <= tile.dim; i += V::width)
    add_values<V, Rows, R, 1>(tile, scores, values + i * Rows::bytes, count, o + i, load, load_value, store);
  if (const int64_t left = tile.dim - i; left > 0)
    add_values<V, Rows, R, 1>(
        tile, scores, values + i * Rows::bytes, count, o + i, [left](const float* x) { return V::load_part(x, left); },
        [left](const std::byte* x) { return Rows::load_part(x, left); },
        [left](float* x, typename V::F y) { V::store_part(x, y, left); });
}

// Calls rows<R>(first row) for all rows of a head, four at a time and then what is left: query heads of a group when a
// token is decoded.
template <class Use>
inline void query_tiles(int64_t count, const Use& use) {
  int64_t row = 0;
  for (; row + 4 <= count; row += 4) use.template operator()<4>(row);
  if (count - row == 3) use.template operator()<3>(row);
  if (count - row == 2) use.template operator()<2>(row);
  if (count - row == 1) use.template operator()<1>(row);
}

// One head, or a few heads whose keys stand side by side: then keys and values are walked in short runs of all heads,
// which is the order they have in memory. One block of keys, [from, from + count) of the tile.
template <class V, class Rows>
inline void attend_block(const AttentionTile& tile, int64_t from, int64_t count) {
  constexpr int64_t most_scores = 64;
  alignas(64) float scores[most_scores][key_block];
  int64_t seen[most_scores];
  const int64_t bytes = tile.stride * Rows::bytes, head_bytes = tile.dim * Rows::bytes;
  const std::byte *keys = tile.keys + from * bytes, *values = tile.values + from * bytes;
  const int64_t key_run = tile.heads > 1 ? 4 : count, value_run = tile.heads > 1 ? 8 : count;
  const int64_t rows = smaller(tile.rows, most_scores / tile.heads / 4 * 4);  // at once: more only of a single head
  for (int64_t first = 0; first < tile.rows; first += rows) {
    const int64_t some = smaller(rows, tile.rows - first);
    const auto each_head = [&](const auto& use) {
      for (int64_t h = 0; h < tile.heads; ++h)
        query_tiles(some,
                    [&]<int R>(int64_t r) { use.template operator()<R>(h, h * tile.rows + first + r, h * some + r); });
    };
    for (int64_t key = 0; key < count; key += key_run)
      each_head([&]<int R>(int64_t h, int64_t row, int64_t at) {
        score_block<V, Rows, R>(tile, tile.q + row * tile.dim, keys + key * bytes + h * head_bytes,
                                smaller(key_run, count - key), &scores[at][key]);
      });
    for (int64_t at = 0; at < tile.heads * some; ++at) {
      const int64_t r = first + at % some;
      seen[at] = soften<V>(tile, at / some * tile.rows + r, tile.limit[r], from, count, scores[at]);
    }
    for (int64_t key = 0; key < count; key += value_run)
      each_head([&]<int R>(int64_t h, int64_t row, int64_t at) {
        int64_t most = 0;
        for (int r = 0; r < R; ++r) most = seen[at + r] > most ? seen[at + r] : most;
        if (most > key)
          value_block<V, Rows, R>(tile, &scores[at][key], values + key * bytes + h * head_bytes,
                                  smaller(value_run, most - key), tile.o + row * tile.dim);
      });
  }
}

template <class V>
void attend(const AttentionTile& tile) {
  for (int64_t from = 0; from < tile.count; from += key_block) {
    const int64_t count = smaller(key_block, tile.count - from);
    if (tile.halves) attend_block<V, F16Rows<V>>(tile, from, count);
    else attend_block<V, F32Rows<V>>(tile, from, count);
  }
}

}  // namespace

// ---- whole texts --------------------------------------------------------------------------------------------------

// Rows that see every key of their text, whose keys were turned once for all rows: a vector holds one dimension of many
// keys, so that scores are added up without a sum across a vector.

namespace {

using longhand::cpu::WholeAttentionTile;
constexpr int64_t turned_keys = longhand::cpu::turned_keys;

// Scores of R rows with C vectors of keys; `keys` [dim][turned_keys].
template <class V, int R, int C>
inline void score_turned(const float* q, int64_t dim, const float* keys, float* scores) {
  typename V::F sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = V::zero();
  for (int64_t i = 0; i < dim; ++i) {
    typename V::F key[C];
    for (int c = 0; c < C; ++c) key[c] = V::load(keys + i * turned_keys + c * V::width);
    for (int r = 0; r < R; ++r) {
      const typename V::F x = V::set(q[r * dim + i]);
      for (int c = 0; c < C; ++c) sum[r][c] = V::fma(key[c], x, sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) V::store(scores + r * turned_keys + c * V::width, sum[r][c]);
}

// Turns the scores of one row into weights and rescales its sums to the new peak.
template <class V>
inline void soften_all(const WholeAttentionTile& tile, int64_t row, int64_t count, float* scores) {
  const float block_peak = largest<V>(scores, count), old = tile.peak[row];
  const float peak = block_peak > old ? block_peak : old;
  const float fade = old == peak ? 1.0f : __builtin_expf(old - peak);
  typename V::F sum = V::zero();
  for_vectors<V>(count, [&](int64_t i, auto load, auto store) {
    store(scores + i, exp<V>(V::sub(load(scores + i), V::set(peak))));
    sum = V::add(sum, load(scores + i));
  });
  tile.sum[row] = tile.sum[row] * fade + V::sum(sum);
  tile.peak[row] = peak;
  float* o = tile.o + row * tile.dim;
  if (fade != 1.0f)
    for_vectors<V>(tile.dim,
                   [&](int64_t i, auto load, auto store) { store(o + i, V::mul(load(o + i), V::set(fade))); });
}

// C vectors of `count` values, weighed by the scores of R rows and added to their sums.
template <class V, int R, int C, class Load, class Store>
inline void add_weighed(const WholeAttentionTile& tile, const float* scores, const float* values, int64_t count,
                        float* o, const Load& load, const Store& store) {
  typename V::F sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = load(o + r * tile.dim + c * V::width);
  for (int64_t j = 0; j < count; ++j) {
    typename V::F value[C];
    for (int c = 0; c < C; ++c) value[c] = load(values + j * tile.value_stride + c * V::width);
    for (int r = 0; r < R; ++r) {
      const typename V::F weight = V::set(scores[r * turned_keys + j]);
      for (int c = 0; c < C; ++c) sum[r][c] = V::fma(weight, value[c], sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) store(o + r * tile.dim + c * V::width, sum[r][c]);
}

template <class V, int R>
inline void add_all_weighed(const WholeAttentionTile& tile, const float* scores, const float* values, int64_t count,
                            float* o) {
  constexpr int together = V::registers == 32 ? 4 : 2;
  const auto load = [](const float* x) { return V::load(x); };
  const auto store = [](float* x, typename V::F y) { V::store(x, y); };
  int64_t i = 0;
  for (; i + together * V::width <= tile.dim; i += together * V::width)
    add_weighed<V, R, together>(tile, scores, values + i, count, o + i, load, store);
  for (; i + V::width <= tile.dim; i += V::width)
    add_weighed<V, R, 1>(tile, scores, values + i, count, o + i, load, store);
  if (const int64_t left = tile.dim - i; left > 0)
    add_weighed<V, R, 1>(
        tile, scores, values + i, count, o + i, [left](const float* x) { return V::load_part(x, left); },
        [left](float* x, typename V::F y) { V::store_part(x, y, left); });
}

template <class V>
void attend_whole(const WholeAttentionTile& tile) {
  constexpr int R = V::registers == 32 ? 8 : 4, C = 2;  // so that the sums and the keys fit
  alignas(64) float scores[longhand::cpu::whole_rows * turned_keys];
  const float *keys = tile.keys, *values = tile.values;
  for (int64_t from = 0; from < tile.count; from += turned_keys) {
    const int64_t count = smaller(turned_keys, tile.count - from);
    for (int64_t key = 0; key < turned_keys; key += C * V::width) {
      int64_t r = 0;
      for (; r + R <= tile.rows; r += R)
        score_turned<V, R, C>(tile.q + r * tile.dim, tile.dim, keys + key, scores + r * turned_keys + key);
      for (; r < tile.rows; ++r)
        score_turned<V, 1, C>(tile.q + r * tile.dim, tile.dim, keys + key, scores + r * turned_keys + key);
    }
    for (int64_t r = 0; r < tile.rows; ++r) soften_all<V>(tile, r, count, scores + r * turned_keys);
    int64_t r = 0;
    for (; r + 4 <= tile.rows; r += 4)
      add_all_weighed<V, 4>(tile, scores + r * turned_keys, values, count, tile.o + r * tile.dim);
    for (; r < tile.rows; ++r)
      add_all_weighed<V, 1>(tile, scores + r * turned_keys, values, count, tile.o + r * tile.dim);
    keys += turned_keys * tile.dim;
    values += turned_keys * tile.value_stride;
  }
}

}  // namespace
