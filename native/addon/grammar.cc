#include "addon/grammar.h"

#include "addon/environment.h"
#include "addon/jobs.h"
#include "addon/registry.h"
#include "addon/values/convert.h"
#include "addon/values/errors.h"
#include "addon/values/values.h"
#include "grammar/read.h"

namespace longhand {

namespace {

using grammar::Vocabulary;
using GrammarPtr = std::shared_ptr<grammar::Grammar>;
using VocabularyPtr = std::shared_ptr<const Vocabulary>;

grammar::Syntax read_as(const std::string& kind, const std::string& text) {
  if (kind == "json-schema") return grammar::read_json_schema(text);
  if (kind == "regex") return grammar::read_regex(text);
  if (kind == "parts") return grammar::read_parts(text);
  return grammar::read_gbnf(text);
}

Napi::Value words_of(Napi::Env env, const grammar::Mask& mask) {
  Napi::Uint32Array out = Napi::Uint32Array::New(env, mask.size());
  std::ranges::copy(mask, out.Data());
  return out;
}

class GrammarObject : public Napi::ObjectWrap<GrammarObject> {
 public:
  explicit GrammarObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<GrammarObject>(info) {
    if (!info[0].IsExternal()) throw coded_error(info.Env(), "argument", "[grammar] these are made by grammar()");
    grammar_ = *info[0].As<Napi::External<GrammarPtr>>().Data();
  }
  static Napi::Function constructor(Napi::Env env) {
    return DefineClass(
        env, "Grammar",
        {InstanceMethod<&GrammarObject::after>("after"), InstanceMethod<&GrammarObject::admits>("admits")});
  }
  static GrammarPtr of(const Napi::Value& value) {
    if (!value.IsObject()) return nullptr;
    const Napi::Object object = value.As<Napi::Object>();
    if (!object.InstanceOf(Environment::of(value.Env()).grammar.Value())) return nullptr;
    return Unwrap(object)->grammar_;
  }

 private:
  // The text so far, as tokens.
  std::optional<grammar::Matcher> read(const Napi::CallbackInfo& info) {
    grammar::Matcher matcher(grammar_);
    for (const int32_t token : token_array(info[0], "grammar")) {
      if (token < 0 || static_cast<size_t>(token) >= grammar_->vocabulary().size())
        throw std::invalid_argument("[grammar] the token " + std::to_string(token) + " is not in the vocabulary");
      if (!matcher.accept(grammar_->vocabulary().text(token))) return std::nullopt;
    }
    return matcher;
  }
  Napi::Value after(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      std::optional<grammar::Matcher> matcher = read(info);
      if (!matcher) return info.Env().Null();
      Napi::Object out = Napi::Object::New(info.Env());
      out.Set("allowed", words_of(info.Env(), matcher->mask()));
      out.Set("ends", matcher->may_end());
      out.Set("complete", matcher->complete());
      const std::string forced = matcher->forced(256);
      out.Set("forced", Napi::Buffer<char>::Copy(info.Env(), forced.data(), forced.size()));
      const std::vector<int32_t> tokens = grammar_->vocabulary().encode(forced);
      out.Set("forcedTokens", longhand::to_js(info.Env(), tokens));
      return out;
    });
  }
  // One token at a time, without a mask.
  Napi::Value admits(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
      std::optional<grammar::Matcher> matcher = read(info);
      grammar::Mask mask(grammar_->vocabulary().words(), 0);
      for (size_t id = 0; matcher && id < grammar_->vocabulary().size(); ++id)
        if (matcher->allows(static_cast<int32_t>(id))) mask[id / 32] |= 1u << (id % 32);
      return words_of(info.Env(), mask);
    });
  }

  GrammarPtr grammar_;
};

class VocabularyObject : public Napi::ObjectWrap<VocabularyObject> {
 public:
  explicit VocabularyObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<VocabularyObject>(info) {
    if (!info[0].IsExternal()) throw coded_error(info.Env(), "argument", "[grammar] these are made by vocabulary()");
    vocabulary_ = *info[0].As<Napi::External<VocabularyPtr>>().Data();
  }
  static Napi::Function constructor(Napi::Env env) {
    return DefineClass(env, "Vocabulary", {InstanceMethod<&VocabularyObject::compile>("grammar")});
  }

 private:
  Napi::Value compile(const Napi::CallbackInfo& info) {
    const std::string kind = string_argument(info, 0, "kind"), text = string_argument(info, 1, "text");
    if (kind != "json-schema" && kind != "regex" && kind != "gbnf" && kind != "parts")
      throw coded_error(
          info.Env(), "argument",
          "[grammar] the kind is \"" + kind.substr(0, 40) + "\", expected json-schema, regex, gbnf or parts");
    return on_own_thread(info.Env(), [kind, text, vocabulary = vocabulary_]() -> Operation::Convert {
      auto made = std::make_shared<grammar::Grammar>(read_as(kind, text), vocabulary);
      return [made](Napi::Env env) mutable -> Napi::Value {
        return Environment::of(env).grammar.New({Napi::External<GrammarPtr>::New(env, &made)});
      };
    });
  }

  VocabularyPtr vocabulary_;
};

std::vector<std::string> texts_of(const std::string& bytes, const std::vector<uint32_t>& ends) {
  std::vector<std::string> texts;
  texts.reserve(ends.size());
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    if (end < begin || end > bytes.size())
      throw std::invalid_argument("[vocabulary] the ends of the texts do not ascend");
    texts.push_back(bytes.substr(begin, end - begin));
    begin = end;
  }
  return texts;
}

Napi::Value make_vocabulary(const Napi::CallbackInfo& info) {
  const auto is = [](const Napi::Value& value, napi_typedarray_type type) {
    return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
  };
  if (!is(info[0], napi_uint8_array) || !is(info[1], napi_uint32_array))
    throw coded_error(info.Env(), "argument",
                      "[vocabulary] it takes a Uint8Array of all texts and a Uint32Array of their ends");
  const auto bytes = info[0].As<Napi::Uint8Array>();
  const auto ends = info[1].As<Napi::Uint32Array>();
  return on_own_thread(
      info.Env(),
      [bytes = std::string(reinterpret_cast<const char*>(bytes.Data()), bytes.ElementLength()),
       ends = std::vector<uint32_t>(ends.Data(), ends.Data() + ends.ElementLength())]() -> Operation::Convert {
        VocabularyPtr made = std::make_shared<const Vocabulary>(texts_of(bytes, ends));
        return [made](Napi::Env env) mutable -> Napi::Value {
          return Environment::of(env).vocabulary.New({Napi::External<VocabularyPtr>::New(env, &made)});
        };
      });
}

}  // namespace

GuideOptions guide_of(Napi::Env env, const Options& options) {
  GuideOptions out;
  if (!options.has("grammar")) return out;
  out.grammar = GrammarObject::of(options.get("grammar"));
  if (!out.grammar) throw coded_error(env, "argument", "[generate] grammar is not an instance of Grammar");
  const std::string begin = options.text("thinking", "none");
  if (begin == "open") out.begin = GuideOptions::Begin::thinking;
  else if (begin == "may-open") out.begin = GuideOptions::Begin::either;
  else if (begin != "none")
    throw coded_error(env, "argument",
                      "[generate] thinking is \"" + begin.substr(0, 40) + "\", expected none, open or may-open");
  out.open = options.tokens("opens");
  out.close = options.tokens("closes");
  for (const std::vector<int32_t>& tokens : {out.open, out.close, options.tokens("stopTokens")})
    for (const int32_t token : tokens)
      if (static_cast<size_t>(token) >= out.grammar->vocabulary().size())
        throw coded_error(env, "argument",
                          "[generate] the token " + std::to_string(token) + " is not in the vocabulary of the grammar");
  return out;
}

void register_grammar(Napi::Env env, Napi::Object exports) {
  const Napi::Function grammar = GrammarObject::constructor(env), vocabulary = VocabularyObject::constructor(env);
  Environment::of(env).grammar = Napi::Persistent(grammar);
  Environment::of(env).vocabulary = Napi::Persistent(vocabulary);
  exports.Set("vocabulary", Napi::Function::New(env, make_vocabulary, "vocabulary"));
}

}  // namespace longhand
