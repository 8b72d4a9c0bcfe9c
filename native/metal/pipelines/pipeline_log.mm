#include "metal/pipelines/pipeline_log.h"

#include <cstdlib>
#include <fstream>
#include <mutex>

#include "metal/device/objects.h"

namespace longhand::metal {

void log_pipeline(const PipelineSpec& spec, void* pipeline, const PipelineTimes& times) {
  const char* path = std::getenv("LONGHAND_METAL_PIPELINES");
  if (!path || !*path) return;
  static std::mutex lock;
  const std::lock_guard guard(lock);
  id<MTLComputePipelineState> made = (__bridge id<MTLComputePipelineState>)pipeline;
  std::ofstream file(path, std::ios::app);
  file << R"({"kernel":")" << spec.kernel.name << R"(","file":")" << spec.kernel.file << R"(","layout":")"
       << spec.kernel.layout << R"(","threads":)" << spec.threads << R"(,"limit":)"
       << made.maxTotalThreadsPerThreadgroup << R"(,"simd":)" << made.threadExecutionWidth << R"(,"threadgroupBytes":)"
       << made.staticThreadgroupMemoryLength << R"(,"makeMs":)" << times.make_ms << R"(,"archiveMs":)"
       << times.archive_ms << R"(,"found":)" << (times.found ? "true" : "false") << R"(,"constants":[)";
  const char* comma = "";
  for (const uint32_t value : spec.constants.values()) {
    file << comma << value;
    comma = ",";
  }
  file << "]}\n";
}

}  // namespace longhand::metal
