// Extremes of integers in vmap and loops.
#include "hostile/extreme_integers.hpp"
#include "sinter/loops.hpp"
#include "sinter/vmap.hpp"

using namespace hostile;

namespace {

ndarray grid() { return sn::reshape(sn::sin(sn::arange(12, {.dtype = sn::float64})), {4, 3}); }
const auto doubled = [](const ndarray& a) { return a * 2; };

}  // namespace

TEST_CASE("extreme integers: vmap and loops") {
  check_extremes({
      {"example_axes", [](int64_t k) { return sn::vmap(doubled, {.in_axes = k})(grid()); }},
      {"example_axes out", [](int64_t k) { return sn::vmap(doubled, {.out_axes = {k}})(grid()); }},
      {"vmap_kw.axis_size", [](int64_t k) { return sn::vmap([] { return sn::ones(3); }, {.axis_size = k})(); }},
      {"vmap_kw.axis_size beside arrays", [](int64_t k) { return sn::vmap(doubled, {.axis_size = k})(grid()); }},
      {"example_scope",
       [](int64_t k) {
         const sn::example_scope of(k);
         return sn::random::random(3);
       }},
      {"fori_loop",
       [](int64_t k) {
         return sn::fori_loop(
             k, k, [](const ndarray&, const ndarray& a) { return a; }, grid());
       }},
      {"fori_loop to -3",
       [](int64_t k) {
         return sn::fori_loop(
             std::max<int64_t>(k, -3), -3, [](const ndarray&, const ndarray& a) { return a; }, grid());
       }},
      {"scan_loop_kw.length",
       [](int64_t k) {
         const auto f = [](const ndarray& c, const ndarray& e) { return std::pair(c + e, e); };
         return sn::scan(f, sn::zeros(3), grid(), {.length = k}).second;
       }},
  });
}
