#include "executor/executor.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "executor/worker.h"

namespace standin {
Options& options() {
  static Options o;
  return o;
}
namespace {

// What Metal's own validation would refuse before anything runs; "" when the dispatch is sound.
std::string refused(const Dispatch& d) {
  const std::string name = d.kernel->name;
  const uint64_t threads = uint64_t{d.threadgroup.x} * d.threadgroup.y * d.threadgroup.z;
  const unsigned own = d.kernel->max_threads;
  const unsigned limit = d.max_threads && (!own || d.max_threads < own) ? d.max_threads : own ? own : kSafeThreads;
  if (threads == 0 || threads > limit)
    return name + ": " + std::to_string(threads) + " threads per threadgroup, the limit is " + std::to_string(limit);
  size_t memory = 0;
  for (unsigned i = 0; i < d.kernel->nargs; i++) {
    const mtl_arg_desc& a = d.kernel->args[i];
    const std::string argument = name + ": argument '" + a.name + "' ";
    const size_t bytes = d.buffer_bytes[a.index];
    if (a.kind == MTL_ARG_BUFFER && !d.buffer[a.index] && !*a.cond)
      return argument + "[[buffer(" + std::to_string(a.index) + ")]] is not bound";
    if (a.kind == MTL_ARG_BUFFER && a.is_ref && bytes && bytes < a.size)
      return argument + "needs " + std::to_string(a.size) + " bytes, " + std::to_string(bytes) + " are bound";
    if (a.kind != MTL_ARG_THREADGROUP) continue;
    if (!d.threadgroup_bytes[a.index]) return argument + "has no threadgroup memory length";
    memory += d.threadgroup_bytes[a.index];
  }
  if (memory > kThreadgroupBytes) return name + ": threadgroup memory exceeds 32 KiB";
  return "";
}

void prepare_worker(Worker* w, const Dispatch& d, uint64_t seed) {
  w->d = &d;
  w->o = &options();
  w->fault.clear();
  w->st = Work();
  w->rng = seed * 0x9E3779B97F4A7C15ull + 1;
  if (!w->stacks) w->init_stacks();
  w->args.buf = d.buffer;
  w->args.tg = w->tgptr;
  w->chk.on = w->o->check;
  if (w->chk.on) w->chk.begin(d);
}

std::vector<std::unique_ptr<Worker>>& workers() {
  static auto* all = new std::vector<std::unique_ptr<Worker>>;
  return *all;
}

}  // namespace

const AccessSet& last_accesses() { return workers().front()->chk.accesses; }

std::string run(const Dispatch& d, Work* work) {
  if (!d.kernel) return "no kernel";
  if (const std::string why = refused(d); !why.empty()) return why;
  const auto groups = [](unsigned threads, unsigned size) { return (threads + size - 1) / size; };
  const mtl_u3 ng{groups(d.grid.x, d.threadgroup.x), groups(d.grid.y, d.threadgroup.y),
                  groups(d.grid.z, d.threadgroup.z)};
  const uint64_t total = uint64_t{ng.x} * ng.y * ng.z;
  // The checker sees one dispatch in one order; parallel threadgroups would only hide which of them raced.
  const size_t count =
      std::clamp<size_t>(options().check ? 1 : static_cast<size_t>(options().workers), 1, total ? total : 1);
  while (workers().size() < count) workers().push_back(std::make_unique<Worker>());

  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false};
  const auto body = [&](size_t id) {
    Worker* w = W = workers()[id].get();
    prepare_worker(w, d, options().seed + id);
    for (uint64_t i = next++; i < total && !stop; i = next++) {
      const uint64_t j = options().order == Order::reverse ? total - 1 - i : i;
      run_group(w,
                {static_cast<unsigned>(j % ng.x), static_cast<unsigned>(j / ng.x % ng.y),
                 static_cast<unsigned>(j / ng.x / ng.y)},
                ng);
      if (!w->fault.empty()) stop = true;
    }
    W = nullptr;
  };
  std::vector<std::thread> threads;
  for (size_t id = 1; id < count; id++) threads.emplace_back(body, id);
  body(0);
  for (std::thread& thread : threads) thread.join();

  std::string fault;
  for (size_t id = 0; id < count; id++) {
    Worker& w = *workers()[id];
    if (!w.fault.empty() && fault.empty()) fault = std::string(d.kernel->name) + ": " + w.fault;
    if (!work) continue;
    work->threads += w.st.threads;
    work->switches += w.st.switches;
    work->barriers += w.st.barriers;
    work->simd_operations += w.st.simd_operations;
    work->matrix_operations += w.st.matrix_operations;
    work->threadgroup_bytes = std::max(work->threadgroup_bytes, w.st.threadgroup_bytes);
    work->bank_conflicts += w.chk.banks.finish();
  }
  return fault;
}
}  // namespace standin
