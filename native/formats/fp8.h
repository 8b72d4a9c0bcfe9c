// FP8 releases in safetensors: a matrix `T` in f8 beside `T_scale_inv` (blocks, usually 128 x 128) or `T_scale` (one
// for the tensor, one a row, one an expert). The engine computes with them as bf16.
#pragma once

#include "formats/parts.h"

namespace longhand {

// Replaces f8 tensors by bf16 ones and drops the scales; adds a notice. With `convert` false only the table changes
// (null data): for looking at headers. Throws FormatError "[fp8] ...", OutOfMemory.
void expose_fp8_as_bf16(CheckpointParts& parts, bool convert);

}  // namespace longhand
