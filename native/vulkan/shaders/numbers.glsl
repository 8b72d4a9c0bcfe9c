// Scalar functions. A Vulkan driver may compute exp, sin and cos imprecisely (sin within 2^-11 is allowed), so those that
// affect a result are written out here: the same digits on every driver. Constants: Cephes (Moshier), single precision.
#ifndef NUMBERS
#define NUMBERS

// Below every score: replaces -infinity, which a driver need not support.
const float LOWEST = -3.0e38;

// e^x, nearly rounded to nearest: a decay is raised to the number of tokens, and its error with it. 0 below -87, the
// largest number above 88.
float exponential(float x) {
  if (x < -87.0) return 0.0;
  x = min(x, 88.0);
  const float n = floor(x * 1.44269504 + 0.5);
  precise float high = x - n * 0.693359375;  // exact
  precise float rest = n * 2.12194440e-4;
  precise float r = high + rest;
  precise float low = rest - (r - high);  // what r lost
  float y = 1.9875691500e-4;
  y = y * r + 1.3981999507e-3;
  y = y * r + 8.3334519073e-3;
  y = y * r + 4.1665795894e-2;
  y = y * r + 1.6666665459e-1;
  y = y * r + 5.0000001201e-1;
  precise float sum = 1.0 + r;
  precise float lost = r - (sum - 1.0);
  precise float power = sum + (lost + (y * r * r + low));
  return power * uintBitsToFloat(uint(int(n) + 127) << 23);
}

// log x of a normal x > 0.
float logarithm(float x) {
  const uint bits = floatBitsToUint(x);
  float exponent = float(int(bits >> 23) - 126);
  float m = uintBitsToFloat((bits & 0x007fffffu) | 0x3f000000u);  // [0.5, 1)
  if (m < 0.707106781) {
    exponent -= 1.0;
    m = m + m;
  }
  m -= 1.0;
  const float z = m * m;
  float y = 7.0376836292e-2;
  y = y * m - 1.1514610310e-1;
  y = y * m + 1.1676998740e-1;
  y = y * m - 1.2420140846e-1;
  y = y * m + 1.4249322787e-1;
  y = y * m - 1.6668057665e-1;
  y = y * m + 2.0000714765e-1;
  y = y * m - 2.4999993993e-1;
  y = y * m + 3.3333331174e-1;
  y = y * m * z - 2.12194440e-4 * exponent - 0.5 * z;
  return m + y + 0.693359375 * exponent;
}

// (sin, cos) of 0 <= |x| < 2^24. Full turns are taken off exactly, in integers: x / 2 pi modulo 1 as a 32-bit fraction.
vec2 sine_cosine(float x) {
  const uint bits = floatBitsToUint(abs(x));
  uint quadrant = 0;
  float r = abs(x);
  if (r > 0.78539816) {
    const uint mantissa = (bits & 0x007fffffu) | 0x00800000u;
    const uint shift = 150u - (bits >> 23);  // x = mantissa * 2^-shift, 0 < shift < 25
    // 1 / 2 pi as a fraction of 96 bits, shifted right.
    const uint a = 0x28be60dbu, b = 0x9391054au, c = 0x7f09d5f4u;
    const uint high = shift == 0u ? a : a >> shift;
    const uint low = shift == 0u ? b : (b >> shift) | (a << (32u - shift));
    const uint tail = shift == 0u ? c : (c >> shift) | (b << (32u - shift));
    uint carried, rest, most, least;
    umulExtended(mantissa, low, carried, rest);
    umulExtended(mantissa, tail, most, least);
    uint carry;
    uaddCarry(rest, most, carry);
    const uint turn = mantissa * high + carried + carry;
    quadrant = (turn + 0x20000000u) >> 30;
    r = float(int(turn - (quadrant << 30))) * 1.46291807926716e-9;  // 2 pi / 2^32
  }
  const float z = r * r;
  const float s = r + r * z * (-1.6666654611e-1 + z * (8.3321608736e-3 - z * 1.9515295891e-4));
  const float c = 1.0 - 0.5 * z + z * z * (4.166664568298827e-2 + z * (-1.388731625493765e-3 + z * 2.443315711809948e-5));
  vec2 both = (quadrant & 1u) == 0u ? vec2(s, c) : vec2(c, s);
  if ((quadrant & 2u) != 0u) both.x = -both.x;
  if (quadrant == 1u || quadrant == 2u) both.y = -both.y;
  if (x < 0.0) both.x = -both.x;
  return both;
}

float sigmoid(float x) { return 1.0 / (1.0 + exponential(-x)); }
float silu(float x) { return x * sigmoid(x); }

// log(1 + e^x), the sum formed so that no digit of a small e^x is lost: log1p(y) = log(u) y / (u - 1), u = 1 + y.
float softplus(float x) {
  if (x > 20.0) return x;
  const float y = exponential(x);
  precise float u = 1.0 + y;
  precise float rest = u - 1.0;
  return rest == 0.0 ? y : logarithm(u) * (y / rest);
}

// The rational form of Numerical Recipes' erfc (1.2e-7 relative), kept relative near zero by the series.
float error_function(float x) {
  const float a = abs(x);
  if (a < 0.5) {
    const float s = x * x;
    return x * (1.128379167 + s * (-0.376126389 + s * (0.112837917 + s * (-0.026866171 + s * (0.005223978 + s * (-0.000854833 + s * 0.000120553))))));
  }
  const float t = 1.0 / (1.0 + 0.5 * a);
  const float p = t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
  const float y = t * exponential(-a * a - 1.26551223 + p);
  return x < 0.0 ? y - 1.0 : 1.0 - y;
}

float hyperbolic_tangent(float x) {
  const float t = exponential(-2.0 * abs(x));
  return sign(x) * (1.0 - t) / (1.0 + t);
}

float activate(uint kind, float x) {  // Activation of native/ops/backend.h
  if (kind == 1u) return silu(x);
  if (kind == 2u) return 0.5 * x * (1.0 + error_function(x * 0.70710678));
  if (kind == 3u) return 0.5 * x * (1.0 + hyperbolic_tangent(0.79788456 * (x + 0.044715 * x * x * x)));
  return x;
}

float half_value(uint bits) { return unpackHalf2x16(bits & 0xffffu).x; }
// To nearest, ties to even: packHalf2x16 leaves the rounding to the driver.
uint half_bits(float value) {
  const uint all = floatBitsToUint(value);
  const uint negative = (all >> 16) & 0x8000u, x = all & 0x7fffffffu;
  if (x >= 0x47800000u) return negative | (x > 0x7f800000u ? 0x7e00u : 0x7c00u);
  if (x < 0x38800000u) return negative | uint(roundEven(uintBitsToFloat(x) * 16777216.0));
  return negative | ((x + 0xfffu + ((x >> 13) & 1u) - 0x38000000u) >> 13);
}
float bf16_value(uint bits) { return uintBitsToFloat(bits << 16); }

#endif
