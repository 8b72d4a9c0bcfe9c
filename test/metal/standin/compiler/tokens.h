// The text of a preprocessed Metal file as tokens, and a list of replacements to make in it.
#pragma once

#include <cctype>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace standin {

struct Token {
  size_t b, e;  // the bytes [b, e) of the text
  char k;       // i(dentifier), n(umber), s(tring), p(unctuation)
  int line;
  std::string s;
  std::string file;
};
struct Edit {
  size_t b, e;
  std::string s;
};

struct Tokens {
  const std::string& in;
  std::vector<Token> t;
  std::vector<Edit> ed;

  explicit Tokens(const std::string& text) : in(text) { lex(); }
  bool is(size_t i, const char* s) const { return i < t.size() && t[i].s == s; }

  // Text from the stand-in's own headers (flag 3 of a line marker: system header) is passed through unseen.
  void lex() {
    size_t i = 0, n = in.size();
    bool user = true, bol = true;
    int line = 1;
    std::string file;
    while (i < n) {
      char c = in[i];
      if (c == '\n') {
        line++;
        i++;
        bol = true;
        continue;
      }
      if (bol && c == '#') {  // # 12 "file" flags
        size_t e = in.find('\n', i);
        if (e == std::string::npos) e = n;
        std::string l = in.substr(i, e - i);
        int no;
        if (sscanf(l.c_str(), "# %d", &no) == 1) {
          size_t q = l.find('"'), q2 = l.rfind('"');
          if (q != std::string::npos) {
            file = l.substr(q + 1, q2 - q - 1);
            line = no - 1;
            user = l.find(" 3", q2) == std::string::npos;
          }
        }
        i = e;
        continue;
      }
      bol = bol && isspace((unsigned char)c);
      if (!user) {
        i++;
        continue;
      }
      if (isspace((unsigned char)c)) {
        i++;
        continue;
      }
      size_t b = i;
      char k;
      if (isalpha((unsigned char)c) || c == '_') {
        while (i < n && (isalnum((unsigned char)in[i]) || in[i] == '_')) i++;
        k = 'i';
      } else if (isdigit((unsigned char)c) || (c == '.' && i + 1 < n && isdigit((unsigned char)in[i + 1]))) {
        while (i < n && (isalnum((unsigned char)in[i]) || in[i] == '.' ||
                         ((in[i] == '+' || in[i] == '-') && strchr("eEpP", in[i - 1]))))
          i++;
        k = 'n';
      } else if (c == '"' || c == '\'') {
        i++;
        while (i < n && in[i] != c) i += in[i] == '\\' ? 2 : 1;
        i++;
        k = 's';
      } else {
        i++;
        k = 'p';
        if (c == ':' && i < n && in[i] == ':') i++;
        else if (c == '-' && i < n && in[i] == '>') i++;
      }
      t.push_back({b, i, k, line, in.substr(b, i - b), file});
    }
  }
  size_t match(size_t i) const {  // index of the bracket that closes t[i]
    int d = 0;
    for (; i < t.size(); i++) {
      const std::string& s = t[i].s;
      if (s == "(" || s == "[" || s == "{") d++;
      else if (s == ")" || s == "]" || s == "}")
        if (--d == 0) return i;
    }
    return t.size() - 1;
  }
  size_t angle(size_t i) const {  // t[i] is '<'; index of the matching '>'
    int d = 0;
    for (; i < t.size(); i++) {
      const std::string& s = t[i].s;
      if (s == "(" || s == "[" || s == "{") {
        i = match(i);
        continue;
      }
      if (s == "<") d++;
      else if (s == ">") {
        if (--d == 0) return i;
      } else if (s == ";") break;
    }
    return t.size() - 1;
  }
  std::string text(size_t a, size_t b) const {
    std::string r;
    for (size_t i = a; i < b; i++) {
      if (i > a && (t[i].b != t[i - 1].e)) r += ' ';
      r += t[i].s;
    }
    return r;
  }
  void blank(size_t a, size_t b) {
    std::string r = in.substr(t[a].b, t[b - 1].e - t[a].b);
    for (char& c : r)
      if (c != '\n') c = ' ';
    ed.push_back({t[a].b, t[b - 1].e, r});
  }
  void replace(size_t i, const std::string& s) { ed.push_back({t[i].b, t[i].e, s}); }
  bool attr(size_t i) const { return is(i, "[") && is(i + 1, "[") && t[i].e == t[i + 1].b; }
};

}  // namespace standin
