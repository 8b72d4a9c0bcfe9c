// Thompson's construction, removal of calls that match nothing, the subset construction, and removal of dead states.
// Each rule is built separately.
#include "grammar/automaton.h"

#include <algorithm>
#include <map>

#include "grammar/limits.h"
#include "grammar/nondeterministic.h"

namespace longhand::grammar {

class Compiler {
 public:
  Compiler(const Syntax& syntax, Automaton& out) : syntax_(syntax), out_(out), rules_(syntax) {}

  void run() {
    number_classes();
    const size_t count = syntax_.rules().size();
    out_.starts_.assign(count, -1);
    for (size_t rule = 0; rule < count; ++rule) determinise(static_cast<Rule>(rule));
    cut_off();
    out_.matches_empty_ = rules_.nullable(0);
    if (out_.starts_[0] < 0 && !out_.matches_empty_)
      throw std::invalid_argument("[grammar] no text matches it; at least one must");
    rank();
  }

 private:
  // Bytes that no edge distinguishes form one class.
  void number_classes() {
    std::map<std::vector<bool>, std::vector<int>> groups;
    for (int byte = 0; byte < 256; ++byte) {
      std::vector<bool> signature;
      for (const ByteSet& set : rules_.sets()) signature.push_back(set.test(static_cast<size_t>(byte)));
      groups[signature].push_back(byte);
    }
    for (const auto& [_, members] : groups) {
      for (const int byte : members) out_.class_of_[static_cast<size_t>(byte)] = static_cast<uint8_t>(out_.classes_);
      representatives_.push_back(members.front());
      out_.only_byte_.push_back(members.size() == 1 ? members.front() : -1);
      ++out_.classes_;
    }
  }

  State add_state(bool ends) {
    if (out_.ends_.size() >= max_states) refuse_size("states", max_states);
    out_.ends_.push_back(ends);
    out_.calls_.emplace_back();
    out_.next_.insert(out_.next_.end(), static_cast<size_t>(out_.classes_), -1);
    return static_cast<State>(out_.ends_.size() - 1);
  }

  State state_of(std::vector<int32_t> set, Rule rule) {
    if (set.empty()) return -1;
    const auto [at, is_new] = known_.try_emplace(std::move(set), 0);
    if (is_new) {
      at->second = add_state(std::ranges::binary_search(at->first, rules_.end(rule)));
      pending_.push_back(&*at);
    }
    return at->second;
  }

  void determinise(Rule rule) {
    known_.clear();
    const std::vector<int32_t> begin = rules_.closure({rules_.begin(rule)});
    // A call reads at least a byte: its first state does not end, whatever the same set means later.
    const State start = add_state(false);
    fill(start, begin, rule);
    while (!pending_.empty()) {
      const auto [set, state] = *pending_.back();
      pending_.pop_back();
      fill(state, set, rule);
    }
    out_.starts_[static_cast<size_t>(rule)] = start;
  }

  void fill(State state, const std::vector<int32_t>& set, Rule rule) {
    for (int c = 0; c < out_.classes_; ++c) {
      std::vector<int32_t> reached;
      for (const int32_t from : set) rules_.read(from, representatives_[static_cast<size_t>(c)], reached);
      const State to = state_of(rules_.closure(std::move(reached)), rule);
      out_.next_[static_cast<size_t>(state) * static_cast<size_t>(out_.classes_) + static_cast<size_t>(c)] = to;
    }
    std::map<Rule, std::vector<int32_t>> called;
    for (const int32_t from : set) rules_.called(from, called);
    for (auto& [callee, after] : called) {
      const State to = state_of(rules_.closure(std::move(after)), rule);
      out_.calls_[static_cast<size_t>(state)].push_back({callee, to});
    }
  }

  // Removes states from which no text can end, and rules that can match no text.
  void cut_off() {
    const size_t count = out_.ends_.size();
    std::vector<bool> useful = out_.ends_;
    const auto is_useful = [&](State state) { return state >= 0 && useful[static_cast<size_t>(state)]; };
    const auto classes = static_cast<size_t>(out_.classes_);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t s = count; s-- > 0;) {
        if (useful[s]) continue;
        const auto row = out_.next_.begin() + static_cast<std::ptrdiff_t>(s * classes);
        const bool reads = std::any_of(row, row + out_.classes_, is_useful);
        const bool calls = std::ranges::any_of(out_.calls_[s], [&](const Automaton::Call& call) {
          return is_useful(out_.starts_[static_cast<size_t>(call.rule)]) && is_useful(call.after);
        });
        if (reads || calls) useful[s] = changed = true;
      }
    }
    for (State& to : out_.next_)
      if (!is_useful(to)) to = -1;
    out_.exhausted_.resize(count);
    for (size_t s = 0; s < count; ++s) {
      std::erase_if(out_.calls_[s], [&](const Automaton::Call& call) {
        return !is_useful(out_.starts_[static_cast<size_t>(call.rule)]) || !is_useful(call.after);
      });
      const auto row = out_.next_.begin() + static_cast<std::ptrdiff_t>(s * classes);
      out_.exhausted_[s] =
          out_.calls_[s].empty() && std::all_of(row, row + out_.classes_, [](State to) { return to < 0; });
    }
    for (State& start : out_.starts_)
      if (!is_useful(start)) start = -1;
  }

  // Each rule before those it may begin with; one that may begin with itself is refused.
  void rank() {
    const size_t count = syntax_.rules().size();
    std::vector<uint8_t> mark(count, 0);  // 1: in progress, 2: done
    std::vector<Rule> order;
    struct Frame {
      Rule rule;
      size_t at;
    };
    for (size_t root = 0; root < count; ++root) {
      if (mark[root] != 0) continue;
      std::vector<Frame> stack{{static_cast<Rule>(root), 0}};
      mark[root] = 1;
      while (!stack.empty()) {
        const Frame here = stack.back();
        const State start = out_.starts_[static_cast<size_t>(here.rule)];
        const size_t calls = start < 0 ? 0 : out_.calls(start).size();
        if (here.at == calls) {
          mark[static_cast<size_t>(here.rule)] = 2;
          order.push_back(here.rule);
          stack.pop_back();
          continue;
        }
        ++stack.back().at;
        const Rule callee = out_.calls(start)[here.at].rule;
        uint8_t& seen = mark[static_cast<size_t>(callee)];
        if (seen == 1)
          throw std::invalid_argument("[grammar] the rule \"" + syntax_.rules()[static_cast<size_t>(callee)].name +
                                      "\" begins with itself; a rule must read something first");
        if (seen == 0) {
          seen = 1;
          stack.push_back({callee, 0});
        }
      }
    }
    out_.ranks_.resize(count);
    for (size_t i = 0; i < order.size(); ++i)
      out_.ranks_[static_cast<size_t>(order[i])] = static_cast<int32_t>(order.size() - i);
  }

  const Syntax& syntax_;
  Automaton& out_;
  Nondeterministic rules_;
  std::vector<int> representatives_;
  std::map<std::vector<int32_t>, State> known_;
  std::vector<const std::pair<const std::vector<int32_t>, State>*> pending_;
};

Automaton::Automaton(const Syntax& syntax) { Compiler(syntax, *this).run(); }

}  // namespace longhand::grammar
