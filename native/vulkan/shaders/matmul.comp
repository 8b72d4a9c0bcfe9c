#version 450
// The tiled product in fp32: the exact path.
#extension GL_GOOGLE_include_directive : require
#include "matmul.glsl"
