// Captured launches as functions of addresses alone, beside the same ones interpreted.
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "backends/cpu/fixed_code.hpp"
#include "backends/cpu/kernels/hooks.hpp"
#include "jit/cpu/compile_host.hpp"
#include "ops/vmap/beside_loop.hpp"
#include "sinter/compile.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"
#include "sinter/special.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

using arrays = std::vector<ndarray>;
using function = std::function<arrays(const ndarray&, const ndarray&)>;

bool can_compile() { return zeros(1).device() == device("cpu") && !jit::host_compiler::find().path.empty(); }

class tier_of {
 public:
  explicit tier_of(cpu::tier t) : before_(cpu::get_tier()) { cpu::set_tier(t); }
  ~tier_of() { cpu::set_tier(before_); }

 private:
  cpu::tier before_;
};

/// The results of compiled calls, of which the first ones are interpreted, have the bits of ordinary ones; `least`: functions
/// that are compiled for it.
void check(const function& f, const ndarray& x, const ndarray& y, std::uint64_t least) {
  arrays right;
  {
    const tier_of now(cpu::tier::interpreted);
    right = f(x, y);
    for (ndarray& r : right) r = r.copy();
  }
  const tier_of now(cpu::tier::compiled);
  const std::uint64_t before = cpu::compiled_fixed_codes();
  const auto g = compile(f);
  for (int call = 0; call < 12; ++call) {
    const arrays got = g(x, y);
    REQUIRE(got.size() == right.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      CAPTURE(call);
      CAPTURE(k);
      CHECK(same_bits(got[k], right[k]));
    }
  }
  CHECK(cpu::compiled_fixed_codes() - before >= least);
}

ndarray awkward(const shape_t& shape, dtype type) {
  ndarray x = numbers(shape, type).copy();
  ndarray flat = x.reshape({-1});
  const std::int64_t n = flat.size();
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  if (n > 3) flat(1) = -0.0, flat(2) = 0.0, flat(n - 1) = -0.0;
  if (n > 40) flat(17) = inf, flat(23) = -inf, flat(31) = nan;
  return x;
}

}  // namespace

TEST_CASE("fixed steps: reductions of every length have the bits of interpreted ones") {
  if (!can_compile()) return;
  const auto f = [](const ndarray& x, const ndarray& y) {
    arrays found;
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 30, 31, 33, 64, 65, 127, 128, 130, 257, 300})
      found.push_back(sum(x(slice(_, n)) * 1.5)), found.push_back(prod(1.0 + 1e-3 * y(slice(_, n))));
    const ndarray a = x(slice(_, 300)).reshape({20, 15}), b = y(slice(_, 300)).reshape({5, 60}),
                  c = x(slice(_, 240)).reshape({4, 5, 12});
    for (const ndarray& m : {a, b, ndarray(a.T()), ndarray(b.T())})
      for (const int axis : {0, 1})
        found.push_back(sum(m * m, axis)), found.push_back(sum(m + 0.25, axis)), found.push_back(max(m * -1.0, axis)),
            found.push_back(min(m * 2.0, axis)), found.push_back(mean(exp(m), axis)),
            found.push_back(sum(tanh(m) * m, axis) * 2.0);
    for (const int axis : {0, 1, 2}) found.push_back(sum(c * 0.5, axis)), found.push_back(max(sin(c), axis));
    found.push_back(sum(c * c, axes{0, 2}));
    found.push_back(sum(exp(c), axes{1, 2}));
    found.push_back(log(sum(exp(a), 1)) + max(a * 1.0, 1));
    return found;
  };
  check(f, numbers({300}) * 0.3, numbers({300}, float64, 3) * 0.2, 40);
  check(f, numbers({300}, float32), numbers({300}, float32, 5) * 0.1f, 40);
}

TEST_CASE("fixed steps: zeros of both signs, infinities and no numbers") {
  if (!can_compile()) return;
  const auto f = [](const ndarray& x, const ndarray& y) {
    arrays found{sum(x * 1.0), max(x * 1.0), min(x * 1.0), prod(x * 1.0), maximum(x, y), minimum(x, -y)};
    for (const std::int64_t n : {1, 2, 3, 4, 6, 13, 30})
      found.push_back(sum(x(slice(_, n)) * -1.0)), found.push_back(max(x(slice(_, n)) * -1.0)),
          found.push_back(min(-x(slice(_, n))));
    const ndarray m = x.reshape({6, 8}) * 1.0, t = x.reshape({8, 6}) * y.reshape({8, 6});
    for (const int axis : {0, 1})
      found.push_back(sum(m * 1.0, axis)), found.push_back(max(t * 1.0, axis)), found.push_back(min(-m, axis)),
          found.push_back(argmax(m * 1.0, axis)), found.push_back(argmin(t * 1.0, axis));
    found.push_back(where(isnan(x), 0.0, x) / y);
    found.push_back(sign(x) + sqrt(absolute(y)));
    return found;
  };
  check(f, awkward({48}, float64), awkward({48}, float64) * 0.5, 10);
  check(f, awkward({48}, float32), numbers({48}, float32, 2), 10);
}

TEST_CASE("fixed steps: integers, truth values, complex numbers and casts") {
  if (!can_compile()) return;
  const auto f = [](const ndarray& x, const ndarray& y) {
    const ndarray i = x.astype(int64), s = y.astype(int16), m = i.reshape({8, 6});
    arrays found{i + 3,      i * s,        sum(i * 2),           prod(s + 1),       max(i * -1),
                 sum(i > 2), any(x > 1e3), sinter::all(x < 1e3), i.astype(float32), (i > s).astype(int32)};
    for (const int axis : {0, 1})
      found.push_back(sum(m * 3, axis)), found.push_back(min(m - 1, axis)), found.push_back(count_nonzero(m > 1, axis)),
          found.push_back(any(m > 3, axis)), found.push_back(sinter::all(m < 40, axis));
    const ndarray z = x + y * std::complex<double>(0, 1);
    found.push_back(z * z);
    found.push_back(exp(z));
    found.push_back(real(z) + absolute(z));
    found.push_back(floor_divide(i, s + 100));
    found.push_back(bitwise_and(i, 7));
    found.push_back(argmax(m * 2, 1));
    return found;
  };
  check(f, numbers({48}), numbers({48}, float64, 3), 5);
}

TEST_CASE("fixed steps: views, gathers, writes and one number") {
  if (!can_compile()) return;
  const auto f = [](const ndarray& x, const ndarray& y) {
    arrays found;
    const ndarray m = x.reshape({6, 8}), index = (arange(8) * 3) % 6;
    found.push_back(m.T() * 2.0);
    found.push_back(flip(m, 1) + m);
    found.push_back(roll(m, 2, 1) - roll(m, -1, 0));
    found.push_back(pad(m, {{1, 1}, {2, 0}}) * 0.5);
    found.push_back(concatenate({m, ndarray(m * 2.0)}, 0));
    found.push_back(take(m, index, 0) * 3.0);
    found.push_back(m(_, index(slice(_, 4))) + 1.0);
    ndarray w = m.copy();
    w(slice(1, -1), slice(1, -1)) += 0.1 * (m(slice(_, -2), slice(1, -1)) + m(slice(2, _), slice(1, -1)));
    w(0) = w(1) * 2.0;
    found.push_back(w);
    ndarray v = y.copy();
    v(slice(1, _)) = v(slice(_, -1)) + 1.0;
    v(slice(_, _, 2)) *= exp(v(slice(_, _, 2)));
    found.push_back(v);
    const ndarray one = sum(x * y);
    found.push_back(exp(one * 1e-2) * m);
    found.push_back(tanh(one) + log(absolute(one)));
    found.push_back(outer(x(slice(_, 5)), y(slice(_, 7))) + one);
    found.push_back(where(m > 0.1, sin(m), m - arange(8)));
    found.push_back(cos(m(_, newaxis, 3)) + m(slice(_, 3))(newaxis, _, 2));
    return found;
  };
  check(f, numbers({48}) * 0.3, numbers({48}, float64, 3) * 0.2, 10);
}

TEST_CASE("fixed steps: loops and their derivatives") {
  if (!can_compile()) return;
  const auto f = [](const ndarray& x, const ndarray& y) {
    const auto loss = [&](const ndarray& a) {
      const ndarray r = fori_loop(
          0, 30,
          [&](const ndarray&, const ndarray& u) {
            return ndarray(u + 0.01 * special::logsumexp(u(newaxis, _) * a(_, newaxis), 1));
          },
          ndarray(y(slice(_, 12))));
      return sum(square(r));
    };
    return arrays{grad(loss)(ndarray(x(slice(_, 12))))};
  };
  check(f, numbers({48}) * 0.3, numbers({48}, float64, 3) * 0.2, 2);
}

TEST_CASE("fixed steps: padded differences, whose ends are loops of their own") {
  if (!can_compile()) return;
  const auto heat = [](const ndarray& x, const ndarray& y) {
    const auto loss = [&](const ndarray& k) {
      const auto step = [&](const ndarray&, const ndarray& u) {
        const ndarray flux = k * (u(slice(1, _)) - u(slice(_, -1)));
        return ndarray(u + 0.1 * (pad(flux, {{0, 1}}) - pad(flux, {{1, 0}})));
      };
      return sum(square(fori_loop(0, 20, step, y)));
    };
    return arrays{grad(loss)(ndarray(x(slice(1, _))))};
  };
  check(heat, numbers({48}) * 0.1, numbers({48}, float64, 3), 2);
  const auto wave = [](const ndarray& x, const ndarray&) {
    const auto loss = [](const ndarray& start) {
      const auto step = [](const ndarray&, const std::pair<ndarray, ndarray>& c) {
        const auto& [u, v] = c;
        const ndarray inner = u(slice(1, -1), slice(1, -1));
        ndarray w = v.copy();
        w(slice(1, -1), slice(1, -1)) +=
            0.1 * (u(slice(_, -2), slice(1, -1)) + u(slice(2, _), slice(1, -1)) - 2.0 * inner) +
            0.2 * (u(slice(1, -1), slice(_, -2)) - u(slice(1, -1), slice(2, _)));
        return std::pair(ndarray(u + 0.1 * w), w);
      };
      return sum(square(fori_loop(0, 20, step, std::pair(start, zeros({6, 8}))).first));
    };
    return arrays{grad(loss)(ndarray(x.reshape({6, 8})))};
  };
  check(wave, numbers({48}), numbers({48}), 2);
}

TEST_CASE(
    "fixed steps: a result over other elements than those that it follows from is stored when all have been read") {
  if (!can_compile()) return;
  jit::program p;
  p.code = {{jit::opcode::load, dtype::f64, dtype::f64}, {jit::opcode::add, dtype::f64, dtype::f64}};
  p.epilogue = 2;
  p.inputs = {{dtype::f64}};
  p.outputs = {{dtype::f64, 0, 1}};
  std::vector<double> memory(20), right(20);
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<double>(k), right[19 - k] = 2 * memory[k];
  jit::launch l;
  l.code = &p;
  l.extents = {20};
  l.kept = 1;
  l.inputs.resize(1), l.outputs.resize(1);
  l.inputs[0].base = l.outputs[0].base = memory.data();
  l.inputs[0].offset = 19;
  l.inputs[0].strides = {-1};
  l.outputs[0].strides = {1};
  cpu::fixed_code* const code = cpu::find_fixed_code(l);
  REQUIRE(code != nullptr);
  cpu::compiled_code* const wanted[] = {code};
  cpu::compile_blocks(wanted);
  const bool is_compiled = code->function() != nullptr;
  REQUIRE(is_compiled);
  code->function()(cpu::addresses_of(l, cpu::param_block(l)).data(), code->operations());
  CHECK(memory == right);
}

TEST_CASE("fixed steps: an array of numbers made in a step does not make each step another one") {
  if (!can_compile()) return;
  int calls = 0;
  const auto f = [&](const ndarray& p, const ndarray& v) {
    const auto [q, w] = fori_loop(
        0, 60,
        [&](const ndarray&, const std::pair<ndarray, ndarray>& c) {
          ++calls;
          const ndarray next = c.second - 0.01 * array({0.0, 9.81}), at = c.first + 0.01 * next;
          return std::pair(ndarray(where(at < 0.0, -at, at)), ndarray(where(at < 0.0, -0.9 * next, next)));
        },
        std::pair(p, v));
    return sum(square(q)) + sum(w);
  };
  const ndarray p = numbers({4, 2}) + 1.0, v = numbers({4, 2}, float64, 3);
  const ndarray right = grad(f)(p, v).copy();
  const auto g = compile(grad(f));
  calls = 0;
  CHECK(allclose(g(p, v), right, 1e-13, 1e-13));
  CHECK(calls <= 6);
  calls = 0;
  CHECK(allclose(g(p * 2.0, v), grad(f)(ndarray(p * 2.0), v), 1e-13, 1e-13));
}
