// Times draws of random numbers.
#include "bench.hpp"

namespace bench {

void random_rows() {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  const std::int64_t n = gpu ? 100'000'000 : 10'000'000, few = n / 10;
  const std::string size = gpu ? ", 1e8" : ", 1e7", fewer = gpu ? ", 1e7" : ", 1e6";
  sn::random::generator g(1);
  const sn::random::draw_kw f32{.dtype = sn::float32};
  const double count = static_cast<double>(n);
  const auto row = [](const std::string& name, double bytes, auto draw) {
    print_row(name, steady_seconds([&] { sn::eval(draw()); }), bytes, "GB/s");
  };
  print_head();
  row("standard_normal float32" + size, 4 * count, [&] { return g.standard_normal(n, f32); });
  row("standard_normal float64" + size, 8 * count, [&] { return g.standard_normal(n); });
  row("2 * standard_normal + 1, float32" + size, 4 * count, [&] { return 2 * g.standard_normal(n, f32) + 1; });
  row("random float32" + size, 4 * count, [&] { return g.random(n, f32); });
  row("random float64" + size, 8 * count, [&] { return g.random(n); });
  row("standard_exponential float32" + size, 4 * count, [&] { return g.standard_exponential(n, f32); });
  row("integers 0 to 9, int64" + size, 8 * count, [&] { return g.integers(0, 10, n); });
  row("gamma of 2.5, float64" + fewer, 0, [&] { return g.standard_gamma(2.5, few); });
  row("poisson of 3.5" + fewer, 0, [&] { return g.poisson(3.5, few); });
  row("poisson of 350" + fewer, 0, [&] { return g.poisson(350.0, few); });
  row("binomial of 1000, 0.3" + fewer, 0, [&] { return g.binomial(1000, 0.3, few); });
  row("permutation" + fewer, 0, [&] { return g.permutation(few); });
  row("pi from points, float32" + size, 0,
      [&] { return sn::sum(sn::square(g.random(n, f32)) + sn::square(g.random(n, f32)) < 1.0); });
}

}  // namespace bench
