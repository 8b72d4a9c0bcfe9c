// `openWeights`: tensors of a checkpoint for writing another one, encoded a stretch of rows at a time.
// `lowRank`: a matrix as the product of two thin ones. `factorInputs`: a covariance as the triangle that feeds errors
// back.
#include <cstring>

#include "addon/environment.h"
#include "addon/jobs.h"
#include "addon/registry.h"
#include "addon/values/convert.h"
#include "addon/values/errors.h"
#include "addon/values/options.h"
#include "formats/blocks.h"
#include "formats/checkpoint.h"
#include "formats/error.h"
#include "quantize/blocks.h"
#include "quantize/feedback.h"
#include "quantize/low_rank.h"
#include "quantize/rows.h"

namespace longhand {

namespace {

constexpr int64_t most_rows = int64_t{1} << 40, most_columns = 65536;

Napi::Uint8Array to_js(Napi::Env env, const std::vector<std::byte>& bytes) {
  Napi::Uint8Array out = Napi::Uint8Array::New(env, bytes.size());
  if (!bytes.empty()) std::memcpy(out.Data(), bytes.data(), bytes.size());
  return out;
}

template <class Array, class Element>
std::vector<Element> numbers(const Napi::Value& value, napi_typedarray_type type, const char* what) {
  if (value.IsUndefined() || value.IsNull()) return {};
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    throw std::invalid_argument(std::string("[weights] ") + what + " is not a typed array of the expected type");
  const Array array = value.As<Array>();
  return std::vector<Element>(array.Data(), array.Data() + array.ElementLength());
}

std::vector<float> floats(const Napi::Value& value, const char* what) {
  return numbers<Napi::Float32Array, float>(value, napi_float32_array, what);
}

DType target_type(const std::string& name) {
  const std::optional<DType> type = type_named(Container::gguf, name);
  if (!type || !is_block_target(*type))
    throw std::invalid_argument(
        "[weights] the type \"" + name +
        "\" cannot be written, expected F32, F16, BF16, Q8_0, Q4_0, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K");
  return *type;
}

Rounding rounding_of(const std::string& name) {
  if (name == "rtn") return Rounding::nearest;
  if (name == "hqq") return Rounding::hqq;
  if (name == "weighted") return Rounding::weighted;
  throw std::invalid_argument("[weights] the method \"" + name + "\" is unknown, expected rtn, hqq or weighted");
}

class WeightSource : public Napi::ObjectWrap<WeightSource> {
 public:
  struct Open {
    std::shared_ptr<const Checkpoint> checkpoint;
    std::shared_ptr<Worker> worker;
  };

  explicit WeightSource(const Napi::CallbackInfo& info) : Napi::ObjectWrap<WeightSource>(info) {
    if (!info[0].IsExternal()) throw coded_error(info.Env(), "argument", "[weights] these are made by openWeights()");
    open_ = *info[0].As<Napi::External<Open>>().Data();
  }

  static Napi::Function constructor(Napi::Env env) {
    return DefineClass(
        env, "WeightSource",
        {InstanceMethod<&WeightSource::read>("read"), InstanceMethod<&WeightSource::affine>("affine"),
         InstanceMethod<&WeightSource::blocks>("blocks"), InstanceMethod<&WeightSource::close>("close")});
  }

 private:
  using Work = std::function<Operation::Convert(const WeightView&, const Stretch&)>;

  // What all three ask for: rows of a tensor, on the worker.
  Napi::Value on_rows(const Napi::CallbackInfo& info, const Options& options, Work work) {
    if (!open_.checkpoint) throw coded_error(info.Env(), "state", "[weights] this file is closed");
    const std::string name = string_argument(info, 0, "tensor");
    const WeightView* view = open_.checkpoint->find(name);
    if (view == nullptr) throw std::invalid_argument("[weights] there is no tensor \"" + name + "\"");
    const int64_t in = view->shape.empty() ? 1 : view->shape.back();
    const auto all = static_cast<double>(in == 0 ? 0 : view->elements() / in);
    const CancelFlag cancel = options.cancel("signal");
    Stretch stretch{.first = options.integer("first", 0, 0, most_rows)};
    stretch.count = options.integer("count", static_cast<int64_t>(all) - stretch.first, 0, most_rows);
    stretch.rows = numbers<Napi::Int32Array, int32_t>(options.get("rows"), napi_int32_array, "rows");
    stretch.columns = numbers<Napi::Int32Array, int32_t>(options.get("columns"), napi_int32_array, "columns");
    stretch.cancel = cancel.get();
    const auto operation = Operation::start(info.Env());
    post_job(*open_.worker, operation, nullptr, cancel,
             [checkpoint = open_.checkpoint, view, stretch, cancel, work = std::move(work)] {
               Operation::Convert convert = work(*view, stretch);
               if (stretch.rows.empty()) checkpoint->release(rows_of(*view, stretch.first, stretch.count));
               return convert;
             });
    return operation->promise();
  }

  Napi::Value read(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] {
      return on_rows(info, Options(info[1], "weights"), [](const WeightView& view, const Stretch& stretch) {
        return [values = read_stretch(view, stretch)](Napi::Env env) -> Napi::Value {
          return longhand::to_js(env, values);
        };
      });
    });
  }

  Napi::Value affine(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] {
      const Options options(info[1], "weights");
      AffineFormat format{.bits = static_cast<int>(options.integer("bits", 4, 2, 8)),
                          .group = static_cast<int>(options.integer("group", 64, 32, 128)),
                          .scale_type = target_type(options.text("scales", "F32")),
                          .rounding = rounding_of(options.text("method", "rtn"))};
      std::optional<InputFactor> inputs;
      if (options.has("feedback")) {
        const Options feedback = options.inner("feedback");
        inputs = {numbers<Napi::Int32Array, int32_t>(feedback.get("order"), napi_int32_array, "order"),
                  floats(feedback.get("triangle"), "triangle")};
      }
      return on_rows(info, options,
                     [format, inputs = std::move(inputs), importance = floats(options.get("importance"), "importance")](
                         const WeightView& view, const Stretch& stretch) {
                       return [rows = affine_rows(view, stretch, importance, format, inputs ? &*inputs : nullptr)](
                                  Napi::Env env) -> Napi::Value {
                         Napi::Object out = Napi::Object::New(env);
                         out.Set("codes", to_js(env, rows.codes));
                         out.Set("scales", to_js(env, rows.scales));
                         out.Set("biases", to_js(env, rows.biases));
                         out.Set("error", rows.loss.error);
                         out.Set("energy", rows.loss.energy);
                         return out;
                       };
                     });
    });
  }

  Napi::Value blocks(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] {
      const Options options(info[1], "weights");
      return on_rows(info, options,
                     [type = target_type(options.text("type", "F32")),
                      importance = floats(options.get("importance"), "importance")](const WeightView& view,
                                                                                    const Stretch& stretch) {
                       return [bytes = block_rows(view, stretch, importance, type)](Napi::Env env) -> Napi::Value {
                         return to_js(env, bytes);
                       };
                     });
    });
  }

  void close(const Napi::CallbackInfo&) { open_ = {}; }

  Open open_;
};

Napi::Value open_weights(const Napi::CallbackInfo& info) {
  const std::string path = string_argument(info, 0, "path");
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  const std::shared_ptr<Worker> worker = Environment::of(info.Env()).start_worker();
  post_job(*worker, operation, nullptr, nullptr, [path, worker]() -> Operation::Convert {
    return [open = WeightSource::Open{open_checkpoint(path), worker}](Napi::Env env) mutable -> Napi::Value {
      return Environment::of(env).weight_source.New({Napi::External<WeightSource::Open>::New(env, &open)});
    };
  });
  return promise;
}

Napi::Value low_rank_of(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto doubles = [](const Napi::Value& value, const char* what) {
      return numbers<Napi::Float64Array, double>(value, napi_float64_array, what);
    };
    const Options options(info[1], "lowRank");
    const int64_t rows = options.integer("rows", 0, 0, most_rows),
                  columns = options.integer("columns", 0, 0, most_rows);
    const int64_t rank = options.integer("rank", 1, 1, most_rows);
    std::vector<double> matrix = doubles(info[0], "the matrix");
    std::vector<double> covariance = doubles(options.get("covariance"), "the covariance");
    const auto is = [](const std::vector<double>& values, int64_t a, int64_t b) {
      return values.size() == static_cast<size_t>(a) * static_cast<size_t>(b);
    };
    if (!is(matrix, rows, columns) || (!covariance.empty() && !is(covariance, columns, columns)))
      throw std::invalid_argument("[lowRank] the matrix or the covariance has not the size that is told");
    return on_own_thread(
        info.Env(), [=, matrix = std::move(matrix), covariance = std::move(covariance)]() -> Operation::Convert {
          return [found = low_rank(matrix, rows, columns, rank, covariance)](Napi::Env env) -> Napi::Value {
            Napi::Object out = Napi::Object::New(env);
            out.Set("up", longhand::to_js(env, std::vector<float>(found.up.begin(), found.up.end())));
            out.Set("down", longhand::to_js(env, std::vector<float>(found.down.begin(), found.down.end())));
            out.Set("error", found.error);
            Napi::Float64Array energies = Napi::Float64Array::New(env, found.energies.size());
            std::ranges::copy(found.energies, energies.Data());
            out.Set("energies", energies);
            return out;
          };
        });
  });
}

Napi::Value factor_inputs_of(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Options options(info[1], "factorInputs");
    const int64_t columns = options.integer("columns", 0, 1, most_columns);
    const double damping = options.number("damping", 0.01, 0, 1e6);
    std::vector<double> covariance = numbers<Napi::Float64Array, double>(info[0], napi_float64_array, "the covariance");
    if (covariance.size() != static_cast<size_t>(columns) * static_cast<size_t>(columns))
      throw std::invalid_argument("[factorInputs] the covariance has " + std::to_string(covariance.size()) +
                                  " values, expected the square of " + std::to_string(columns));
    return on_own_thread(
        info.Env(), [columns, damping, covariance = std::move(covariance)]() mutable -> Operation::Convert {
          return [found = factor_inputs(std::move(covariance), columns, damping)](Napi::Env env) -> Napi::Value {
            Napi::Object out = Napi::Object::New(env);
            out.Set("order", longhand::to_js(env, found.order));
            out.Set("triangle", longhand::to_js(env, found.triangle));
            return out;
          };
        });
  });
}

}  // namespace

void register_weight_source(Napi::Env env, Napi::Object exports) {
  const Napi::Function constructor = WeightSource::constructor(env);
  Environment::of(env).weight_source = Napi::Persistent(constructor);
  exports.Set("openWeights", Napi::Function::New(env, open_weights, "openWeights"));
  exports.Set("factorInputs", Napi::Function::New(env, factor_inputs_of, "factorInputs"));
  exports.Set("lowRank", Napi::Function::New(env, low_rank_of, "lowRank"));
}

}  // namespace longhand
