// What the host and the shaders share beside ops/params.h; read by both compilers. How a matrix stands in memory
// (weight.cc, weights.glsl) and what a cache stores (cache.h, cache.glsl).
const uint kLayoutF32 = 0;
const uint kLayoutF16 = 1;
const uint kLayoutBF16 = 2;
const uint kLayoutAffine = 3;  // MLX integers, kBits wide
const uint kLayoutMxfp4 = 4;
const uint kLayoutMxfp8 = 5;
const uint kLayoutNvfp4 = 6;
const uint kLayoutQ4_0 = 7;
const uint kLayoutQ4_1 = 8;
const uint kLayoutQ5_0 = 9;
const uint kLayoutQ5_1 = 10;
const uint kLayoutQ8_0 = 11;
const uint kLayoutQ2K = 12;
const uint kLayoutQ3K = 13;
const uint kLayoutQ4K = 14;
const uint kLayoutQ5K = 15;
const uint kLayoutQ6K = 16;
const uint kLayoutIq4Nl = 17;
const uint kLayoutIq4Xs = 18;
const uint kLayoutGgufMxfp4 = 19;

const uint kCacheF32 = 0;
const uint kCacheF16 = 1;
const uint kCacheQ8 = 2;
const uint kCacheQ4 = 3;

const uint kMatmulOutputs = 64;  // of a tile of matmul.glsl
const uint kMatmulTokens = 64;   // or half as many

const uint kScoreTile = 1024;  // scores whose peak and sum the CPU gets

const uint kLatentSlice = LATENT_SLICE;

// Steps of block_select.comp; they may come in dispatches of their own.
const uint kSelectNormalise = 1;
const uint kSelectScore = 2;
const uint kSelectChoose = 4;
const uint kSelectAll = 7;

const uint kCopyRows = 0;
const uint kSwigluRows = 1;
const uint kAddScaled = 2;
const uint kGatherGates = 3;
const uint kStackRows = 4;

// Rows [first, first + rows) of a table: one binding's worth of it.
struct EmbedRowsParams {
  uint columns, segments, y_stride;
  uint first, rows;
  float scale;
};

// Attention over the keys of one binding: row 0 of it is key `first_key` of the cache, split 0 is split `first_split`.
struct AttentionWindowParams {
  AttentionParams all;
  uint first_key, end_key, first_split;
};

// Latent attention over the keys of one binding, which begins at split `first_split`.
struct LatentWindowParams {
  MlaParams all;
  uint splits, split_keys, first_split;
};

// The compressed keys that are bound: [first1, end1) of K1, [first2, end2) of K2.
struct SelectWindowParams {
  SelectParams all;
  uint first1, end1, first2, end2;
};
