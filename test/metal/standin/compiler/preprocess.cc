#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <set>

#include "compiler/preprocess.h"
#include "compiler/tokens.h"
namespace standin {
namespace {
const std::set<std::string> vecnames = [] {
  std::set<std::string> v;
  for (auto t : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bfloat"})
    for (auto n : {"2", "3", "4"}) v.insert(std::string(t) + n);
  return v;
}();
const std::map<std::string, std::string> builtin_args = {  // role -> glue type
    {"thread_position_in_grid", "u3"},
    {"threadgroup_position_in_grid", "u3"},
    {"thread_position_in_threadgroup", "u3"},
    {"threads_per_threadgroup", "u3"},
    {"threadgroups_per_grid", "u3"},
    {"threads_per_grid", "u3"},
    {"dispatch_threads_per_threadgroup", "u3"},
    {"thread_index_in_threadgroup", "u1"},
    {"thread_index_in_simdgroup", "u1"},
    {"simdgroup_index_in_threadgroup", "u1"},
    {"simdgroups_per_threadgroup", "u1"},
    {"quadgroup_index_in_threadgroup", "u1"},
    {"thread_index_in_quadgroup", "u1"},
    {"threads_per_simdgroup", "u1"}};
// Positions and sizes of a kernel: Apple's compiler wants them all scalars, or all vectors of one length.
bool is_position(const std::string& role) {
  const auto found = builtin_args.find(role);
  return found != builtin_args.end() && found->second == "u3";
}
// Elements of "uint", "ushort2", "vec<uint, 3>"; 0 for another type.
int elements_of(const std::string& type) {
  std::string word;
  for (const char c : type)
    if (!isspace((unsigned char)c)) word += c;
  if (word.rfind("const", 0) == 0) word = word.substr(5);
  if (word == "uint" || word == "ushort") return 1;
  for (const char* scalar : {"uint", "ushort", "vec<uint,", "vec<ushort,"}) {
    const size_t n = strlen(scalar);
    if (word.rfind(scalar, 0) == 0 && word.size() > n && word[n] >= '2' && word[n] <= '3') return word[n] - '0';
  }
  return 0;
}
const std::set<std::string> banned = {"double",       "goto",  "new",        "delete",       "throw",
                                      "try",          "catch", "virtual",    "dynamic_cast", "typeid",
                                      "thread_local", "asm",   "long_double"};

struct Preprocessor : Tokens {
  bool strict;
  const std::map<int, uint32_t>* constants;
  Preprocessed out;
  std::list<Kernel> kernels;
  std::vector<Entry> entries;
  std::vector<FunctionConstant> fcs;
  int tgid = 0;
  Preprocessor(const std::string& text, bool strict_pass, const std::map<int, uint32_t>* known)
      : Tokens(text), strict(strict_pass), constants(known) {}
  void err(const Token& k, const std::string& m) {
    out.errors.push_back(k.file + ":" + std::to_string(k.line) + ": error: " + m);
  }

  void expressions() {  // float4(…) and vec<T,4>(…) are conversions plain clang lacks; double literals and keywords
    for (size_t i = 0; i < t.size(); i++) {
      if (attr(i) && (is(i + 2, "buffer") || is(i + 2, "threadgroup") || builtin_args.count(t[i + 2].s))) {
        size_t m = match(i);
        blank(i, m + 1);
        i = m;
        continue;
      }
      if (t[i].k != 'i') continue;
      if (t[i].s == "constant" && (is(i + 1, "constexpr") || is(i + 1, "static") ||
                                   (i && (is(i - 1, "static") || is(i - 1, "constexpr") ||
                                          (is(i - 1, "const") && i > 1 && is(i - 2, "static"))))))
        replace(i, strict ? "__constant" : "const");
      if (banned.count(t[i].s)) err(t[i], "'" + t[i].s + "' is not allowed in Metal");
      if (vecnames.count(t[i].s) && is(i + 1, "(") && !(i && is(i - 1, "operator"))) replace(i, "__mk_" + t[i].s);
      if (t[i].s == "vec" && is(i + 1, "<")) {
        size_t e = angle(i + 1);
        if (is(e + 1, "(") && !(i && is(i - 1, "operator"))) replace(i, "__mk_vec");
      }
    }
  }
  // threadgroup T a[N], b;  ->  auto &a = *(threadgroup T(*)[N])mtl_tg_alloc(id, …); …
  void body(size_t a, size_t b, bool kernel) {
    for (size_t i = a; i < b; i++) {
      if (t[i].s != "threadgroup" || !(is(i - 1, "{") || is(i - 1, "}") || is(i - 1, ";"))) {
        if (t[i].s == "static") err(t[i], "static local variables are not allowed in Metal");
        continue;
      }
      size_t e = i;
      bool ptr = false;
      size_t nm = 0;
      for (; e < b; e++) {
        if (is(e, "<")) {
          e = angle(e);
          continue;
        }
        if (is(e, "(")) {
          e = match(e);
          continue;
        }
        if (is(e, ";") || is(e, "=")) break;
        if (is(e, "*") || is(e, "&")) {
          ptr = true;
          break;
        }
        if (!nm && (is(e, "[") || is(e, ","))) nm = e - 1;
        if (is(e, "[")) e = match(e);
      }
      if (ptr) continue;
      if (!kernel) {
        err(t[i], "threadgroup variables live in kernels only");
        continue;
      }
      if (is(e, "=")) {
        err(t[i], "threadgroup variables cannot be initialised");
        continue;
      }
      if (!nm) nm = e - 1;
      std::string ty = text(i + 1, nm), r;
      size_t d = nm;
      for (;;) {
        size_t x = d + 1;
        while (is(x, "[")) x = match(x) + 1;
        std::string name = t[d].s, ext = text(d + 1, x), full = ty + ext;
        r += "auto& " + name + " = *(threadgroup " + ty + (ext.empty() ? "*" : "(*)" + ext) + ")mtl_tg_alloc(" +
             std::to_string(tgid++) + ", sizeof(" + full + "), alignof(" + ty + ")); ";
        if (!is(x, ",")) break;
        d = x + 1;
      }
      size_t nl = 0;
      for (size_t q = t[i].b; q < t[e].e; q++) nl += in[q] == '\n';
      ed.push_back({t[i].b, t[e].e, r + std::string(nl, '\n')});
      i = e;
    }
  }
  std::vector<Argument> params(size_t o) {  // t[o] is '('
    std::vector<Argument> v;
    size_t c = match(o), s = o + 1;
    while (s < c) {
      size_t e = s;
      while (e < c && !is(e, ",")) {
        if (is(e, "(") || is(e, "[")) e = match(e);
        else if (is(e, "<")) e = angle(e);
        e++;
      }
      Argument a;
      size_t nameat = 0, lastty = s;
      for (size_t i = s; i < e; i++) {
        if (attr(i)) {
          size_t x = match(i);
          for (size_t q = i + 2; q < x - 1; q++)
            if (t[q].k == 'i') {
              std::string n = t[q].s, v2;
              if (is(q + 1, "(")) {
                size_t m = match(q + 1);
                v2 = text(q + 2, m);
                q = m;
              }
              if (n == "buffer" || n == "threadgroup") {
                a.role = n;
                char* end;
                a.index = (int)strtol(v2.c_str(), &end, 10);
                if (v2.empty() || *end) err(t[i], "[[" + n + "(…)]] needs a literal index, got '" + v2 + "'");
                if (a.index < 0 || a.index > 30) err(t[i], n + " index out of range (0..30)");
              } else if (builtin_args.count(n)) a.role = n;
              else if (n == "function_constant") a.cond = v2;
              else if (n == "texture" || n == "sampler" || n == "stage_in")
                err(t[i], "[[" + n + "]] is not supported by this harness");
              else err(t[i], "unknown argument attribute [[" + n + "]]");
            }
          blank(i, x + 1);
          i = x;
          continue;
        }
        if (is(i, "[")) {
          a.is_ptr = true;
          i = match(i);
          continue;
        }
        if (is(i, "*")) a.is_ptr = true;
        if (is(i, "&")) a.is_ref = true;
        if (is(i, "const") || is(i, "constant")) a.is_const = true;
        if (t[i].k == 'i') {
          nameat = i;
        }
        lastty = i;
      }
      (void)lastty;
      if (e > s) {
        a.name = nameat ? t[nameat].s : "?";
        a.type = text(s, nameat ? nameat : e);
        if (a.role.empty()) err(t[s], "kernel argument '" + a.name + "' has no attribute");
        bool as = a.type.find("device") != std::string::npos || a.type.find("constant") != std::string::npos ||
                  a.type.find("threadgroup") != std::string::npos;
        if (a.role == "buffer" && !(a.is_ptr || a.is_ref))
          err(t[s], "buffer argument '" + a.name + "' must be a pointer or reference");
        if ((a.is_ptr || a.is_ref) && !as) err(t[s], "argument '" + a.name + "' needs an address space");
        if (a.role == "threadgroup" && a.type.find("threadgroup") == std::string::npos)
          err(t[s], "[[threadgroup]] argument '" + a.name + "' is not in threadgroup memory");
        if (a.role == "buffer" && a.type.find("threadgroup") != std::string::npos)
          err(t[s], "[[buffer]] argument '" + a.name + "' is in threadgroup memory");
        const bool position = is_position(a.role);
        if (position && !elements_of(a.type))
          err(t[s],
              "[[" + a.role + "]] must be uint, ushort or a vector of 2 or 3 of them, '" + a.name + "' is " + a.type);
        for (auto& o2 : v)
          if (position && is_position(o2.role) && elements_of(o2.type) != elements_of(a.type)) {
            err(t[s], "'" + o2.name + "' and '" + a.name +
                          "': expecting input declarations with either all scalar types or all vector types with the "
                          "same number of elements");
            break;
          }
        for (auto& o2 : v)
          if ((a.role == "buffer" || a.role == "threadgroup") && o2.role == a.role && o2.index == a.index)
            err(t[s], "duplicate " + a.role + " index " + std::to_string(a.index));
        v.push_back(a);
      }
      s = e + 1;
    }
    return v;
  }
  void helper_params(size_t o) {  // Metal wants an address space on every pointer and reference parameter
    for (size_t c = match(o), s = o + 1; s < c;) {
      size_t e = s;
      bool ptr = false, as = false;
      for (; e < c && !is(e, ","); e++) {
        ptr |= is(e, "*") || is(e, "&");
        as |= is(e, "device") || is(e, "constant") || is(e, "threadgroup") || is(e, "thread");
        if (is(e, "<")) e = angle(e);
        else if (is(e, "[")) e = match(e);
        else if (is(e, "(")) {
          size_t m = match(e);
          for (; e < m; e++) ptr |= is(e, "*") || is(e, "&");
        }
      }
      if (ptr && !as) err(t[s], "pointer or reference parameter '" + text(s, e) + "' needs an address space");
      s = e + 1;
    }
  }
  void decls(size_t i, size_t end, const std::string& ns) {
    while (i < end) {
      if (is(i, ";") || is(i, "}")) {
        i++;
        continue;
      }
      if (is(i, "namespace")) {
        size_t b = i;
        while (b < end && !is(b, "{") && !is(b, ";") && !is(b, "=")) b++;
        if (is(b, "{")) {
          size_t e = match(b);
          std::string n = b > i + 1 ? ns + text(i + 1, b) + "::" : ns;
          decls(b + 1, e, n);
          i = e + 1;
          continue;
        }
      }
      if (is(i, "extern") && is(i + 1, "\"C\"") && is(i + 2, "{")) {
        size_t e = match(i + 2);
        decls(i + 3, e, ns);
        i = e + 1;
        continue;
      }
      // one declaration: up to ';' or the '}' of its body
      size_t b = i;
      bool tmpl = false, inst = false;
      while (is(i, "template")) {
        if (is(i + 1, "<")) {
          tmpl = true;
          i = angle(i + 1) + 1;
        } else {
          inst = true;
          i++;
        }
      }
      std::string host, max_threads = "0";
      bool kernel = false;
      size_t paren = 0, fc = 0;
      int fcidx = -1;
      size_t e = i;
      bool cls = false, typedef_ = false, eq = false;
      std::vector<std::pair<size_t, size_t>> attrs, kw;
      size_t constant_at = 0;
      for (; e < end; e++) {
        if (attr(e)) {
          size_t x = match(e);
          bool eat = false;
          for (size_t q = e + 2; q < x - 1; q++) {
            if (is(q, "host_name")) {
              for (size_t literal = q + 2; literal < match(q + 1); literal++) host += t[literal].s + " ";
              eat = true;
            }
            if (is(q, "kernel")) kernel = eat = true;
            if (is(q, "function_constant")) {
              fc = e;
              fcidx = atoi(t[q + 2].s.c_str());
              eat = true;
            }
            if (is(q, "max_total_threads_per_threadgroup")) {
              max_threads = text(q + 2, match(q + 1));
              q = match(q + 1);
              eat = true;
            }
          }
          if (eat) attrs.push_back({e, x + 1});
          e = x;
          continue;
        }
        if (is(e, "kernel")) {
          kernel = true;
          kw.push_back({e, e + 1});
          continue;
        }
        if (is(e, "struct") || is(e, "class") || is(e, "enum") || is(e, "union")) cls = true;
        if (is(e, "typedef") || is(e, "using")) typedef_ = true;
        if (is(e, "constant") && !constant_at && !eq && !paren) constant_at = e;
        if (is(e, "=")) eq = true;
        if (is(e, "<") && !eq) {
          e = angle(e);
          continue;
        }
        if (is(e, "(")) {
          if (!paren && !eq && !(e && is(e - 1, "decltype"))) paren = e;
          e = match(e);
          continue;
        }
        if (is(e, "[")) {
          e = match(e);
          continue;
        }
        if (is(e, ";")) break;
        if (is(e, "{")) {
          size_t m = match(e);
          if (paren && !cls && !eq) {
            break;
          }
          e = m;
          if (!cls && !eq) break;
          continue;
        }
      }
      if (inst && kernel)
        for (size_t q = paren; paren && q < e; q++)
          if (attr(q)) {
            size_t m = match(q);
            blank(q, m + 1);
            q = m;
          }
      if (inst && !host.empty()) {  // template [[host_name("x")]] [[kernel]] <ret> f<…>[(…)];
        for (auto& a : attrs) blank(a.first, a.second);
        for (auto& a : kw) blank(a.first, a.second);
        // the function name: last identifier followed by '<…>' and then '(' or ';'
        size_t f = 0, fe = 0;
        for (size_t q = i; q < e; q++) {
          if (attr(q)) {
            q = match(q);
            continue;
          }
          if (is(q, "decltype")) {
            q = match(q + 1);
            continue;
          }
          if (t[q].k == 'i' && is(q + 1, "<")) {
            size_t m = angle(q + 1);
            if (is(m + 1, "(") || is(m + 1, ";")) {
              f = q;
              fe = m + 1;
              break;
            }
            q = m;
          }
        }
        const Kernel* k = nullptr;
        if (f)
          for (auto& kk : kernels)
            if (kk.name == ns + t[f].s) k = &kk;
        if (!k) err(t[b], "explicit instantiation of an unknown kernel template");
        else {
          entries.push_back({host, ns + text(f, fe), k});
        }
        i = e + 1;
        continue;
      }
      if (kernel && is(e, "{")) {
        for (auto& a : attrs) blank(a.first, a.second);
        for (auto& a : kw) blank(a.first, a.second);
        Kernel k;
        k.name = ns + t[paren - 1].s;
        k.is_template = tmpl;
        k.max_threads = max_threads;
        k.args = params(paren);
        kernels.push_back(k);
        if (!tmpl) entries.push_back({host.empty() ? "\"" + t[paren - 1].s + "\"" : host, k.name, &kernels.back()});
        size_t m = match(e);
        body(e + 1, m, true);
        i = m + 1;
        continue;
      }
      if (is(i, "static_assert")) {
        i = e + 1;
        continue;
      }
      if (paren && !kernel && !cls && !typedef_ && (is(e, "{") || is(e, ";"))) helper_params(paren);
      if (fc) {  // constant T name [[function_constant(n)]];
        size_t nm = fc - 1;
        std::string ty = text(constant_at + 1, nm);
        fcs.push_back({t[nm].s, ty, fcidx});
        const auto known = constants ? constants->find(fcidx) : std::map<int, uint32_t>::const_iterator{};
        const std::string value = constants && known != constants->end() ? std::to_string(known->second) : "0";
        std::string r = constants ? "static const " + ty + " " + t[nm].s + " = " + ty + "(" + value +
                                        "); static const bool __fc_defined_" + t[nm].s + " = true;"
                        : strict ? "constexpr __constant " + ty + " " + t[nm].s + " = " + ty +
                                       "(); constexpr __constant bool __fc_defined_" + t[nm].s + " = true;"
                                 : "static " + ty + " " + t[nm].s + "; static bool __fc_defined_" + t[nm].s + ";";
        ed.push_back({t[b].b, t[e].e, r});
        i = e + 1;
        continue;
      }
      if (is(e, "{")) {
        size_t m = match(e);
        body(e + 1, m, false);
        i = m + 1;
        continue;
      }
      if (constant_at && !cls && !typedef_ && !paren)
        replace(constant_at, strict ? "__constant" : "const");  // program-scope constant object
      else if (!cls && !typedef_ && !paren && !tmpl && !inst && e > i + 1 && !is(i, "static_assert")) {
        bool c = false;
        for (size_t q = i; q < e; q++) c |= is(q, "constant") || is(q, "constexpr");
        if (!c) err(t[i], "program-scope variable must be in the constant address space");
      }
      i = e + 1;
    }
  }
  // Every kernel as a function of its host name, for a listing: nothing calls it.
  void emit_listed() {
    out.text += "\n# 1 \"<entry points>\"\n#pragma clang diagnostic ignored \"-Wreturn-type-c-linkage\"\n";
    int n = 0;
    for (auto& e : entries) {
      std::string call;
      for (auto& a : e.k->args) {
        const std::string slot = "[" + std::to_string(a.index) + "]}";
        if (!call.empty()) call += ", ";
        if (a.role == "buffer") call += (a.is_ref ? "__mtl::ref{a->buf" : "__mtl::ptr{a->buf") + slot;
        else if (a.role == "threadgroup") call += "__mtl::ptr{a->tg" + slot;
        else call += "__mtl::" + builtin_args.at(a.role) + "{l->" + a.role + "}";
      }
      const std::string name = "__mtl_listed" + std::to_string(n++);
      out.text += "extern \"C\" void " + name + "(const mtl_args* a, const mtl_lane* l) __asm__(\"kernel.\" " + e.host +
                  "); extern \"C\" void " + name + "(const mtl_args* a, const mtl_lane* l) { (void)a; (void)l; " +
                  e.expr + "(" + call + "); }\n";
    }
  }
  static std::string q(const std::string& s) {
    std::string r = "\"";
    for (char c : s) {
      if (c == '"' || c == '\\') r += '\\';
      r += c;
    }
    return r + "\"";
  }
  void emit() {
    std::string& s = out.text;
    size_t p = 0;
    std::sort(ed.begin(), ed.end(), [](const Edit& a, const Edit& b) { return a.b < b.b; });
    for (size_t i = 0; i < ed.size(); i++) {
      if (ed[i].b < p) {
        continue;
      }
      s.append(in, p, ed[i].b - p);
      s += ed[i].s;
      p = ed[i].e;
    }
    s.append(in, p, std::string::npos);
    if (strict || !out.errors.empty()) return;
    if (constants) return emit_listed();
    s += "\n# 1 \"<entry points>\"\n#pragma clang diagnostic ignored \"-Wreturn-type-c-linkage\"\n";
    int n = 0;
    for (auto& e : entries) {
      std::string id = std::to_string(n++), call, desc;
      int ai = 0;
      for (auto& a : e.k->args) {
        if (!call.empty()) call += ", ";
        std::string bi = std::to_string(a.index);
        if (a.role == "buffer") call += (a.is_ref ? "__mtl::ref{a->buf[" : "__mtl::ptr{a->buf[") + bi + "]}";
        else if (a.role == "threadgroup") call += "__mtl::ptr{a->tg[" + bi + "]}";
        else call += "__mtl::" + builtin_args.at(a.role) + "{l->" + a.role + "}";
        if (a.role == "buffer" || a.role == "threadgroup") {
          desc += "{" + q(a.name) + ", " + q(a.type) + ", " + (a.role == "buffer" ? "0" : "1") + ", " + bi + ", " +
                  (a.is_ref ? "1" : "0") + ", " + (a.is_const ? "1" : "0") + ", __mtl::arg_size(&" + e.expr + ", " +
                  std::to_string(ai) + "), " + q(a.cond) + "}, ";
        }
        ai++;
      }
      s += "__attribute__((disable_sanitizer_instrumentation)) static void __mtl_e" + id +
           "(const mtl_args* a, const mtl_lane* l) { (void)a; (void)l; " + e.expr + "(" + call + "); }\n";
      s += "static const mtl_arg_desc __mtl_a" + id + "[] = {" + desc + "{0,0,0,0,0,0,0,0}};\n";
    }
    s += "static const mtl_kernel_desc __mtl_ks[] = {";
    n = 0;
    for (auto& e : entries) {
      int nd = 0;
      for (auto& a : e.k->args) nd += a.role == "buffer" || a.role == "threadgroup";
      std::string id = std::to_string(n++);
      s += "{" + e.host + ", __mtl_e" + id + ", __mtl_a" + id + ", " + std::to_string(nd) + ", " + e.k->max_threads +
           "}, ";
    }
    s += "{0,0,0,0,0}};\nstatic const mtl_fc_desc __mtl_fcs[] = {";
    for (auto& f : fcs)
      s += "{" + q(f.name) + ", " + q(f.type) + ", " + std::to_string(f.index) + ", &" + f.name + ", &__fc_defined_" +
           f.name + ", sizeof(" + f.name + ")}, ";
    s += "{0,0,0,0,0,0}};\nextern \"C\" __attribute__((visibility(\"default\"))) const mtl_library_desc mtl_library = "
         "{__mtl_ks, " +
         std::to_string(entries.size()) + ", __mtl_fcs, " + std::to_string(fcs.size()) + "};\n";
  }
};
}  // namespace
Preprocessed preprocess(const std::string& text, bool strict, const std::map<int, uint32_t>* constants) {
  Preprocessor p(text, strict, constants);
  p.expressions();
  p.decls(0, p.t.size(), "");
  p.emit();
  return p.out;
}
}  // namespace standin
