#include "addon/errors.h"

#include <new>
#include <stdexcept>

#include "formats/error.h"

namespace longhand {

ErrorText error_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const FormatError& e) {
    return {"format", e.what()};
  } catch (const Unsupported& e) {
    return {"unsupported", e.what()};
  } catch (const OutOfMemory& e) {
    return {"memory", e.what()};
  } catch (const std::bad_alloc&) {
    return {"memory", "[memory] the machine has no memory left for this"};
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
  Napi::Error result = Napi::Error::New(env, text.message);
  result.Set("code", Napi::String::New(env, text.code));
  return result;
}

}  // namespace longhand
