// LONGHAND_METAL_PIPELINES=<file>: a line of JSON for every pipeline that is made, for a report (npm run mac).
#pragma once

#include "metal/pipelines/pipelines.h"

namespace longhand::metal {

struct PipelineTimes {
  double make_ms;     // of the pipeline
  double archive_ms;  // of keeping it, 0 when it was found
  bool found;         // in the archive
};

// `pipeline`: id<MTLComputePipelineState>. Any thread.
void log_pipeline(const PipelineSpec& spec, void* pipeline, const PipelineTimes& times);

}  // namespace longhand::metal
