// What the matvec and the tiled product share: the constants of a projection and the preparation of x.
layout(constant_id = 1) const bool HAS_NORM = false;
layout(constant_id = 2) const uint GATE_KIND = 0;
layout(constant_id = 3) const bool HAS_BIAS = false;
layout(constant_id = 4) const uint ACTIVATION = 0;
layout(constant_id = 5) const bool ADD_TO = false;
layout(constant_id = 6) const bool SWIGLU = false;

// x with norm weight and gate applied; adds its square to `squares`.
float prepared(float x, float norm, float gate, inout float squares) {
  precise float sum = fma(x, x, squares);
  squares = sum;
  if (HAS_NORM) x *= norm;
  if (GATE_KIND == 1) x *= sigmoid(gate);
  if (GATE_KIND == 2) x *= silu(gate);
  return x;
}
