// Validation of a launch before any work is enqueued.
#include "ops/raw/check.hpp"

#include <algorithm>

#include "core/shape.hpp"
#include "ops/base/access.hpp"

namespace sinter::ops {
namespace {

using detail::argument_kind;
using detail::kernel_argument;
using runtime::extents3;

const graph::array_view& view_of_argument(const kernel_argument& a) { return view_of(array_of(a), "raw_kernel"); }

/// "an array of float64", "float64", "a pointer to float32".
std::string described(const kernel_argument& a) {
  switch (a.kind) {
    case argument_kind::array: return "an array of " + std::string(name(view_of_argument(a).type));
    case argument_kind::in: return "sn::in of " + std::string(name(view_of_argument(a).type));
    case argument_kind::strided:
      return std::string(a.readonly ? "sn::strided(sn::in)" : "sn::strided") + " of " +
             std::string(name(view_of_argument(a).type)) + " and rank " +
             std::to_string(view_of_argument(a).shape.size());
    case argument_kind::number: return std::string(name(*a.type));
    case argument_kind::pointer:
      return std::string("a pointer") + (a.readonly ? " to const" : "") +
             (a.type ? " to " + std::string(name(*a.type)) : "");
    case argument_kind::object: break;
  }
  return "an object of " + std::to_string(a.bytes) + " bytes";
}

std::string parameters_text(const bound_kernel& kernel) {
  return kernel.signature ? "; parameters: " + kernel.signature->text : "";
}

[[noreturn]] void refuse(const bound_kernel& kernel, const kernel_argument& a, std::size_t k, const std::string& who,
                         const std::string& why = "") {
  fail<dtype_error>(who, "argument ", k + 1, " is ", described(a), ", but the parameter is ",
                    kernel.signature->parameters[k].text, why, parameters_text(kernel));
}

/// Throws unless the element type of an array or pointer matches the type that the parameter points to.
void check_elements(const bound_kernel& kernel, const kernel_argument& a, std::size_t k, bool readonly,
                    std::optional<dtype> type, const std::string& who) {
  const raw_parameter& p = kernel.signature->parameters[k];
  if (type && !p.element.accepts(*type)) refuse(kernel, a, k, who);
  if (readonly && !p.readonly) refuse(kernel, a, k, who, ", through which a kernel may write (declare it const)");
}

void check_argument(const bound_kernel& kernel, const kernel_argument& a, std::size_t k, const std::string& who) {
  const raw_parameter& p = kernel.signature->parameters[k];
  switch (p.kind) {
    case parameter_kind::unknown: return;
    case parameter_kind::number:
      // A user's struct may represent a number; only its size is checked.
      if (a.kind == argument_kind::number ? !p.element.accepts(*a.type)
                                          : a.kind != argument_kind::object || a.bytes != p.element.bytes)
        refuse(kernel, a, k, who);
      return;
    case parameter_kind::pointer:
      if (a.kind == argument_kind::array) return check_elements(kernel, a, k, false, view_of_argument(a).type, who);
      if (a.kind == argument_kind::in) return check_elements(kernel, a, k, true, view_of_argument(a).type, who);
      if (a.kind == argument_kind::pointer) return check_elements(kernel, a, k, a.readonly, a.type, who);
      refuse(kernel, a, k, who);
    case parameter_kind::strided: {
      if (a.kind != argument_kind::strided) refuse(kernel, a, k, who, is_array(a) ? "; pass sn::strided(x)" : "");
      const graph::array_view& v = view_of_argument(a);
      if (v.shape.size() != p.rank) refuse(kernel, a, k, who);
      return check_elements(kernel, a, k, a.readonly, v.type, who);
    }
  }
}

void check_sizes(const bound_kernel& kernel, kernel_arguments arguments, const std::string& who) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::size_t bytes = bytes_of(arguments[k]), wanted = (*kernel.parameter_bytes)[k];
    if (bytes == wanted) continue;
    fail<dtype_error>(who, "argument ", k + 1, " is ", described(arguments[k]), " (", bytes,
                      " bytes), but the parameter has ", wanted, " bytes", parameters_text(kernel));
  }
}

std::string to_text(const extents3& e) {
  return "{" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + "}";
}
extents3 extents_of(const dims& d) { return {d.x, d.y, d.z}; }
bool exceeds(const extents3& e, const extents3& most) { return e.x > most.x || e.y > most.y || e.z > most.z; }
bool any_below(const extents3& e, std::int64_t least) { return e.x < least || e.y < least || e.z < least; }

void check_block(const runtime::function_figures& limits, const extents3& block, const std::string& who) {
  if (any_below(block, 1)) fail<value_error>(who, "block ", to_text(block), " has no threads");
  if (exceeds(block, limits.max_block))
    fail<value_error>(who, "block ", to_text(block), " exceeds the device's limit of ", to_text(limits.max_block));
  const std::int64_t threads = block.x * block.y * block.z;
  if (threads > limits.max_threads)
    fail<value_error>(who, "block ", to_text(block), " has ", threads, " threads; at most ", limits.max_threads,
                      " may run this kernel, which uses ", limits.registers, " registers a thread");
}

void check_cluster(const runtime::function_figures& limits, const extents3& grid, const extents3& cluster,
                   const std::string& who) {
  const auto refuse = [&](const std::string& why) { fail<value_error>(who, "cluster ", to_text(cluster), why); };
  if (any_below(cluster, 1)) refuse(" has no blocks");
  if (!limits.clusters) refuse(": the device has no thread block clusters");
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    refuse(" does not divide grid " + to_text(grid));
  // Far above any device's limit, so that the cast is safe; the driver checks the actual limit.
  constexpr std::int64_t most = 1 << 16;
  if (exceeds(cluster, {most, most, most})) refuse(" is larger than any device allows");
}

}  // namespace

std::size_t bytes_of(const kernel_argument& a) {
  if (a.kind == argument_kind::strided)
    return sizeof(void*) +
           2 * sizeof(std::int64_t) * static_cast<std::size_t>(std::max(view_of_argument(a).shape.size(), 1));
  return is_array(a) ? sizeof(void*) : a.bytes;
}

void check_arguments(const bound_kernel& kernel, kernel_arguments arguments, const std::string& who) {
  const bool known = kernel.signature || kernel.parameter_bytes;
  const std::size_t count = kernel.signature         ? kernel.signature->parameters.size()
                            : kernel.parameter_bytes ? kernel.parameter_bytes->size()
                                                     : arguments.size();
  if (known && arguments.size() != count)
    fail<value_error>(who, arguments.size(), (arguments.size() == 1 ? " argument" : " arguments"),
                      ", but the kernel has ", count, (count == 1 ? " parameter" : " parameters"),
                      parameters_text(kernel));
  if (kernel.signature)
    for (std::size_t k = 0; k < arguments.size(); ++k) check_argument(kernel, arguments[k], k, who);
  if (kernel.parameter_bytes) check_sizes(kernel, arguments, who);
}

runtime::raw_launch checked_launch(const runtime::function_figures& limits, const launch& how, const std::string& who) {
  runtime::raw_launch l{extents_of(how.grid), extents_of(how.block), extents_of(how.cluster), how.shared_mem,
                        how.cooperative};
  check_block(limits, l.block, who);
  if (any_below(l.grid, 0)) fail<value_error>(who, "grid ", to_text(l.grid), " has a negative extent");
  if (exceeds(l.grid, limits.max_grid))
    fail<value_error>(who, "grid ", to_text(l.grid), " exceeds the device's limit of ", to_text(limits.max_grid));
  if (l.shared_bytes > limits.max_dynamic_shared)
    fail<value_error>(who, l.shared_bytes, " bytes of dynamic shared memory; at most ", limits.max_dynamic_shared,
                      " are left beside the ", limits.shared_bytes, " that the kernel declares");
  if (l.cooperative && !limits.cooperative) fail<value_error>(who, "the device has no cooperative launches");
  if (l.cluster.x != 0 || l.cluster.y != 0 || l.cluster.z != 0) check_cluster(limits, l.grid, l.cluster, who);
  return l;
}

void check_writable(const graph::array_view& v, bool strided, std::size_t argument, const std::string& who) {
  const auto refuse = [&](const std::string& why) {
    fail<value_error>(who, "argument ", argument + 1, ", which the kernel may write, ", why, "; shape ", v.shape,
                      ", strides ", v.strides);
  };
  if (v.readonly) refuse("is read-only: pass sn::in(x), or a copy");
  if (strided ? !v.whole && core::may_self_overlap(v.shape, v.strides) : !graph::in_c_order(v))
    refuse(strided ? "has elements that share memory (a broadcast view): pass a copy"
                   : "is not C-contiguous: pass sn::strided(x), or a copy");
}

}  // namespace sinter::ops
