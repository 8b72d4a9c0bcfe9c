// Native exceptions as JavaScript errors with a `code` (its union is in index.d.ts).
#pragma once

#include <napi.h>

#include <exception>
#include <string>

namespace longhand {

struct ErrorText {
  std::string code;
  std::string message;
};
// `format`, `unsupported`, `memory`, `cancelled`, `context`, `state`, `argument` by the exception's type; anything else
// is `internal`.
ErrorText error_text(const std::exception_ptr& error);
Napi::Error js_error(Napi::Env env, const std::exception_ptr& error);
Napi::Error coded_error(Napi::Env env, const std::string& code, const std::string& message);

// Runs `body`; what it throws reaches JavaScript with its code.
template <class Body>
auto guarded(Napi::Env env, Body body) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw js_error(env, std::current_exception());
  }
}

}  // namespace longhand
