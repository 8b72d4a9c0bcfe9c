// Parameters of kernels and of their helpers: their roles, and what Metal wants of them.
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "compiler/preprocessor.h"

namespace standin {

const std::map<std::string, std::string> builtin_args = {{"thread_position_in_grid", "u3"},
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

namespace {
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
}  // namespace

std::vector<Argument> Preprocessor::params(size_t o) {
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

void Preprocessor::helper_params(size_t o) {
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

}  // namespace standin
