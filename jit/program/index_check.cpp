// The switch of checked mode, and the message for an index out of range.
#include "jit/program/index_check.hpp"

#include <atomic>

#include "platform/environment.hpp"

namespace sinter::jit {
namespace {

constexpr bool is_debug_build =
#ifdef NDEBUG
    false;
#else
    true;
#endif

std::atomic<bool>& setting() noexcept {
  static std::atomic<bool> on{platform::environment_switch("SINTER_CHECK_INDEX").value_or(is_debug_build)};
  return on;
}

/// Parameters of generalised kernels: x in the text is a part of the array sn_all_x without its first axis.
constexpr std::string_view whole_prefix = "sn_all_";

const user_parameter* parameter_of(const user_function& f, std::size_t operand) {
  if (operand < f.inputs.size()) return &f.inputs[operand];
  operand -= f.inputs.size();
  for (const user_parameter& p : f.outputs)
    if (p.raw && operand-- == 0) return &p;
  return nullptr;
}

}  // namespace

bool checks_index() noexcept { return setting().load(std::memory_order_relaxed); }
void set_checks_index(bool on) noexcept { setting() = on; }

std::string checked_array(const std::string& array, const std::string& fault, const user_function& f,
                          std::size_t operand) {
  return "sn::checked(" + array + ", " + fault + ", 0x" + f.symbol.substr(f.symbol.size() - 16) + "ull, " +
         std::to_string(operand) + ")";
}

bool was_write(const bad_access& a) {
  const user_function* f = find_function(a.function);
  return f && static_cast<std::size_t>(a.operand) >= f->inputs.size();
}

std::string describe(const bad_access& a) {
  const user_function* f = find_function(a.function);
  const user_parameter* p = f ? parameter_of(*f, static_cast<std::size_t>(a.operand)) : nullptr;
  std::string name = p ? p->name : "an array";
  int axis = a.axis;
  if (name.starts_with(whole_prefix)) {
    name.erase(0, whole_prefix.size());
    --axis;
  }
  return "[" + (f ? f->name : std::string("kernel")) + "] index " + std::to_string(a.value) + " of argument " + name +
         " is out of range for " + (axis < 0 ? "" : "axis " + std::to_string(axis) + " with ") + "extent " +
         std::to_string(a.extent);
}

}  // namespace sinter::jit
