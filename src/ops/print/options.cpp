// Print options are thread-local, as NumPy's are context-local.
#include "ops/print/options.hpp"

#include <algorithm>
#include <limits>

#include "ops/base/errors.hpp"
#include "platform/per_thread.hpp"
#include "sinter/error.hpp"

namespace sinter {
namespace ops {
namespace {

constexpr int most_fixed_digits = 16384;  // NumPy's limit

}  // namespace

print_options& current_print_options() { return platform::per_thread<print_options, print_kw>::get(); }

print_options print_options_with(const print_kw& kw, const char* function) {
  print_options o = current_print_options();
  const auto take = [&](auto& to, const auto& given) {
    if (given) to = *given;
  };
  const auto take_int = [&](int& to, const std::optional<std::int64_t>& given) {
    constexpr std::int64_t least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
    if (given) to = static_cast<int>(std::clamp(*given, least, most));
  };
  take_int(o.precision, kw.precision);
  take(o.threshold, kw.threshold);
  take_int(o.edgeitems, kw.edgeitems);
  take_int(o.linewidth, kw.linewidth);
  take(o.suppress, kw.suppress);
  take(o.nanstr, kw.nanstr);
  take(o.infstr, kw.infstr);
  take(o.sign, kw.sign);
  take(o.floatmode, kw.floatmode);
  const auto refuse = [&](const std::string& what) { ops::fail<value_error>(function, what); };
  if (o.precision < 0) refuse("precision is negative");
  if (o.floatmode == floatmode::fixed && o.precision > most_fixed_digits)
    refuse("precision is above " + std::to_string(most_fixed_digits) + ", the most digits after a point");
  if (o.threshold < 0) refuse("threshold is negative");
  if (o.edgeitems < 1) refuse("edgeitems is below 1");
  if (o.linewidth < 1) refuse("linewidth is below 1");
  if (o.sign != '-' && o.sign != '+' && o.sign != ' ')
    refuse(std::string("sign is '") + o.sign + "'; -, + and blank are known");
  return o;
}

}  // namespace ops

inline namespace v0 {

void set_printoptions(const print_kw& kw) {
  ops::current_print_options() = ops::print_options_with(kw, "set_printoptions");
}
print_options get_printoptions() { return ops::current_print_options(); }

printoptions::printoptions(const print_kw& kw) : before_(ops::current_print_options()) {
  ops::current_print_options() = ops::print_options_with(kw, "printoptions");
}
printoptions::~printoptions() { ops::current_print_options() = std::move(before_); }

}  // namespace v0
}  // namespace sinter
