// ggufMetadata(path): all keys of a GGUF file with its long lists (vocabulary, merges, scores). The file is read on a
// worker thread; a vocabulary of 250,000 strings takes too long to become JavaScript strings in one go, so the result
// is filled in slices, each its own turn of the event loop.
#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "addon/registry.h"
#include "addon/values/errors.h"
#include "addon/values/values.h"
#include "formats/gguf/gguf.h"
#include "formats/mapped_file.h"

namespace longhand {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto slice_time = std::chrono::milliseconds(2);
constexpr uint32_t items_between_looks = 256;

// One list on its way to JavaScript: strings of the file, or an array of the metadata.
struct List {
  std::string key;
  std::vector<std::string> strings;
  const JsonArray* values = nullptr;
  size_t size() const { return values != nullptr ? values->size() : strings.size(); }
};

struct Request {
  Request(Napi::Env env, std::string path_) : path(std::move(path_)), promise(Napi::Promise::Deferred::New(env)) {}
  std::string path;
  Napi::Promise::Deferred promise;
  Json metadata;
  std::vector<List> lists;
  Napi::ObjectReference result;
  Napi::Reference<Napi::Array> array;  // of lists[list]
  size_t list = 0;
  uint32_t item = 0;
};

void read(Request& request) {
  const MappedFile file(request.path, "gguf");
  GgufFile read = read_gguf(file.bytes(), std::filesystem::path(request.path).filename().string(), 0);
  request.metadata = std::move(read.metadata);
  for (const StringList& list : read.lists) request.lists.push_back({list.key, read_strings(list), nullptr});
  for (const auto& [key, value] : *request.metadata.object()) {
    if (value.array() != nullptr) request.lists.push_back({key, {}, value.array()});
  }
}

// Converts everything that is not a list.
void begin(Napi::Env env, Request& request) {
  Napi::Object result = Napi::Object::New(env);
  for (const auto& [key, value] : *request.metadata.object()) {
    if (value.array() == nullptr) define_member(result, key, to_js(env, value));
  }
  request.result = Napi::Persistent(result);
}

// Continues where the last slice stopped; true when all lists are there.
bool fill(Napi::Env env, Request& request) {
  const Clock::time_point end = Clock::now() + slice_time;
  for (; request.list < request.lists.size(); ++request.list, request.item = 0) {
    const List& list = request.lists[request.list];
    if (request.item == 0) {
      Napi::Array fresh = Napi::Array::New(env, list.size());
      request.array = Napi::Reference<Napi::Array>::New(fresh, 1);
      define_member(request.result.Value(), list.key, fresh);
    }
    Napi::Array array = request.array.Value();
    while (request.item < list.size()) {
      const Napi::HandleScope scope(env);
      const uint32_t i = request.item++;
      array.Set(i, list.values != nullptr ? to_js(env, (*list.values)[i]) : Napi::String::New(env, list.strings[i]));
      if (i % items_between_looks == 0 && i > 0 && Clock::now() > end) return false;
    }
  }
  return true;
}

class Slice : public Napi::AsyncWorker {
 public:
  Slice(Napi::Env env, std::shared_ptr<Request> request)
      : Napi::AsyncWorker(env, "ggufMetadata"), request_(std::move(request)) {}

  void Execute() override {
    if (!request_->result.IsEmpty()) return;
    try {
      read(*request_);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void OnOK() override {
    const Napi::HandleScope scope(Env());
    if (error_) return request_->promise.Reject(js_error(Env(), error_).Value());
    if (request_->result.IsEmpty()) begin(Env(), *request_);
    if (fill(Env(), *request_)) return request_->promise.Resolve(request_->result.Value());
    (new Slice(Env(), request_))->Queue();
  }

 private:
  std::shared_ptr<Request> request_;
  std::exception_ptr error_;
};

Napi::Value gguf_metadata(const Napi::CallbackInfo& info) {
  auto request = std::make_shared<Request>(info.Env(), string_argument(info, 0, "path"));
  (new Slice(info.Env(), request))->Queue();
  return request->promise.Promise();
}

}  // namespace

void register_gguf_metadata(Napi::Env env, Napi::Object exports) {
  exports.Set("ggufMetadata", Napi::Function::New(env, gguf_metadata, "ggufMetadata"));
}

}  // namespace longhand
