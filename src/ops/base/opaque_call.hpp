// Calls that run at once, outside of the recorded graph: sorts, scans, products, factorisations, transforms, selections
// whose size depends on data, users' kernels with whole outputs, ...
//
// Each such public function announces itself before it does anything:
//
//   if (auto r = intercept("sort", {&x}, {axis, kw.descending}, [=](auto a) { return one(sort(a[0], kw)); }))
//     return (*r)[0];
//
// Who listens (an interceptor) runs the function on the same operands or on others, by `again`, or does something else
// that has its result: derivatives note what depends on what, vectorisation runs it over one more axis, arrays that are
// distributed over a mesh run it shard by shard. Composites (median, unique, einsum, lstsq, ...) announce themselves
// through what they are composed of.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/values/trace.hpp"
#include "ops/base/access.hpp"

namespace sinter::ops {

/// Derivatives that a function of the user's brings along. Undefined arrays are zeros, or not wanted.
struct own_derivatives {
  using step = std::function<std::vector<ndarray>(std::span<const ndarray> operands, std::span<const ndarray> results,
                                                  std::span<const ndarray> directions)>;
  step forward;   // tangents of the results for those of the operands
  step backward;  // cotangents of the operands for those of the results
  /// The function itself. `again` of a call that brings derivatives announces itself again, to the next who listens; one who
  /// runs its steps in his own way takes this.
  std::function<std::vector<ndarray>(std::span<const ndarray>)> unannounced;
  /// A vmap runs the call itself for its examples, not the steps that it consists of.
  bool at_once = false;
  /// The call for all examples of a vmap, where it is not its steps that are mapped: operands with the axis of examples in
  /// front where they are mapped, results with that axis.
  std::function<std::vector<ndarray>(std::int64_t count, std::span<const ndarray> operands,
                                     const std::vector<bool>& mapped)>
      for_examples = {};
};

struct opaque_call {
  const char* name;
  std::vector<ndarray> operands;
  /// Attributes: what they mean is said where the call is announced. Axes are normalised (from 0).
  std::vector<std::int64_t> numbers;
  std::string text;
  /// The same function with the same attributes on other operands, as many of them. Returns all results, each a new
  /// array. Functions that write into an operand return it as it is afterwards, and leave their operands alone.
  std::function<std::vector<ndarray>(std::span<const ndarray>)> again;
  /// The call is also recorded, by nodes, which whoever does not take recorded calls sees instead (rolls, selections by
  /// index): its adjoint is better than theirs.
  bool recorded = false;
  std::shared_ptr<const own_derivatives> own = {};
};

/// Who is told. While run() lasts it is off: what it calls is seen by the next one.
class interceptor {
 public:
  virtual ~interceptor() = default;
  /// Whether an operand is its concern.
  virtual bool takes(const ndarray& x) const = 0;
  /// The results of a call of which it takes an operand.
  virtual std::vector<ndarray> run(const opaque_call& call) = 0;
  /// Whether it wants to know of calls that are recorded as well.
  virtual bool takes_recorded() const { return false; }
  /// Whether its operands stand for one example of many, whose elements cannot be looked at.
  virtual bool takes_examples() const { return false; }

 private:
  friend class interceptor_scope;
  friend std::optional<std::vector<ndarray>> run_intercepted(opaque_call& call);
  friend bool is_of_examples(std::span<const ndarray> operands);
  interceptor* outer_ = nullptr;
  bool off_ = false;
};

/// Interceptors of all threads, the one of meshes included.
inline std::atomic<int> interceptors_anywhere{0};

/// The innermost interceptor of this thread while it lives; scopes end in the opposite order of their beginnings.
class interceptor_scope {
 public:
  explicit interceptor_scope(interceptor& i) noexcept;
  ~interceptor_scope();
  interceptor_scope(const interceptor_scope&) = delete;
  interceptor_scope& operator=(const interceptor_scope&) = delete;

 private:
  interceptor* mine_;
};

/// The interceptor of arrays on devices of kind `mesh`, of all threads; asked last. It stays for the process. Its calls
/// of the library on arrays of other devices are not seen by it, since it does not take them.
void set_mesh_interceptor(interceptor* i) noexcept;

std::optional<std::vector<ndarray>> run_intercepted(opaque_call& call);
std::optional<std::vector<ndarray>> run_intercepted(
    const char* name, std::span<const ndarray* const> operands, std::span<const std::int64_t> numbers,
    std::string_view text, std::function<std::vector<ndarray>(std::span<const ndarray>)> again);

/// Whether a vmap listens, of whose example one of the operands depends.
bool is_of_examples(std::span<const ndarray> operands);

inline bool is_intercepting() noexcept { return interceptors_anywhere.load(std::memory_order_relaxed) != 0; }
/// Whether this thread is within an interceptor_scope.
bool is_within_interceptor() noexcept;
/// Whether what is recorded now may run again with other elements: within an interceptor, a traced loop or a capture.
bool is_recorded_for_later() noexcept;

/// The results of a call, if somebody listens who takes one of the operands; nothing otherwise, and the caller goes on.
/// Undefined operands are allowed, and handed on. `again` takes std::span<const ndarray>.
template <class Again>
std::optional<std::vector<ndarray>> intercept(const char* name, std::initializer_list<const ndarray*> operands,
                                              std::initializer_list<std::int64_t> numbers, Again&& again,
                                              std::string_view text = {}) {
  if (!is_intercepting()) [[likely]]
    return {};
  return run_intercepted(name, std::span(operands.begin(), operands.size()), std::span(numbers.begin(), numbers.size()),
                         text, std::forward<Again>(again));
}
/// The same for any number of operands.
template <class Again>
std::optional<std::vector<ndarray>> intercept_all(const char* name, std::span<const ndarray> operands,
                                                  std::initializer_list<std::int64_t> numbers, Again&& again,
                                                  std::string_view text = {}) {
  if (!is_intercepting()) [[likely]]
    return {};
  std::vector<const ndarray*> all;
  for (const ndarray& x : operands) all.push_back(&x);
  return run_intercepted(name, all, std::span(numbers.begin(), numbers.size()), text, std::forward<Again>(again));
}

/// The same for a call that is also recorded.
template <class Again>
std::optional<std::vector<ndarray>> intercept_recorded(const char* name, std::initializer_list<const ndarray*> operands,
                                                       std::initializer_list<std::int64_t> numbers, Again&& again) {
  if (!is_intercepting()) [[likely]]
    return {};
  opaque_call call{name, {}, numbers, {}, std::forward<Again>(again), true};
  for (const ndarray* x : operands) call.operands.push_back(*x);
  return run_intercepted(call);
}

/// A list of one result, or of several.
template <class... X>
std::vector<ndarray> results_of(X&&... x) {
  return std::vector<ndarray>{static_cast<const ndarray&>(x)...};
}

/// For functions that compute on the host with the elements of `x`, without having announced themselves:
/// derivative_error where a trace follows them, which names the function. Returns x.
inline const ndarray& for_host(const ndarray& x, const char* function) {
  if (graph::traces_anywhere.load(std::memory_order_relaxed) != 0) [[unlikely]]
    graph::refuse_if_traced(value_of(x), "computed with on the host", function);
  return x;
}

/// Writes `result`, which an interceptor gave for a function that works in place, to all elements of `x`.
void write_back(const ndarray& x, const ndarray& result, const char* function);

/// The interceptor of a trace: it runs the function with the trace paused, and adds the call to the trace, as a
/// traced_opaque. `innermost` while it is in scope.
struct traced_opaque final : graph::traced_call {
  explicit traced_opaque(const opaque_call& c) : call(c) {}
  bool is_matrix_product() const noexcept override {
    return std::string_view(call.name) == "matmul" && !call.own && call.operands.size() == 2;
  }
  opaque_call call;  // the operands are the arrays of the call
};
class trace_interceptor : public interceptor {
 public:
  /// `recorded`: calls that are recorded as well are entries, not what they record.
  trace_interceptor(graph::trace& t, bool recorded) noexcept : trace_(t), recorded_(recorded) {}
  explicit trace_interceptor(graph::trace& t) noexcept
      : trace_interceptor(t, t.filter() == graph::trace_filter::inexact) {}
  bool takes(const ndarray& x) const override;
  std::vector<ndarray> run(const opaque_call& call) override;
  bool takes_recorded() const override { return recorded_; }

 private:
  graph::trace& trace_;
  const bool recorded_;
};

}  // namespace sinter::ops
