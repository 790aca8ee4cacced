// One flush: plan, bind, allocate, compile; then launch; then the nodes become leaves. Nothing visible to other code
// changes before the first launch, so a failure leaves every pending value intact.
#include "graph/run/flush.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "graph/run/kept_arrays.hpp"
#include "graph/run/job.hpp"
#include "graph/run/listed_launches.hpp"
#include "graph/run/live_values.hpp"
#include "graph/plan/plan_cache.hpp"
#include "graph/run/launch_times.hpp"
#include "graph/run/mesh_hook.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/run/placement.hpp"
#include "graph/values/example.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/limits.hpp"
#include "graph/values/long_chains.hpp"
#include "graph/values/recycle.hpp"
#include "runtime/trace.hpp"
#include "sinter/error.hpp"
#include "sinter/profile.hpp"

namespace sinter::graph {

std::recursive_mutex& flush_mutex() {
  static auto* m = new std::recursive_mutex;  // outlives static arrays
  return *m;
}

namespace {

using runtime::buffer_ref;

void count_down(int& countdown, const char* what) {
  if (countdown >= 0 && countdown-- == 0)
    throw memory_error(std::string("[evaluate] ") + what + " on request of a test");
}

buffer_ref allocate(runtime::backend& device, std::size_t bytes, memory_kind kind) {
  count_down(limits().fail_allocation, "allocation failed");
  return std::allocate_shared<runtime::buffer>(recycling_allocator<runtime::buffer>(), device, bytes, kind);
}

/// One for the process, used under the flush lock; its memory is reused from one flush to the next.
class flusher {
 public:
  /// All roots are pending and on one device.
  void run(std::span<const value> roots) {
    const range shown("sinter: evaluate");
    const cleaner always(*this);
    plan(roots);
    finish();
  }

  /// Evaluates the value if that releases more memory than it takes; returns whether it did.
  bool run_if_releasing(const value& root) {
    const cleaner always(*this);
    plan(std::span(&root, 1));
    if (placement_.released_bytes() <= 0) return false;
    finish();
    return true;
  }

  bool is_running() const noexcept { return running_; }

 private:
  struct cleaner {
    flusher& f;
    explicit cleaner(flusher& owner) : f(owner) { f.running_ = true; }
    ~cleaner() {
      f.clear();
      f.running_ = false;
    }
  };

  void plan(std::span<const value> roots) {
    backend_ = &runtime::get_backend(roots[0]->device);
    on_gpu_ = roots[0]->device.kind == runtime::device_kind::cuda;
    refuse_other_device(roots[0]->device);
    plan_ = &plans_.plan(planner_, roots);
  }

  void finish() {
    place_all();
    prepare_commit();
    try {
      launch_all();
    } catch (...) {
      commit(done_);  // an update that has run in place must not run again
      throw;
    }
    commit(jobs_.size());
    if (fault_) [[unlikely]]
      std::rethrow_exception(std::exchange(fault_, nullptr));
  }

  void place_all() {
    placement_.begin();
    jobs_.resize(planner_.kernels().size());
    launched_ = 0;
    for (std::size_t k = 0; k < jobs_.size(); ++k) place(jobs_[k], k);
    placement_.settle([&](std::size_t bytes, memory_kind kind) { return allocate(*backend_, bytes, kind); });
    for (job& j : jobs_) {
      find_addresses(j);
      j.uses_end = uses_.size();
    }
  }

  void place_result(node* n, std::size_t kernel) {
    if (!placement_.take_memory(n, kernel)) placement_.put(n);
  }

  void place(job& j, std::size_t kernel) {
    kernel_plan& plan = *planner_.kernels()[kernel];
    j.plan = &plan;
    if (plan.kind == plan_kind::alias) {
      node* n = plan.results[0];
      placement_.put_view(n, n->args[0].get(), n->kind == node_kind::view ? n->view().offset : 0);
      return;
    }
    if (plan.kind == plan_kind::update) place_update(j, plan, kernel);
    else if (plan.kind != plan_kind::effect)
      for (node* n : plan.results) place_result(n, kernel);
  }

  void find_addresses(job& j) {
    const kernel_plan& plan = *j.plan;
    if (plan.kind == plan_kind::alias) return;
    if (j.copies) find_copied(j);
    if (plan.code.code.empty()) return;
    j.launch = launched_++;
    jit::launch& l = plan_->launches[static_cast<std::size_t>(j.launch)];
    l.fault = nullptr;
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
      const input_slot& s = plan.inputs[i];
      address(l.inputs[i], s.at.offset, s.source, s.written);
    }
    const auto outputs = static_cast<std::size_t>(outputs_of(plan));
    for (std::size_t o = 0; o < l.outputs.size(); ++o) {
      node* const n = plan.results[o / outputs];
      const std::int64_t first = static_cast<std::int64_t>(o % outputs) * between_outputs(plan);
      address(l.outputs[o], plan.kind == plan_kind::update ? n->update().offset : first, n, true);
    }
  }

  /// `offset`: of the operand's first element in the node's elements.
  void address(jit::operand& o, std::int64_t offset, node* n, bool writes) {
    const bool leaf = n->is_leaf();
    const placed* p = leaf ? nullptr : &placement_.at(n);
    const runtime::buffer* memory = leaf ? n->buffer.get() : p->buffer.get();
    o.base = memory->address();
    o.offset = offset + (leaf ? n->buffer_offset : p->offset);
    uses_.push_back({memory, writes});
    if (leaf && is_capturing()) [[unlikely]]
      current_capture()->hold(value(n));
  }

  void place_update(job& j, kernel_plan& plan, std::size_t kernel) {
    node* n = plan.results[0];
    if (placement_.reuse_base(plan)) return;
    place_result(n, kernel);
    for (std::size_t k = 1; k < plan.results.size(); ++k) placement_.put_in_memory_of(plan.results[k], n);
    if (!base_of(plan))
      planner_.for_each_below(n->args[0].get(), [&](const node* x) {
        if (x->is_leaf() && x->buffer->has_faults()) add_faults(j.replaced, x->buffer->faults());
      });
    j.copies = !plan.unset_base;
  }

  void find_copied(job& j) {
    const node* const n = j.plan->results[0];
    const placed base = placement_.where(n->args[0].get());
    j.copy_from = base.buffer.get();
    j.copy_offset = base.offset * static_cast<std::int64_t>(itemsize(n->type));
    j.copy_bytes = n->bytes();
    uses_.push_back({j.copy_from, false});
  }

  void launch_all() {
    done_ = 0;
    if (launched_ == 0) return;
    const std::span<jit::launch> launches(plan_->launches);
    prepared_.assign(launches.size(), nullptr);
    backend_->prepare(launches, prepared_);
    std::size_t scratch_bytes = 0;
    for (std::size_t k = 0; k < launches.size(); ++k)
      scratch_bytes = std::max(scratch_bytes, backend_->scratch_bytes(*prepared_[k], launches[k]));
    buffer_ref scratch;  // shared by all: launches of a device run in order
    if (scratch_bytes != 0) scratch = allocate(*backend_, scratch_bytes, memory_kind::device);
    runtime::submission work(*backend_);
    void* const scratch_memory = scratch ? work.writes(*scratch) : nullptr;
    const bool captured = backend_->current_stream().notes() != nullptr;
    const bool listed = on_gpu_ && launched_ > 1 && !captured && suits_list();
    listed_launches list(*backend_, listed ? &plan_->list : nullptr, done_);
    const bool waits = runtime::synchronous() && !captured, shown = profiling();
    std::size_t declared = 0;
    for (job& j : jobs_) {
      done_ = static_cast<std::size_t>(&j - jobs_.data());
      // Only now: what this launch waits for, such as a copy from another device, the launches before it do not.
      for (; declared < j.uses_end; ++declared) {
        const buffer_use& u = uses_[declared];
        u.writes ? work.writes(*u.buffer) : work.reads(*u.buffer);
      }
      if (j.launch < 0) continue;
      count_down(limits().fail_launch, "launch failed");
      if (j.copy_from)
        backend_->copy(placement_.at(j.plan->results[0]).buffer->address(),
                       static_cast<char*>(j.copy_from->address()) + j.copy_offset, j.copy_bytes);
      const auto k = static_cast<std::size_t>(j.launch);
      if (fault_count(j.plan->code) != 0) {
        if (captured) {
          backend_->current_stream().notes()->finds_errors = true;
        } else {
          j.fault = backend_->faults().begin();
          launches[k].fault = j.fault->address();
        }
      }
      std::unique_ptr<runtime::timer> timer;
      if (waits) [[unlikely]] {
        timer = backend_->make_timer();
        timer->start(0);
      }
      if (shown) [[unlikely]] {
        const range named("sn_" + j.plan->code.label());
        backend_->run(*prepared_[k], launches[k], scratch_memory);
      } else {
        backend_->run(*prepared_[k], launches[k], scratch_memory);
      }
      if (waits) [[unlikely]] {
        timer->stop();
        wait_for_kernel("sn_" + j.plan->code.label(), j.fault);
        note_time(*backend_, launches[k], timer->seconds() * 1e6);
      }
      if (j.fault && j.fault->is_resolved()) {
        if (j.fault->is_raised()) backend_->faults().keep(j.fault);
        else j.fault.reset();
      }
    }
    list.end();
  }

  /// Whether several launches follow each other with nothing between them.
  bool suits_list() const {
    return evaluating_parts::none() && !runtime::synchronous() && !profiling() &&
           std::none_of(jobs_.begin(), jobs_.end(), [](const job& j) { return j.copies; });
  }

  /// Waits for a kernel. A failure of the device ends the flush; faults in data are thrown when results are committed.
  void wait_for_kernel(const std::string& kernel, const runtime::fault_ref& own) {
    try {
      report_captured_faults(*backend_, kernel);
      if (!own) return;
      own->resolve();
      if (!own->is_raised()) return;
      own->kernel = kernel;
      own->reported = true;
      throw_fault(*own);
    } catch (const device_error& e) {
      throw device_error("[evaluate] " + kernel + ": " + e.what());
    } catch (const error&) {
      if (!fault_) fault_ = std::current_exception();
    }
  }

  /// Results inherit the faults of a kernel's operands and those that the kernel finds itself. `kernels` have run.
  void pass_faults(const job& j, std::size_t kernels) {
    // Null where another value has the memory: such a leaf had no faults.
    const auto memory_of = [&](node* n) -> runtime::buffer* {
      if (placement_.is_overwritten(n, kernels)) return nullptr;
      return n->is_leaf() ? n->buffer.get() : placement_.at(n).buffer.get();
    };
    if (backend_->current_stream().notes()) return;
    runtime::fault_list all;
    if (j.fault) all.push_back(j.fault);
    const auto take = [&](node* n) {
      const runtime::buffer* const b = memory_of(n);
      if (b && b->has_faults()) add_faults(all, b->faults());
      if (const auto passed = passed_.find(n); passed != passed_.end()) add_faults(all, passed->second);
    };
    for (const input_slot& s : j.plan->inputs) take(s.source);
    if (j.plan->kind == plan_kind::alias) take(j.plan->results[0]->args[0].get());
    if (j.plan->kind == plan_kind::update)
      if (node* const base = base_of(*j.plan)) take(base);
    add_faults(all, j.replaced);
    if (j.launch < 0 && j.plan->kind != plan_kind::alias) return;
    const bool effect = j.plan->kind == plan_kind::effect;
    for (node* n : j.plan->results) {
      runtime::buffer* const written = memory_of(n);
      if (effect && written->has_faults()) written->clear_faults();  // all of it has been overwritten
      if (written) written->add_faults(all);
      else if (!all.empty()) passed_[n] = all;
    }
    if (!effect) return;
    const payload::call& call = j.plan->root->call();
    for (std::size_t k = call.function->inputs.size(); k < call.operands.size(); ++k)
      memory_of(call.operands[k].get())->add_faults(all);
  }

  /// Marks what commit() looks at, and reserves space for what it releases: nothing may fail once a kernel has run.
  void prepare_commit() {
    planner_.mark_inlined();
    std::size_t count = 0;
    for (const auto& k : planner_.kernels())
      for (const node* n : k->results) count += static_cast<std::size_t>(n->operand_count());
    dropped_.reserve(count);
  }

  /// The results of the first kernels become leaves.
  void commit(std::size_t kernels) {
    if (kernels == 0) return;
    for (const job& j : std::span(jobs_).first(kernels)) pass_faults(j, kernels);
    // What was computed inline and is held from outside of the plan may be needed again.
    planner_.for_each_held([](node* n) { n->evaluated_before.store(true, std::memory_order_relaxed); });
    for (const auto& k : std::span(planner_.kernels()).first(kernels)) {
      if (k->kind == plan_kind::effect) continue;  // its results are leaves, and its node is released with the call
      for (node* n : k->results) {
        if (placement_.is_overwritten(n, kernels))
          continue;  // its readers are evaluated, and nothing else refers to it
        placed& p = placement_.at(n);
        unlink_reader(n);
        unlist(n);
        n->buffer = std::move(p.buffer);
        n->buffer_offset = p.offset;
        n->release_operands([&](value v) { dropped_.push_back(std::move(v)); });
        n->kind.store(node_kind::leaf, std::memory_order_release);
      }
    }
  }

  void clear() {
    dropped_.clear();  // after every node has its buffer
    placement_.clear();
    planner_.clear();
    jobs_.clear();
    uses_.clear();
    passed_.clear();
    fault_ = nullptr;  // set if a later kernel of the flush has failed
  }

  bool running_ = false;
  runtime::backend* backend_ = nullptr;
  bool on_gpu_ = false;
  planner planner_;
  plan_cache plans_;
  cached_plan* plan_ = nullptr;  // of the flush in progress
  placement placement_{planner_};
  std::vector<job> jobs_;
  std::vector<buffer_use> uses_;
  int launched_ = 0;  // launches that have their addresses
  std::vector<const runtime::prepared*> prepared_;
  std::size_t done_ = 0;                                         // jobs that have run, if a later one fails
  std::exception_ptr fault_;                                     // of a kernel that was waited for
  std::unordered_map<const node*, runtime::fault_list> passed_;  // the faults of results whose memory others have
  std::vector<value> dropped_;                                   // operands that evaluated nodes release
};

flusher& shared_flusher() {
  static auto* f = new flusher;  // outlives static arrays
  return *f;
}

/// Under the flush lock.
bool relieve_locked(runtime::backend& device) {
  bool any = false;
  for (const value& v : listed_values(device.id())) {
    if (!(v->over_large() || v->holds_larger()) || v->is_leaf() || v->capture != runtime::this_thread().capture)
      continue;
    try {
      any |= shared_flusher().run_if_releasing(v);
    } catch (const error&) {  // the caller did not request this value
    }
  }
  return any;
}

[[gnu::noinline]] void run_on_mesh(std::span<const value> roots) {
  const evaluating_parts parts;
  mesh_hook.load()->evaluate(roots);
}

void run(std::span<const value> roots) {
  if (is_on_mesh(roots[0]->device)) return run_on_mesh(roots);
  try {
    shared_flusher().run(roots);
  } catch (const memory_error&) {
    if (!relieve_locked(runtime::get_backend(roots[0]->device))) throw;
    std::vector<value> rest(roots.begin(), roots.end());
    std::erase_if(rest, [](const value& v) { return v->is_leaf(); });
    if (!rest.empty()) shared_flusher().run(rest);
  }
}

}  // namespace

bool is_flushing() noexcept { return shared_flusher().is_running(); }

bool relieve(runtime::backend& device) {
  const std::lock_guard lock(flush_mutex());
  return !is_flushing() && relieve_locked(device);
}
namespace {

/// Evaluates a value at the end of a long chain together with the chain's other live values, which would otherwise
/// compute the chain again. False where that fails: the value may still be evaluated alone.
bool flush_chain(const value& v) {
  const std::vector<value> roots = live_values_with(v);
  if (roots.size() == 1) return false;
  try {
    run(roots);
  } catch (const memory_error&) {
    return v->is_leaf();
  }
  return true;
}

/// The longest chain of pending nodes below. For values that take little to compute. Nodes carry what is known (node::mark).
int pending_depth(node* n, std::uint64_t epoch) {
  if (n->is_leaf()) return -1;
  if (n->mark.epoch == epoch) return n->mark.index;
  int below = -1;
  for (int k = 0; k < n->operand_count(); ++k) below = std::max(below, pending_depth(n->operand(k), epoch));
  n->mark.epoch = epoch;
  return n->mark.index = below + 1;
}

/// Counts the chain below a value that was just recorded anew: of what its operands were recorded over, some may have been
/// evaluated since. Nobody else has it. Whether it is short.
bool is_short_by_now(const value& v) {
  v->depth = static_cast<std::uint16_t>(std::clamp(pending_depth(v.get(), next_epoch()), 0, 0xffff));
  return v->depth < limits().long_chain();
}

/// For a value at the end of a long chain that is part of a statement: evaluates the other live values of the chain, where it
/// takes little to compute from these. So temporaries of the statement are not stored. False: it did not.
bool flush_below(const value& v) {
  if (v->writes <= limits().update_chain && is_short_by_now(v)) return true;
  const std::vector<value> roots = live_values_below(v);
  if (roots.empty() || std::any_of(roots.begin(), roots.end(), [&](const value& r) { return r.get() == v.get(); }))
    return false;
  try {
    run(roots);
  } catch (const memory_error&) {
    return false;
  }
  return is_short_by_now(v);
}

/// Leaves on a mesh may have parts that are pending, as those of a draw: the mesh knows.
bool is_memory(const value& v) { return v->is_leaf() && !is_on_mesh(v->device); }

}  // namespace

void flush(std::span<const value> roots) {
  if (is_capturing()) [[unlikely]]
    current_capture()->before_evaluation(roots);
  release_kept_arrays_if_many();
  if (std::all_of(roots.begin(), roots.end(), is_memory)) return;
  std::lock_guard lock(flush_mutex());
  if (roots.size() == 1 && !roots[0]->is_leaf() && is_long(*roots[0]) && flush_chain(roots[0])) return;
  if (std::all_of(roots.begin(), roots.end(),
                  [&](const value& r) { return r->device == roots[0]->device && !is_memory(r); }))
    return run(roots);
  std::vector<value> rest(roots.begin(), roots.end());
  while (!rest.empty()) {
    runtime::device_id device = rest.front()->device;
    auto other = std::stable_partition(rest.begin(), rest.end(), [&](const value& v) { return v->device == device; });
    std::vector<value> here(rest.begin(), other);
    rest.erase(rest.begin(), other);
    std::erase_if(here, is_memory);
    if (!here.empty()) run(here);
  }
}

void flush_long(const value& v) {
  if (v->opaque || is_example(v)) return;
  std::lock_guard lock(flush_mutex());
  if (v->is_leaf() || !flush_below(v)) flush(std::span(&v, 1));
}

void refuse_mesh(const char* function, runtime::device_id mesh) {
  throw device_error(std::string("[") + function + "] the array is on " + runtime::to_string(mesh) +
                     ", whose devices have a part of it each; dist::gather makes an array of one device, dist::local "
                     "gives the parts");
}

bool is_in_memory(const value& v) {
  if (v->is_leaf()) return true;
  std::lock_guard lock(flush_mutex());  // evaluation releases a node's operands
  const node* n = v.get();
  while (n->kind == node_kind::view && core::is_contiguous(n->shape, n->view().strides)) n = n->args[0].get();
  return n->is_leaf();
}

}  // namespace sinter::graph
