// Indexing by arrays and masks on a GPU: the CPU's elements, bits that do not vary, errors that name the index, sizes
// at which masks are computed as bits, and what runs.
#ifdef SINTER_HAS_CUDA

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"
#include "runtime/backend.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using positions = std::vector<std::int64_t>;

device gpu() { return default_device(); }

/// Whole numbers without a pattern, so small that sums of a few of them are exact in every dtype but int8, which wraps.
ndarray numbers(const shape_t& shape, dtype t, const device& d) {
  std::int64_t n = 1;
  for (const auto e : shape) n *= e;
  const std::int64_t below = t == bfloat16 || t == float16 ? 15 : t == int8 ? 127 : 251;
  const ndarray i = arange(n, {.dtype = int64, .device = d});
  return reshape(((i * 7919 + 13) % below).astype(t), shape).copy();
}
ndarray indices(const positions& p, const device& d, dtype t = int64) { return array(p, {.device = d}).astype(t); }
/// `count` indices into n elements: of both signs, many of them equal.
ndarray many_indices(std::int64_t count, std::int64_t n, const device& d, dtype t = int64) {
  const ndarray i = arange(count, {.dtype = int64, .device = d});
  return ((i * i * 31 + i * 17) % (2 * n) - n).astype(t);
}

bool same_elements(const ndarray& a, const ndarray& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const auto flat = [](const ndarray& x) {
    const ndarray h = x.to_device(cpu);
    std::vector<double> out;
    for (const ndarray& part : {real(h), imag(h)})
      for (const double v : part.astype(float64).to_vector<double>()) out.push_back(v);
    return out;
  };
  const auto x = flat(a), y = flat(b);
  return gpu_test::first_difference(x, y) == -1;
}

/// What a program makes on the CPU and on the GPU.
struct program {
  const char* name;
  ndarray (*run)(const ndarray& x, const device& d);
};

const program readings[] = {
    {"rows",
     [](const ndarray& x, const device& d) {
       return x[indices({3, 0, -1, 3}, d)].copy();
     }},
    {"columns by int32",
     [](const ndarray& x, const device& d) {
       return x(_, indices({5, -7, 2}, d, int32)).copy();
     }},
    {"columns by uint8",
     [](const ndarray& x, const device& d) {
       return x(_, indices({5, 0, 2}, d, uint8)).copy();
     }},
    {"points",
     [](const ndarray& x, const device& d) {
       return x(indices({1, 2, -3}, d), indices({0, 4, 6}, d)).copy();
     }},
    {"a mesh",
     [](const ndarray& x, const device& d) {
       return x(ix_(indices({4, 0}, d), indices({1, 1, 3}, d))).copy();
     }},
    {"apart",
     [](const ndarray& x, const device& d) {
       return reshape(x, {10, 2, 2, 7})(indices({1, 9}, d), _, 1, indices({0, 6}, d)).copy();
     }},
    {"list beside newaxis",
     [](const ndarray& x, const device&) {
       return x(newaxis, list{{0, 19}, {5, -6}}, slice(2, 5)).copy();
     }},
    {"a mask", [](const ndarray& x, const device&) { return x[x.astype(int32) % 3 == 1].copy(); }},
    {"a mask in memory",
     [](const ndarray& x, const device&) {
       const ndarray m = x.astype(int32) % 5 > 2;
       eval(m);
       return x[m].copy();
     }},
    {"a mask of rows",
     [](const ndarray& x, const device&) { return x(x(_, 0).astype(int32) % 2 == 0, slice(1, _, 2)).copy(); }},
    {"a mask of columns", [](const ndarray& x, const device&) { return x(_, x(0).astype(int32) % 2 == 1).copy(); }},
    {"a mask of a transposed view",
     [](const ndarray& x, const device&) { return x.T()[x.T().astype(int32) % 4 == 0].copy(); }},
    {"a mask and an index",
     [](const ndarray& x, const device& d) {
       const ndarray m = arange(20, {.dtype = int64, .device = d}) % 9 == 1;
       return x(m, indices({1, 2, 3}, d)).copy();
     }},
    {"nothing is true", [](const ndarray& x, const device&) { return x[x.astype(int32) < 0].copy(); }},
    {"everything is true", [](const ndarray& x, const device&) { return x[x.astype(int32) >= 0].copy(); }},
    {"a mask of rank 0", [](const ndarray& x, const device& d) { return x[array(true, {.device = d})].copy(); }},
    {"take and clip",
     [](const ndarray& x, const device& d) {
       return take(x, indices({-4, 3, 90}, d), 1, {.mode = "clip"});
     }},
    {"nonzero", [](const ndarray& x, const device&) { return stack(nonzero(x.astype(int32) % 6 == 5)); }},
    {"extract", [](const ndarray& x, const device&) { return extract(x.astype(int32) % 7 == 2, x); }},
    {"compress", [](const ndarray& x, const device&) { return compress(x(0).astype(int32) % 2 == 0, x, 1); }},
    {"choose",
     [](const ndarray& x, const device&) {
       return choose(x.astype(int64) % 2, {x, x(3)});
     }},
};

const program writings[] = {
    {"of equal indices the last wins",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       y(many_indices(500, 20, d)) = numbers({500, 14}, x.dtype(), d);
       return y;
     }},
    {"few equal indices into many elements",
     [](const ndarray& x, const device& d) {
       const ndarray y = reshape(x, {-1}).copy();
       y(indices({279, 5, -1, 5, 0}, d)) = numbers({5}, x.dtype(), d);
       return y;
     }},
    {"a number",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       y(indices({1, 1, -1}, d), slice(_, _, 3)) = 1;
       return y;
     }},
    {"points in a view",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       y.T()(slice(2, 12, 3))(indices({0, 2, 0}, d), indices({7, 8, 7}, d)) = numbers({3}, x.dtype(), d);
       return y;
     }},
    {"multiplied once",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       y[indices({0, 0, 2, -1}, d)] *= x(1);
       return y;
     }},
    {"masked by a number",
     [](const ndarray& x, const device&) {
       const ndarray y = x.copy();
       y[x.astype(int32) % 2 == 0] = 1;
       return y;
     }},
    {"masked by a row",
     [](const ndarray& x, const device&) {
       const ndarray y = x.copy();
       y[x(_, 0).astype(int32) % 2 == 0] = x(0);
       return y;
     }},
    {"masked by as many as are true",
     [](const ndarray& x, const device&) {
       const ndarray y = x.copy(), m = x.astype(int32) % 3 == 0;
       y[m] = flip(x)[m];
       return y;
     }},
    {"put",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       put(y, indices({5, -1, 5, 100}, d), numbers({3}, x.dtype(), d));
       return y;
     }},
    {"place",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       place(y, x.astype(int32) % 4 == 1, numbers({3}, x.dtype(), d));
       return y;
     }},
    {"putmask",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       putmask(y, x.astype(int32) % 4 == 1, numbers({3}, x.dtype(), d));
       return y;
     }},
    {"put_along_axis",
     [](const ndarray& x, const device& d) {
       const ndarray y = x.copy();
       put_along_axis(y, many_indices(20, 14, d)(_, newaxis), numbers({20, 1}, x.dtype(), d), 1);
       return y;
     }},
    {"added each time",
     [](const ndarray& x, const device& d) {
       const ndarray y = zeros(x.shape(), {.dtype = x.dtype(), .device = d});
       add_at(y, many_indices(40, 20, d, int32), x(0));
       return y;
     }},
    {"added in order",
     [](const ndarray& x, const device& d) {
       const ndarray y = zeros(x.shape(), {.dtype = x.dtype(), .device = d});
       add_at(y, many_indices(40, 20, d), x(0), {.deterministic = true});
       return y;
     }},
};

void check_same(const program& p, const ndarray& x) {
  const std::string type(name(x.dtype()));
  CAPTURE(type);
  CAPTURE(p.name);
  const ndarray here = p.run(x, cpu), there = p.run(x.to_device(gpu()), gpu());
  CHECK(there.device() == gpu());
  CHECK(same_elements(here, there));
}

std::uint64_t launches() { return runtime::get_backend(runtime::default_device()).statistics().launches; }
std::uint64_t launches_of(const std::function<void()>& work) {
  work();  // whatever is made once
  const auto before = launches();
  work();
  return launches() - before;
}

std::string index_error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const index_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// 24 bits of a hash of the position, in [0, 1): on the device, and one of them on the host.
ndarray hashed(const shape_t& shape) {
  std::int64_t n = 1;
  for (const auto e : shape) n *= e;
  const ndarray i = arange(n, {.dtype = int64});
  const ndarray x = reshape(((i * 0x2545f491 >> 7) % 16777216).astype(float32) * (1.0f / 16777216), shape);
  eval(x);
  return x;
}
float hash_of(std::int64_t i) { return static_cast<float>((i * 0x2545f491 >> 7) % 16777216) * (1.0f / 16777216); }

bool no_memory(std::size_t bytes) {
  const std::size_t available = memory(gpu()).available;
  if (available >= bytes) return false;
  MESSAGE("left out: needs " << bytes << " bytes of GPU memory, " << available << " are free");
  return true;
}

}  // namespace

TEST_CASE("gpu: selections by arrays and masks read what the CPU reads, of every dtype") {
  if (gpu_test::no_gpu()) return;
  for (int t = 0; t < dtype_count; ++t) {
    const auto type = static_cast<dtype>(t);
    const ndarray x = numbers({20, 14}, type, cpu);
    for (const program& p : readings) check_same(p, x);
  }
}

TEST_CASE("gpu: selections by arrays and masks write what the CPU writes, of every integer") {
  if (gpu_test::no_gpu()) return;
  for (const dtype t : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64})
    for (const program& p : writings) check_same(p, numbers({20, 14}, t, cpu));
}

TEST_CASE("gpu: selections by arrays and masks write what the CPU writes, of every inexact dtype") {
  if (gpu_test::no_gpu()) return;
  for (const dtype t : {float16, bfloat16, float32, float64, complex64, complex128})
    for (const program& p : writings) check_same(p, numbers({20, 14}, t, cpu));
}

TEST_CASE("gpu: scatter_max and scatter_min give the CPU's elements, NaN among them") {
  if (gpu_test::no_gpu()) return;
  for (int t = 0; t < dtype_count; ++t) {
    const auto type = static_cast<dtype>(t);
    if (is_complex(type)) continue;
    const std::string label(name(type));
    CAPTURE(label);
    ndarray v = numbers({3000}, type, cpu);
    if (is_real_floating(type)) v(slice(7, _, 500)) = std::numeric_limits<double>::quiet_NaN();
    using scatter_function = void (*)(subarray&&, const operand&, const scatter_kw&);
    for (const scatter_function scatter : {scatter_function(scatter_max), scatter_function(scatter_min)}) {
      const auto run = [&](const device& d) {
        const ndarray y = numbers({400}, type, d);
        scatter(y(many_indices(3000, 400, d)), v.to_device(d), {});
        return y;
      };
      CHECK(same_elements(run(cpu), run(gpu())));
    }
  }
}

TEST_CASE("gpu: assignments and ordered additions by equal indices have the same bits in every run") {
  if (gpu_test::no_gpu()) return;
  const std::int64_t n = 300000;
  const ndarray x = hashed({n}) - 0.37, at = many_indices(n, 1000, gpu());
  eval(x, at);
  std::vector<float> first_sums, first_last;
  for (int run = 0; run < 4; ++run) {
    const ndarray sums = zeros({1000}, float32), last = zeros({1000}, float32);
    add_at(sums, at, x, {.deterministic = true});
    last[at] = x;
    const auto s = sums.to_vector<float>(), l = last.to_vector<float>();
    if (run == 0) {
      first_sums = s;
      first_last = l;
    }
    CHECK(s == first_sums);
    CHECK(l == first_last);
  }
  // In C order, one after the other.
  const auto places = at.to_vector<std::int64_t>();
  const auto values = x.to_vector<float>();
  std::vector<float> sums(1000), last(1000);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto place = static_cast<std::size_t>(places[k] < 0 ? places[k] + 1000 : places[k]);
    sums[place] += values[k];
    last[place] = values[k];
  }
  CHECK(first_sums == sums);
  CHECK(first_last == last);
}

TEST_CASE("gpu: an index out of range is named at the next synchronisation, nothing is written, and work goes on") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = numbers({40, 30}, float32, gpu());
  const auto before = x.to_vector<float>();
  const auto check = [&](const char* expected, const std::function<void()>& work) {
    work();  // recorded, or enqueued
    const std::string message = index_error_of([] { synchronize(gpu()); });
    CHECK_MESSAGE(message.find(expected) != std::string::npos, message);
    CHECK_NOTHROW(synchronize(gpu()));
    CHECK(x.to_vector<float>() == before);
  };
  const ndarray bad_row = indices({3, 40, -40}, gpu()), bad_column = indices({-31, 2, 5}, gpu(), int32);
  const ndarray far = indices({0, std::int64_t{-1} << 45, 1}, gpu()), good = indices({1, 2, 3}, gpu());
  check("index 40 is out of range for axis 0 with extent 40", [&] { eval(x[bad_row]); });
  check("index -31 is out of range for axis 1 with extent 30", [&] { eval(x(good, bad_column) * 2); });
  check("index -35184372088832 is out of range for axis 1 with extent 30", [&] { eval(x(_, far)); });
  check("index 40 is out of range for axis 0 with extent 40", [&] { x[bad_row] = 1; });
  check("index 40 is out of range for axis 0 with extent 40", [&] { x[bad_row] = numbers({3, 30}, float32, gpu()); });
  check("index -31 is out of range for axis 1 with extent 30", [&] { x(good, bad_column) *= 2; });
  check("index 40 is out of range for axis 0 with extent 40", [&] { add_at(x, bad_row, 1); });
  check("index 40 is out of range for axis 0 with extent 40", [&] { add_at(x, bad_row, 1, {.deterministic = true}); });
  check("index -31 is out of range for axis 1 with extent 30", [&] { scatter_max(x(good, bad_column), 1000); });
  check("index 1200 is out of range for axis 0 with extent 1200", [&] { put(x, indices({5, 1200}, gpu()), 1); });
  // A mask that depends on one: known where its elements are counted.
  const std::string counting = index_error_of([&] { eval(x[x > x[bad_row](1)]); });
  CHECK_MESSAGE(counting.find("index 40 is out of range") != std::string::npos, counting);
  CHECK_NOTHROW(synchronize(gpu()));
  x[good] = 1;
  CHECK(x(2, 0).item<float>() == 1);
}

TEST_CASE("gpu: masks of sizes at which they are computed as bits") {
  if (gpu_test::no_gpu()) return;
  for (const shape_t& shape : {shape_t{1 << 20}, shape_t{(1 << 22) + 5}, shape_t{2048, 1024}, shape_t{3, 1001, 777}}) {
    const ndarray x = hashed(shape);
    const std::int64_t n = x.size();
    CAPTURE(n);
    for (const float limit : {-1.0f, 0.25f, 0.5f, 0.9999f, 2.0f}) {
      CAPTURE(limit);
      std::vector<float> wanted;
      positions where_true;
      for (std::int64_t k = 0; k < n; ++k)
        if (hash_of(k) > limit) wanted.push_back(hash_of(k)), where_true.push_back(k);
      CHECK(x[x > limit].to_vector<float>() == wanted);
      const ndarray mask = x > limit;
      CHECK(x[mask].to_vector<float>() == wanted);
      CHECK((x * 2)[mask & (x < 3)].to_vector<float>() == (array(wanted) * 2).to_vector<float>());  // again, and held
      eval(mask);
      CHECK(x[mask].to_vector<float>() == wanted);
      CHECK(flatnonzero(x > limit).to_vector<std::int64_t>() == where_true);
      CHECK(static_cast<std::int64_t>(wanted.size()) == count_nonzero(x > limit).item<std::int64_t>());
    }
  }
  // Views: not aligned, with gaps, transposed.
  const ndarray x = hashed({(1 << 22) + 9}), table = reshape(x(slice(1 << 22)), {2048, 2048});
  const ndarray shifted = x(slice(3, _)), every_other = x(slice(1, _, 2)), turned = table.T();
  for (const ndarray& v : {shifted, every_other, turned}) {
    const ndarray alone = v.copy();
    const auto all = alone.to_vector<float>();
    std::vector<float> wanted;
    for (const float e : all)
      if (e > 0.75f) wanted.push_back(e);
    CHECK(v[v > 0.75].to_vector<float>() == wanted);
    CHECK(v[alone > 0.75].to_vector<float>() == wanted);
  }
}

TEST_CASE("gpu: a mask, a selection and indices beyond 2^31 elements" * doctest::test_suite("alone")) {
  if (gpu_test::no_gpu()) return;
  const std::int64_t n = (std::int64_t{1} << 31) + 4099;
  if (no_memory(std::size_t{12} << 30)) return;
  const ndarray i = arange(n, {.dtype = int64}), x = ((i * 40503) >> 7).astype(uint8);
  eval(x);
  std::vector<std::uint8_t> wanted;
  positions found;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto v = static_cast<std::uint8_t>((k * 40503) >> 7);
    if (v > 253) wanted.push_back(v);
    if (k % 400000009 == 7 || k == n - 1) found.push_back(k);
  }
  CHECK(x[x > 253].to_vector<std::uint8_t>() == wanted);
  CHECK(flatnonzero((i % 400000009 == 7) | (i == n - 1)).to_vector<std::int64_t>() == found);
  const auto expected = [](std::int64_t k) { return static_cast<std::uint8_t>((k * 40503) >> 7); };
  std::vector<std::uint8_t> of_found;
  for (const std::int64_t k : found) of_found.push_back(expected(k));
  CHECK(x[array(found)].to_vector<std::uint8_t>() == of_found);
  CHECK(x[array(found) - n].to_vector<std::uint8_t>() == of_found);
  x[array(found)] = 3;
  CHECK(x(n - 1).item<int>() == 3);
  CHECK(x(n - 2).item<int>() == expected(n - 2));
  const std::string message = index_error_of([&] { x[array({n})].to_vector<std::uint8_t>(); });
  CHECK_MESSAGE(message.find("index 2147487747 is out of range for axis 0 with extent 2147487747") != std::string::npos,
                message);
}

TEST_CASE("gpu: what runs for a selection and for a write by a mask") {
  if (gpu_test::no_gpu()) return;
  const std::int64_t n = std::int64_t{1} << 22;
  ndarray x = hashed({n});
  const ndarray narrow = many_indices(n / 4, n, gpu(), int32), m = x > 0.25;
  eval(narrow, m);
  CHECK(launches_of([&] { eval(take(x, narrow)); }) == 1);
  CHECK(launches_of([&] { eval(x[narrow] * 2 + 1); }) == 1);
  // Bits of the flags, their count, the elements.
  CHECK(launches_of([&] { eval(x[x > 0.5]); }) == 3);
  CHECK(launches_of([&] { eval(x[m]); }) == 2);
  CHECK(launches_of([&] { eval(flatnonzero(x > 0.5)); }) == 3);
  CHECK(launches_of([&] {
          x[x > 0.5] = 0.25;
          x[m] += 1;
          x[x > 1] -= 1;
          eval(x);
        }) == 1);
  ndarray table = reshape(hashed({n}), {2048, 2048});
  eval(table);
  CHECK(launches_of([&] {
          table[table(_, 0) > 0.5] = table(3);
          eval(table);
        }) == 1);
}

#endif
