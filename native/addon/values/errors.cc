#include "addon/values/errors.h"

#include <new>
#include <stdexcept>

#include "engine/error.h"
#include "formats/error.h"
#include "ops/backend.h"
#include "ops/error.h"

namespace longhand {

ErrorText error_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const FormatError& e) {
    return {"format", e.what()};
  } catch (const NotFinite& e) {
    return {"format", e.what()};
  } catch (const Unsupported& e) {
    return {"unsupported", e.what()};
  } catch (const DeviceError& e) {
    return {"device", e.what()};
  } catch (const OutOfMemory& e) {
    return {"memory", e.what()};
  } catch (const std::bad_alloc&) {
    return {"memory", "[memory] the machine has no memory left for this"};
  } catch (const Cancelled&) {
    return {"cancelled", "[engine] cancelled"};
  } catch (const ContextError& e) {
    return {"context", e.what()};
  } catch (const ClosedError& e) {
    return {"state", e.what()};
  } catch (const std::invalid_argument& e) {
    return {"argument", e.what()};
  } catch (const std::exception& e) {
    return {"internal", e.what()};
  } catch (...) {
    return {"internal", "[addon] an exception of unknown type"};
  }
}

Napi::Error js_error(Napi::Env env, const std::exception_ptr& error) {
  const ErrorText text = error_text(error);
  return coded_error(env, text.code, text.message);
}

Napi::Error coded_error(Napi::Env env, const std::string& code, const std::string& message) {
  Napi::Error result = Napi::Error::New(env, message);
  result.Set("code", Napi::String::New(env, code));
  return result;
}

}  // namespace longhand
