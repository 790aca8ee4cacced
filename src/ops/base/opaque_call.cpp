#include "ops/base/opaque_call.hpp"

#include <algorithm>
#include <utility>

#include "graph/run/ongoing_capture.hpp"
#include "graph/values/watch.hpp"
#include "ops/base/as_now.hpp"
#include "ops/base/axes.hpp"

namespace sinter::ops {
namespace {

constinit thread_local interceptor* innermost_interceptor = nullptr;
constinit std::atomic<interceptor*> mesh_interceptor{nullptr};

bool takes_any(const interceptor& i, const opaque_call& call) {
  for (const ndarray& x : call.operands)
    if (x.defined() && i.takes(x)) return true;
  return false;
}

}  // namespace

interceptor_scope::interceptor_scope(interceptor& i) noexcept : mine_(&i) {
  i.outer_ = std::exchange(innermost_interceptor, &i);
  interceptors_anywhere.fetch_add(1, std::memory_order_relaxed);
}
interceptor_scope::~interceptor_scope() {
  innermost_interceptor = std::exchange(mine_->outer_, nullptr);
  interceptors_anywhere.fetch_sub(1, std::memory_order_relaxed);
}

bool is_within_interceptor() noexcept { return innermost_interceptor != nullptr; }
bool is_recorded_for_later() noexcept {
  return is_within_interceptor() || graph::trace::innermost() || graph::is_capturing();
}

void set_mesh_interceptor(interceptor* i) noexcept {
  interceptor* const before = mesh_interceptor.exchange(i);
  interceptors_anywhere.fetch_add((i ? 1 : 0) - (before ? 1 : 0), std::memory_order_relaxed);
}

std::optional<std::vector<ndarray>> run_intercepted(opaque_call& call) {
  const auto run = [&call](interceptor& i) {
    struct off {
      explicit off(bool& flag) : flag_(flag) { flag = true; }
      ~off() { flag_ = false; }
      bool& flag_;
    } const now(i.off_);
    return i.run(call);
  };
  for (interceptor* i = innermost_interceptor; i; i = i->outer_)
    if (!i->off_ && (!call.recorded || i->takes_recorded()) && takes_any(*i, call)) return run(*i);
  interceptor* const mesh = mesh_interceptor.load(std::memory_order_acquire);
  if (mesh && (!call.recorded || mesh->takes_recorded()) && takes_any(*mesh, call))
    return mesh->run(call);  // of all threads, so it has no flag
  return {};
}

bool is_of_examples(std::span<const ndarray> operands) {
  for (const interceptor* i = innermost_interceptor; i; i = i->outer_) {
    if (i->off_ || !i->takes_examples()) continue;
    for (const ndarray& x : operands)
      if (x.defined() && i->takes(x)) return true;
  }
  return false;
}

std::optional<std::vector<ndarray>> run_intercepted(
    const char* name, std::span<const ndarray* const> operands, std::span<const std::int64_t> numbers,
    std::string_view text, std::function<std::vector<ndarray>(std::span<const ndarray>)> again) {
  opaque_call call{name, {}, {numbers.begin(), numbers.end()}, std::string(text), std::move(again)};
  call.operands.reserve(operands.size());
  for (const ndarray* x : operands) call.operands.push_back(*x);
  return run_intercepted(call);
}

void write_back(const ndarray& x, const ndarray& result, const char* function) {
  graph::write(view_of(x, function), value_of(result));
}

bool trace_interceptor::takes(const ndarray& x) const {
  if (trace_.is_paused()) return false;
  const graph::view_ref& v = ndarray_access::ref(x);
  return v && trace_.has(v->store->now());
}

namespace {

/// A watch that has not taken a call lists what that records instead. What the call makes of an operand that only the trace
/// follows (a view, a cast) would be a constant there, of whose origin the trace, which is paused meanwhile, knows nothing: such
/// operands are entries of the watch as well.
void follow_operands(std::vector<ndarray>& operands, const graph::trace& t) {
  graph::watch* const w = graph::watch::current();
  if (!w || &w->list() == &t || w->list().is_paused()) return;
  graph::trace& list = w->list();
  const auto is_in = [](const graph::trace& some, const ndarray& x) {
    return x.defined() && some.has(view_of(x, "ndarray").store->now());
  };
  if (std::none_of(operands.begin(), operands.end(), [&](const ndarray& x) { return is_in(list, x); })) return;
  for (ndarray& x : operands) {
    if (!is_in(t, x) || is_in(list, x)) continue;
    const graph::array_view& v = view_of(x, "ndarray");
    x = view_as(wrap(list.follow(v.store->now())), v.shape, v.strides, v.offset);
  }
}

}  // namespace

std::vector<ndarray> trace_interceptor::run(const opaque_call& call) {
  opaque_call kept = call;
  std::vector<graph::value> operands;
  for (ndarray& x : kept.operands) {
    if (x.defined()) x = as_now(x);  // a handle may go on to be written
    operands.push_back(x.defined() ? value_of(x) : graph::value());
  }
  std::vector<ndarray> results;
  {
    const graph::trace::pause now(trace_);
    std::vector<ndarray> given = kept.operands;
    follow_operands(given, trace_);
    results = call.again(given);
    for (ndarray& r : results) {
      if (!r.defined()) continue;
      const graph::view_ref& v = ndarray_access::ref(r);
      graph::value now_read = value_of(r);
      // A value of its own, which nothing else in the trace is.
      if (!v->whole || trace_.has(now_read)) r = wrap(graph::record_identity(now_read));
    }
  }
  std::vector<graph::value> made;
  for (const ndarray& r : results) made.push_back(r.defined() ? value_of(r) : graph::value());
  trace_.add_call(std::make_shared<traced_opaque>(std::move(kept)), std::move(operands), std::move(made));
  return results;
}

}  // namespace sinter::ops
