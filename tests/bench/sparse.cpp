// Times sparse products, solvers, neighbours, clusters, order statistics, joins and special functions.
// sparse_peers.py prints the same rows for other libraries.
#include <sinter/cluster.hpp>
#include <sinter/sparse.hpp>
#include <sinter/sparse_linalg.hpp>
#include <sinter/spatial.hpp>

#include <functional>
#include <string>

#include "bench.hpp"

namespace bench {
namespace {

namespace sp = sn::sparse;
namespace sl = sn::sparse::linalg;
using namespace sn::idx;

struct row_printer {
  std::string only;
  bool wanted(const std::string& name) const { return only.empty() || name.find(only) != std::string::npos; }
  template <class F>
  void operator()(const std::string& name, double bytes, const F& work) const {
    if (wanted(name)) print_row(name, seconds_of_results(work), bytes, "GB/s");
  }
};

/// Five diagonals of n rows, the outer ones `side` away.
sp::sparse_array five_diagonals(std::int64_t n, std::int64_t side, sn::dtype type) {
  const ndarray off = -sn::ones({n}, type), middle = sn::full({n}, 4, type);
  return sp::diags({off(slice(side, _)), off(slice(1, _)), middle, off(slice(1, _)), off(slice(side, _))},
                   {-side, -1, 0, 1, side});
}
/// Bytes of a matrix and of the vectors of a product.
double product_bytes(const sp::sparse_array& a) {
  return static_cast<double>(a.nbytes()) +
         static_cast<double>(sn::itemsize(a.dtype())) * static_cast<double>(a.shape(0) + a.shape(1));
}
std::vector<ndarray> parts_of(const sp::sparse_array& a) { return {a.data(), a.indices(), a.indptr()}; }
std::string kind_of(const sp::sparse_array& a) {
  return std::string(", ") + std::string(sn::name(a.dtype())) + ", " + std::string(sn::name(a.index_dtype()));
}

void product_rows(const row_printer& row, const std::string& name, const sp::sparse_array& a, bool more) {
  const ndarray x = numbers({a.shape(1)}, 0, 1).astype(a.dtype()), y = numbers({a.shape(0)}, 0, 1).astype(a.dtype());
  sn::eval(x, y);
  const std::string kind = kind_of(a);
  row(name + " times vector" + kind, product_bytes(a), [&] { return a.dot(x); });
  if (!more) return;
  row(name + ", 2 A x - y" + kind, product_bytes(a), [&] { return 2 * a.dot(x) - y; });
  row(name + ", transpose kept, times vector" + kind, product_bytes(a), [&] { return sp::matmul(y, a); });
  row(name + " to csc" + kind, 0, [&] { return parts_of(sp::csc_array(a)); });
  const ndarray wide = numbers({a.shape(1), 32}, 0, 1).astype(a.dtype());
  sn::eval(wide);
  row(name + " times 32 columns" + kind, 0, [&] { return a.dot(wide); });
}

/// Seconds of a step, from runs of two lengths.
double step_seconds(const std::function<ndarray(std::int64_t)>& run, std::int64_t few, std::int64_t many) {
  finish(run(few));
  const auto seconds = [&](std::int64_t steps) { return steady_seconds([&] { return run(steps); }, 5); };
  const double short_run = seconds(few);
  return (seconds(many) - short_run) / static_cast<double>(many - few);
}
void step_row(const row_printer& row, const std::string& name, double bytes, std::int64_t few, std::int64_t many,
              const std::function<ndarray(std::int64_t)>& run) {
  if (row.wanted(name)) print_row(name, step_seconds(run, few, many), bytes, "GB/s");
}

void solver_rows(const row_printer& row, const sp::sparse_array& a, std::int64_t side) {
  const ndarray b = numbers({a.shape(0)}, 0, 1).astype(a.dtype());
  sn::eval(b);
  step_row(row, "a step of lsmr" + kind_of(a), 2 * product_bytes(a), 40, 160,
           [&](std::int64_t steps) { return sl::lsmr(a, b, {.atol = 0, .btol = 0, .conlim = 0, .maxiter = steps}).x; });
  if (!row.wanted("laplacian")) return;
  const sp::sparse_array laplacian = five_diagonals(side * side, side, sn::float64);
  const ndarray f = numbers({side * side}, 0, 1).astype(sn::float64);
  sn::eval(f);
  const std::string of = "laplacian of " + std::to_string(side) + "^2";
  step_row(row, of + ", a step of cg", 0, 40, 160,
           [&](std::int64_t steps) { return sl::cg(laplacian, f, {.rtol = 0, .maxiter = steps}).x; });
  const ndarray p = f.copy(), q = f.copy(), r = f.copy(), x = f.copy(), number = sn::full({}, 0.5);
  sn::eval(p, q, r, x, number);
  row(of + ", product", product_bytes(laplacian), [&] { return laplacian.dot(p); });
  row(of + ", dot", 0, [&] { return sn::sum(p * q); });
  row(of + ", x + a p", 0, [&] { return x + number * p; });
  row(of + ", r - a q and its square", 0, [&] {
    const ndarray next = r - number * q;
    return std::vector{next, sn::sum(next * next)};
  });
}

void neighbour_rows(const row_printer& row, bool gpu) {
  const std::int64_t many = gpu ? 1'000'000 : 100'000, few = gpu ? 10'000 : 1'000, side = gpu ? 8192 : 2048;
  if (row.wanted("knn")) {
    auto rng = sn::random::default_rng(2);
    const ndarray points = rng.random({many, 128}, {.dtype = sn::float32}),
                  queries = rng.random({few, 128}, {.dtype = sn::float32});
    sn::eval(points, queries);
    row("knn of " + std::to_string(few) + " in " + std::to_string(many) + " x 128, k = 10", 0, [&] {
      const auto [distances, indices] = sn::spatial::knn(queries, points, 10);
      return std::vector{distances, indices};
    });
  }
  const ndarray x = numbers({side, 64}, 0, 1), y = numbers({side, 64}, 0, 1);
  for (const char* metric : {"sqeuclidean", "euclidean", "cityblock", "cosine"})
    row("cdist " + std::to_string(side) + "^2 x 64, " + metric, 0, [&] { return sn::spatial::cdist(x, y, metric); });
  if (row.wanted("kmeans")) {
    const std::int64_t n = gpu ? 1 << 20 : 1 << 16;
    const ndarray data = numbers({n, 16}, 0, 1), start = data(slice(0, 64)).copy();
    sn::eval(start);
    step_row(row, "a step of kmeans, " + std::to_string(n) + " x 16 to 64", 0, 8, 40, [&](std::int64_t steps) {
      return sn::cluster::kmeans(data, 64, {.centers = start, .max_iter = steps, .tol = 0}).cluster_centers;
    });
  }
  if (row.wanted("dbscan")) {
    const std::int64_t n = gpu ? 1'000'000 : 100'000;
    auto rng = sn::random::default_rng(1);
    const ndarray points = rng.random({n, 2});
    sn::eval(points);
    row("dbscan of " + std::to_string(n) + " in two dimensions", 0,
        [&] { return sn::cluster::dbscan(points, gpu ? 0.0015 : 0.005, {.min_samples = 5}).labels; });
  }
}

}  // namespace

void sparse_rows(const std::string& only) {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  const row_printer row{only};
  print_head();
  const std::int64_t n = gpu ? 15000 : 5000, band = gpu ? 4'500'000 : 450'000;
  auto rng = sn::random::default_rng(1);
  const sp::sparse_array tenth = sp::random_array({n, n}, 0.1, {.dtype = sn::float32, .rng = &rng});
  product_rows(row, "a tenth of " + std::to_string(n) + "^2", tenth, true);
  const sp::sparse_array doubles = tenth.astype(sn::float64);
  product_rows(row, "a tenth of " + std::to_string(n) + "^2", doubles, false);
  for (const sn::dtype type : {sn::float32, sn::float64})
    product_rows(row, "five diagonals of " + std::to_string(band), five_diagonals(band, gpu ? 2000 : 600, type),
                 type == sn::float32);
  if (row.wanted("csr times csr")) {
    const std::int64_t m = gpu ? 100'000 : 50'000;
    const sp::sparse_array a = sp::random_array({m, m}, 10.0 / static_cast<double>(m), {.rng = &rng});
    row("csr times csr, " + std::to_string(m) + "^2 at 10 a row", 0, [&] { return parts_of(sp::matmul(a, a)); });
  }
  solver_rows(row, tenth, gpu ? 2048 : 512);
  neighbour_rows(row, gpu);
}

void statistics_rows(const std::string& only) {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  const row_printer row{only};
  print_head();
  const std::int64_t n = std::int64_t{1} << (gpu ? 28 : 22), rows = n / 1024, shorter = n / 4;
  auto rng = sn::random::default_rng(1);
  const auto gigabytes = [](std::int64_t count, double each) { return static_cast<double>(count) * each; };
  {
    const ndarray x = rng.random({n}, {.dtype = sn::float32}), by_rows = sn::reshape(x, {rows, 1024});
    sn::eval(x, by_rows);
    row("a copy", gigabytes(n, 8), [&] { return -x; });
    row("median", 0, [&] { return sn::median(x); });
    row("99th percentile", 0, [&] { return sn::percentile(x, 99); });
    row("nanmedian", 0, [&] { return sn::nanmedian(x); });
    row("median of rows of 1024", 0, [&] { return sn::median(by_rows, 1); });
    row("99th percentile of rows of 1024", 0, [&] { return sn::percentile(by_rows, 99, 1); });
    const std::int64_t side = std::int64_t{1} << (gpu ? 14 : 11);
    const ndarray square = sn::reshape(x, {side, side});
    sn::eval(square);
    row("pad by 3", gigabytes(n, 8), [&] { return sn::pad(square, 3); });
    row("pad by 3, reflect", gigabytes(n, 8), [&] { return sn::pad(square, 3, {.mode = "reflect"}); });
    const ndarray half = x(slice(0, n / 2)), other = x(slice(n / 2, _));
    row("concatenate", gigabytes(n, 8), [&] { return sn::concatenate({half, other}); });
  }
  for (const sn::dtype type : {sn::float32, sn::float64}) {
    const double bytes = 2 * static_cast<double>(sn::itemsize(type));
    const std::string of = ", " + std::string(sn::name(type));
    const ndarray x = rng.random({shorter}, {.dtype = type});
    sn::eval(x);
    row("a copy of a quarter" + of, gigabytes(shorter, bytes), [&] { return -x; });
    row("sums of windows of 16" + of, gigabytes(shorter, bytes),
        [&] { return sn::sum(sn::sliding_window_view(x, 16), 1); });
    const std::pair<const char*, ndarray (*)(const ndarray&)> functions[] = {
        {"erf", [](const ndarray& v) { return sn::special::erf(v); }},
        {"gammaln", [](const ndarray& v) { return sn::special::gammaln(v); }},
        {"ndtri", [](const ndarray& v) { return sn::special::ndtri(v); }},
        {"i0e", [](const ndarray& v) { return sn::special::i0e(v); }},
        {"digamma", [](const ndarray& v) { return sn::special::digamma(v); }}};
    for (const auto& f : functions) row(f.first + of, gigabytes(shorter, bytes), [&] { return f.second(x); });
  }
}

}  // namespace bench
