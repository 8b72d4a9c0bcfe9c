#include "compiler/preprocess.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/preprocessor.h"

namespace standin {
namespace {
std::string quoted(const std::string& s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    r += c;
  }
  return r + "\"";
}
}  // namespace

void Preprocessor::decls(size_t i, size_t end, const std::string& ns) {
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

void Preprocessor::emit_listed() {
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

void Preprocessor::emit() {
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
        desc += "{" + quoted(a.name) + ", " + quoted(a.type) + ", " + (a.role == "buffer" ? "0" : "1") + ", " + bi +
                ", " + (a.is_ref ? "1" : "0") + ", " + (a.is_const ? "1" : "0") + ", __mtl::arg_size(&" + e.expr +
                ", " + std::to_string(ai) + "), " + quoted(a.cond) + "}, ";
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
    s += "{" + quoted(f.name) + ", " + quoted(f.type) + ", " + std::to_string(f.index) + ", &" + f.name +
         ", &__fc_defined_" + f.name + ", sizeof(" + f.name + ")}, ";
  s += "{0,0,0,0,0,0}};\nextern \"C\" __attribute__((visibility(\"default\"))) const mtl_library_desc mtl_library = "
       "{__mtl_ks, " +
       std::to_string(entries.size()) + ", __mtl_fcs, " + std::to_string(fcs.size()) + "};\n";
}

Preprocessed preprocess(const std::string& text, bool strict, const std::map<int, uint32_t>* constants) {
  Preprocessor p(text, strict, constants);
  p.expressions();
  p.decls(0, p.t.size(), "");
  p.emit();
  return p.out;
}
}  // namespace standin
