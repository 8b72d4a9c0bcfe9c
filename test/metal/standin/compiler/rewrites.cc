// Expressions and local variables that plain clang does not take as Metal writes them.
#include <set>

#include "compiler/preprocessor.h"

namespace standin {
namespace {
const std::set<std::string> vecnames = [] {
  std::set<std::string> v;
  for (auto t : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bfloat"})
    for (auto n : {"2", "3", "4"}) v.insert(std::string(t) + n);
  return v;
}();
const std::set<std::string> banned = {"double",       "goto",  "new",        "delete",       "throw",
                                      "try",          "catch", "virtual",    "dynamic_cast", "typeid",
                                      "thread_local", "asm",   "long_double"};
}  // namespace

void Preprocessor::expressions() {
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

void Preprocessor::body(size_t a, size_t b, bool kernel) {
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

}  // namespace standin
