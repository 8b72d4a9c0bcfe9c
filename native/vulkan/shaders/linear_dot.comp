#version 450
// y = W x for up to eight rows of x and weights that are integers: linear.comp on the fast path, where the device multiplies
// four bytes at once (VK_KHR_shader_integer_dot_product). The idea is llama.cpp's mul_mat_vecq (rounded activations, four
// products an instruction); two things differ. x is rounded inside the kernel, by the whole workgroup into shared memory,
// so that a projection stays one dispatch. And it is rounded to 15 bits, as on the CPU (native/cpu/kernels/quantised.cc), with a
// scale every 32 columns: a high and a low byte, q = 128 h + l, which costs a second product and keeps the distribution
// of small models.
//
//   y_r = sum over 8 columns: scale_r s (128 sum c_i h_i + sum c_i l_i) + least_r s (sum of q_i)
//
// Rows of x are independent chains of the same additions: M rows at once give the bits of M rows one by one, since STEP is
// a multiple of what the lanes take at once, and sums are `precise`, so that no driver forms them in two ways. The norm in
// front: as in linear.comp; its weight is applied before rounding, its scale at the end.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_spirv_intrinsics : require
#include "weights.glsl"
#include "linear.glsl"

// OpSDotKHR, the sum of four products of signed bytes; glslc 2023.2 has no name for it.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(uint a, uint b, spirv_literal int packed);

layout(constant_id = 0) const uint TOKENS = 1;  // 1, 2, 4 or 8: as many as p.tokens or more
layout(constant_id = 7) const bool BY_EXPERT = false;

layout(binding = 2) readonly buffer X { float x[]; };             // [tokens, in]
layout(binding = 3) readonly buffer NormWeight { float norm[]; };  // [in]
layout(binding = 4) readonly buffer Gate { float gate[]; };       // [tokens, in]
layout(binding = 5) readonly buffer Bias { float bias[]; };       // [out]
layout(binding = 6) readonly buffer Experts { int experts[]; };   // [tokens * topk]
layout(binding = 7) buffer Y { float y[]; };                      // [tokens, out]
ARGUMENTS(8, LinearParams);

const uint ROWS = 4;
const uint MAX_TOKENS = 8;
const uint ROOM = 4096;           // values of x that are held at once
const uint STEP = ROOM / TOKENS;  // columns of them
const uint BLOCK = 32;            // columns a scale
const uint LEAST_BLOCKS = ROOM / MAX_TOKENS / BLOCK;

const float MOST_CODE = 16256.0;  // 128 * 127
const float LEAST_PEAK = 7.888609e-31;  // 2^-100; below it everything counts as zero

shared uint high[ROOM / 4];  // [token, column], four a word
shared uint low[ROOM / 4];
shared float scales[ROOM / BLOCK];
shared float sums_of_4[ROOM / 4];  // of the values that the codes stand for
shared float squares_of[ROOM / BLOCK];  // of the values before they were prepared

const uint QUADS = (ROOM / 4 + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;  // four columns of x, of a thread

// Rounds four values, their bytes into word `word`; the sum of their codes.
int round_four(float values[4], float inverse, uint word) {
  int sum = 0;
  uint high_bytes = 0, low_bytes = 0;
  for (uint i = 0; i < 4; i++) {
    const int code = int(roundEven(values[i] * inverse)), upper = (code + 64) >> 7;
    sum += code;
    high_bytes |= (uint(upper) & 0xffu) << (8 * i);
    low_bytes |= (uint(code - 128 * upper) & 0xffu) << (8 * i);
  }
  high[word] = high_bytes;
  low[word] = low_bytes;
  return sum;
}

// Columns k0 .. k0 + columns of every token, into shared memory. A thread takes four columns at a time; peaks and squares of
// a block's eight fours meet where their codes will lie. Rows that are not there repeat the last one.
void round_tokens(uint first_token, uint tokens, uint k0, uint columns) {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, fours = columns / 4;
  float values[QUADS][4], peaks[QUADS];
  for (uint n = 0, i = thread; i < TOKENS * fours; n++, i += threads) {
    const uint m = i / fours, word = m * (STEP / 4) + i % fours, k = k0 + i % fours * 4;
    const uint token = first_token + min(m, tokens - 1);
    float peak = 0.0;
    precise float square = 0.0;
    for (uint c = 0; c < 4; c++) {
      values[n][c] = prepared(x[base[2] + token * p.x_stride + k + c], HAS_NORM ? norm[base[3] + k + c] : 1.0,
                              GATE_KIND != 0 ? gate[base[4] + token * p.gate_stride + k + c] : 0.0, square);
      peak = max(peak, abs(values[n][c]));
    }
    high[word] = floatBitsToUint(peak);
    low[word] = floatBitsToUint(square);
  }
  barrier();
  for (uint n = 0, i = thread; i < TOKENS * fours; n++, i += threads) {
    const uint word = i / fours * (STEP / 4) + i % fours, first = word / 8 * 8;
    float peak = 0.0;
    precise float square = 0.0;
    for (uint w = first; w < first + 8; w++) {
      peak = max(peak, uintBitsToFloat(high[w]));
      square += uintBitsToFloat(low[w]);
    }
    peaks[n] = peak;
    if (word != first) continue;
    scales[first / 8] = peak / MOST_CODE;
    squares_of[first / 8] = square;
  }
  barrier();
  for (uint n = 0, i = thread; i < TOKENS * fours; n++, i += threads) {
    const uint word = i / fours * (STEP / 4) + i % fours;
    const int sum = round_four(values[n], peaks[n] >= LEAST_PEAK ? MOST_CODE / peaks[n] : 0.0, word);
    sums_of_4[word] = peaks[n] / MOST_CODE * float(sum);
  }
}

// Signed bytes: 8-bit codes without a sign are moved down, and the value of code 0 up; smaller codes are positive anyway.
Codes signed_codes(Row row, uint k) {
  const Codes codes = codes8(row, k);
  if (LAYOUT != kLayoutAffine || BITS != 8) return codes;
  return Codes(codes.bytes ^ 0x80808080u, codes.scale, codes.least + 128.0 * codes.scale);
}
int products(uvec2 codes, uint a, uint b) { return signed_dot(codes.x, a, 0) + signed_dot(codes.y, b, 0); }

void main() {
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint adders = min(lanes, LEAST_BLOCKS);  // of the squares of blocks: the same whatever STEP
  const uint slot = gl_WorkGroupID.y;
  const uint expert = BY_EXPERT ? uint(experts[base[6] + slot]) : 0;
  const uint first_token = BY_EXPERT ? slot / p.topk : 0, tokens = BY_EXPERT ? 1 : p.tokens;
  const uint half_rows = p.rows / 2, outputs = SWIGLU ? half_rows : p.rows;
  const uint per_group = SWIGLU ? ROWS / 2 : ROWS;  // outputs a subgroup
  const uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * per_group;

  Row rows[ROWS];
  for (uint r = 0; r < ROWS; r++) {
    const uint output_row = min(first + (SWIGLU ? r % (ROWS / 2) : r), outputs - 1);
    rows[r] = find_row(p.segments, p.expert_tables, expert, SWIGLU && r >= ROWS / 2 ? output_row + half_rows : output_row);
  }
  precise float sums[ROWS][MAX_TOKENS], squares[MAX_TOKENS];
  for (uint m = 0; m < TOKENS; m++) {
    squares[m] = 0.0;
    for (uint r = 0; r < ROWS; r++) sums[r][m] = 0.0;
  }

  for (uint k0 = 0; k0 < p.columns; k0 += STEP) {
    const uint columns = min(STEP, p.columns - k0), blocks = columns / BLOCK;
    barrier();
    round_tokens(first_token, tokens, k0, columns);
    barrier();
    for (uint m = 0; HAS_NORM && m < TOKENS; m++)
      for (uint b = lane; lane < adders && b < blocks; b += adders) squares[m] += squares_of[m * (STEP / BLOCK) + b];
    for (uint k = lane * 8; k < columns; k += lanes * 8) {
      for (uint r = 0; r < ROWS; r++) {
        const Codes codes = signed_codes(rows[r], k0 + k);
        for (uint m = 0; m < TOKENS; m++) {
          const uint word = m * (STEP / 4) + k / 4;
          const int product = 128 * products(codes.bytes, high[word], high[word + 1]) +
                              products(codes.bytes, low[word], low[word + 1]);
          sums[r][m] = fma(codes.least, sums_of_4[word] + sums_of_4[word + 1], sums[r][m]);
          sums[r][m] = fma(codes.scale * scales[m * (STEP / BLOCK) + k / BLOCK], float(product), sums[r][m]);
        }
      }
    }
  }

  for (uint m = 0; m < TOKENS; m++) {
    const float scale = HAS_NORM ? inverse_rms(subgroupAdd(squares[m]), p.columns, p.eps) : 1.0;
    float results[ROWS];
    for (uint r = 0; r < ROWS; r++) results[r] = subgroupAdd(sums[r][m]) * scale;
    if (m >= tokens) continue;
    for (uint r = lane; r < per_group && first + r < outputs; r += lanes) {
      float value = results[r];
      if (SWIGLU) value = silu(value) * results[r + ROWS / 2];
      if (HAS_BIAS) value += bias[base[5] + first + r];
      const uint to = base[7] + (BY_EXPERT ? slot : m) * p.y_stride + first + r;
      value = activate(ACTIVATION, value) * p.scale;
      y[to] = ADD_TO ? y[to] + value : value;
    }
  }
}
