// What a model takes in memory (engine/memory_plan.h), as JavaScript values.
#pragma once

#include <napi.h>

#include "addon/values/options.h"
#include "engine/memory_plan.h"

namespace longhand {

// Of an unsupported model `memory` is null.
Napi::Object to_js(Napi::Env env, const Description& description, const std::optional<MemoryNeeds>& needs);
Napi::Object to_js(Napi::Env env, const MemoryPlan& plan);
PlanOptions plan_options(Napi::Value value);
CacheType cache_type(const Options& options, CacheType fallback);

}  // namespace longhand
