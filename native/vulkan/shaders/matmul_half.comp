#version 450
// The tiled product with f16 arithmetic: the fast path where the device lists shaderFloat16.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define HALF
#include "matmul.glsl"
