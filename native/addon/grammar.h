// `Vocabulary`, `Grammar`: constraints on an answer.
#pragma once

#include <napi.h>

#include "addon/values/options.h"
#include "engine/decode/guide.h"

namespace longhand {

// The options `grammar`, `thinking`, `opens` and `closes` of generate.
GuideOptions guide_of(Napi::Env env, const Options& options);

}  // namespace longhand
