// The algorithms and libraries of a simulated GPU: the CPU's, run at once after all work that the current stream has
// been given so far. Work of other streams stays queued.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runtime/algorithms/algorithms.hpp"
#include "runtime/algorithms/fourier.hpp"
#include "runtime/algorithms/products.hpp"
#include "runtime/algorithms/solvers.hpp"
#include "runtime/algorithms/sparse.hpp"
#include "runtime/backend.hpp"
#include "sinter/error.hpp"

namespace sim {

namespace runtime = sinter::runtime;

/// Whether simulated GPUs launch recorded work again and again by themselves.
inline std::atomic<bool> repeats_work{true};

class sim_library {
 protected:
  sim_library(runtime::backend& device, const char* what) : device_(device), what_(what) {}
  static runtime::backend& cpu() { return runtime::get_backend({}); }
  /// The CPU, after the current stream has completed its work.
  runtime::backend& now() const {
    runtime::stream& here = device_.current_stream();
    if (here.notes())
      throw sinter::device_error("[capture] " + std::string(what_) + " on a simulated GPU cannot be captured");
    here.synchronize();
    return cpu();
  }

 private:
  runtime::backend& device_;
  const char* what_;
};

/// Whether simulated GPUs have a kernel for steps of k-means.
inline std::atomic<bool> assigns_points{true};

/// Such a step, by loops.
template <class T>
void assign_points_by_loops(const runtime::means_layout& l, const runtime::means_arrays& a) {
  const auto number = [](const void* of, std::int64_t i) { return static_cast<const T*>(of)[i]; };
  const std::int64_t d = l.dimensions, k = l.clusters;
  std::vector<double> sums(static_cast<std::size_t>(k * d)), totals(static_cast<std::size_t>(k));
  bool same = a.before != nullptr;
  for (std::int64_t i = 0; i < l.points; ++i) {
    std::int64_t best = 0;
    T least = std::numeric_limits<T>::infinity();
    for (std::int64_t c = 0; c < k; ++c) {
      T square = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        const T off = number(a.x, i * d + j) - number(a.centers, c * d + j);
        square += off * off;
      }
      if (square < least) least = square, best = c;
    }
    same = same && a.before[i] == best;
    a.labels[i] = best;
    const T weight = a.weights ? number(a.weights, i) : T(1);
    for (std::int64_t j = 0; j < d; ++j)
      sums[static_cast<std::size_t>(best * d + j)] += weight * number(a.x, i * d + j);
    totals[static_cast<std::size_t>(best)] += weight;
  }
  if (!a.sums) return;
  std::transform(sums.begin(), sums.end(), static_cast<T*>(a.sums), [](double v) { return static_cast<T>(v); });
  std::transform(totals.begin(), totals.end(), static_cast<T*>(a.totals), [](double v) { return static_cast<T>(v); });
  *a.same = same;
}

class sim_algorithms final : public runtime::algorithms, sim_library {
 public:
  explicit sim_algorithms(runtime::backend& device) : sim_library(device, "sorting, scans and selections") {}
  std::size_t sort_scratch(const runtime::row_layout& l) override { return asked().sort_scratch(l); }
  void sort(const runtime::row_layout& l, bool descending, const void* from, void* to, void* scratch) override {
    now().algorithms().sort(l, descending, from, to, scratch);
  }
  bool merges_runs(sinter::dtype type) const override { return asked().merges_runs(type); }
  std::size_t merge_scratch(sinter::dtype type, std::span<const std::int64_t> ends) override {
    return asked().merge_scratch(type, ends);
  }
  void merge(sinter::dtype type, bool descending, std::span<const std::int64_t> ends, const void* from, void* to,
             void* scratch) override {
    now().algorithms().merge(type, descending, ends, from, to, scratch);
  }
  std::size_t argsort_scratch(const runtime::row_layout& l) override { return asked().argsort_scratch(l); }
  void argsort(const runtime::row_layout& l, bool descending, const void* keys, std::int64_t* result,
               void* scratch) override {
    now().algorithms().argsort(l, descending, keys, result, scratch);
  }
  std::size_t random_order_scratch(std::int64_t n) override { return asked().random_order_scratch(n); }
  void random_order(std::int64_t n, const std::uint64_t* keys, std::int64_t* result, void* scratch) override {
    now().algorithms().random_order(n, keys, result, scratch);
  }
  bool can_partition(const runtime::row_layout& l) const override { return asked().can_partition(l); }
  std::size_t partition_scratch(const runtime::row_layout& l, std::int64_t count, bool positions) override {
    return asked().partition_scratch(l, count, positions);
  }
  void partition(const runtime::row_layout& l, std::span<const std::int64_t> kth, const void* from, void* to,
                 void* scratch) override {
    now().algorithms().partition(l, kth, from, to, scratch);
  }
  void argpartition(const runtime::row_layout& l, std::span<const std::int64_t> kth, const void* keys,
                    std::int64_t* result, void* scratch) override {
    now().algorithms().argpartition(l, kth, keys, result, scratch);
  }
  std::int64_t most_ranks(const runtime::row_layout& l) const override { return asked().most_ranks(l); }
  std::size_t find_ranks_scratch(const runtime::row_layout& l, std::int64_t count) override {
    return asked().find_ranks_scratch(l, count);
  }
  void find_ranks(const runtime::row_layout& l, std::span<const std::int64_t> kth, const void* from, void* to,
                  void* scratch) override {
    now().algorithms().find_ranks(l, kth, from, to, scratch);
  }
  bool orders_first(const runtime::row_layout& l, std::int64_t k) const override { return asked().orders_first(l, k); }
  std::size_t select_first_scratch(const runtime::row_layout& l, std::int64_t k) override {
    return asked().select_first_scratch(l, k);
  }
  void select_first(const runtime::row_layout& l, bool descending, std::int64_t k, const void* keys,
                    std::int64_t* result, void* scratch) override {
    now().algorithms().select_first(l, descending, k, keys, result, scratch);
  }
  std::size_t select_scratch(const runtime::selection& s) override { return asked().select_scratch(s); }
  const std::int64_t* count_selected(const runtime::selection& s, void* scratch) override {
    return now().algorithms().count_selected(s, scratch);
  }
  void select(const runtime::selection& s, int bytes, const void* data, void* result, const void* scratch) override {
    now().algorithms().select(s, bytes, data, result, scratch);
  }
  void select_positions(const runtime::selection& s, std::int64_t* result, const void* scratch) override {
    now().algorithms().select_positions(s, result, scratch);
  }
  bool takes_packed_flags() const override { return asked().takes_packed_flags(); }
  std::size_t scan_scratch(const runtime::scan_layout& l) override { return asked().scan_scratch(l); }
  void scan(const runtime::scan_layout& l, const void* from, void* to, void* scratch) override {
    now().algorithms().scan(l, from, to, scratch);
  }
  std::size_t count_bins_scratch(std::int64_t n, std::int64_t count) override {
    return asked().count_bins_scratch(n, count);
  }
  void count_bins(const runtime::bin_entries& e, std::int64_t count, std::int64_t* counts, void* scratch) override {
    now().algorithms().count_bins(e, count, counts, scratch);
  }
  std::size_t sum_bins_scratch(std::int64_t n, std::int64_t count) override {
    return asked().sum_bins_scratch(n, count);
  }
  void sum_bins(const runtime::bin_entries& e, std::int64_t count, double* sums, void* scratch) override {
    now().algorithms().sum_bins(e, count, sums, scratch);
  }
  std::size_t histogram_scratch(sinter::dtype type, std::int64_t n, const runtime::bin_range& bins) override {
    return asked().histogram_scratch(type, n, bins);
  }
  void histogram(sinter::dtype type, const void* samples, std::int64_t n, const runtime::bin_range& bins,
                 std::int64_t* counts, void* scratch) override {
    now().algorithms().histogram(type, samples, n, bins, counts, scratch);
  }
  bool assigns_points(const runtime::means_layout& l, bool) const override {
    return sim::assigns_points && l.points > 0;
  }
  void assign_points(const runtime::means_layout& l, const runtime::means_arrays& a, void*) override {
    (void)now();
    l.type == sinter::dtype::f32 ? assign_points_by_loops<float>(l, a) : assign_points_by_loops<double>(l, a);
  }

 private:
  static runtime::algorithms& asked() { return cpu().algorithms(); }
};

class sim_products final : public runtime::products, sim_library {
 public:
  explicit sim_products(runtime::backend& device) : sim_library(device, "matrix products") {}
  bool reads(sinter::dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row,
             std::int64_t column) const override {
    return cpu().products().reads(type, rows, columns, row, column);
  }
  bool writes(sinter::dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row,
              std::int64_t column) const override {
    return cpu().products().writes(type, rows, columns, row, column);
  }
  void multiply(const runtime::product_layout& l, const void* a, const void* b, void* c) override {
    now().products().multiply(l, a, b, c);
  }
};

class sim_fourier final : public runtime::fourier, sim_library {
 public:
  explicit sim_fourier(runtime::backend& device) : sim_library(device, "transforms") {}
  void run(const runtime::fourier_layout& l, void* in, void* out, const char* function) override {
    now().fourier().run(l, in, out, function);
  }
  runtime::fourier_figures figures() override { return {}; }
  void clear() override {}
};

/// Products, and transposes where it is told so, as on a GPU; else entries are put in order by what is composed of the device's
/// algorithms.
/// Whether simulated GPUs have a kernel for normal products.
inline std::atomic<bool> multiplies_normal{true};

/// Whether simulated GPUs have a library for sparse systems, and how many of these it has been given.
inline std::atomic<bool> solves_systems{false};
inline std::atomic<int> systems_solved{0};
/// What its solutions are multiplied with: a library that loses digits.
inline std::atomic<double> error_of_solutions{1};

/// Such a system by elimination with the matrix as a dense one; false where a pivot is small.
template <class T>
bool eliminate(const runtime::sparse_system& s, T* x) {
  const std::int64_t n = s.a.rows;
  const auto *ends = static_cast<const std::int32_t*>(s.a.indptr),
             *places = static_cast<const std::int32_t*>(s.a.indices);
  std::vector<T> a(static_cast<std::size_t>(n * n));
  const auto at = [&](std::int64_t i, std::int64_t j) -> T& { return a[static_cast<std::size_t>(i * n + j)]; };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t k = ends[i]; k < ends[i + 1]; ++k) at(i, places[k]) += static_cast<const T*>(s.a.data)[k];
  std::copy_n(static_cast<const T*>(s.b), n * s.columns, x);
  for (std::int64_t p = 0; p < n; ++p) {
    std::int64_t best = p;
    for (std::int64_t i = p + 1; i < n; ++i)
      if (std::abs(at(i, p)) > std::abs(at(best, p))) best = i;
    if (!(std::abs(at(best, p)) > s.small)) return false;
    for (std::int64_t j = 0; j < n; ++j) std::swap(at(p, j), at(best, j));
    for (std::int64_t c = 0; c < s.columns; ++c) std::swap(x[c * n + p], x[c * n + best]);
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == p || at(i, p) == T(0)) continue;
      const T factor = at(i, p) / at(p, p);
      for (std::int64_t j = p; j < n; ++j) at(i, j) -= factor * at(p, j);
      for (std::int64_t c = 0; c < s.columns; ++c) x[c * n + i] -= factor * x[c * n + p];
    }
  }
  for (std::int64_t c = 0; c < s.columns; ++c)
    for (std::int64_t i = 0; i < n; ++i) x[c * n + i] *= static_cast<T>(error_of_solutions.load()) / at(i, i);
  return true;
}

class sim_sparse final : public runtime::sparse, sim_library {
 public:
  sim_sparse(runtime::backend& device, bool transposes)
      : sim_library(device, "products of sparse arrays"), transposes_(transposes) {}
  std::size_t multiply_scratch(const runtime::sparse_matrix& a, const runtime::sparse_product& p) const override {
    return cpu().sparse().multiply_scratch(a, p);
  }
  void multiply(const runtime::sparse_matrix& a, const runtime::sparse_product& p, void* result,
                void* scratch) override {
    now().sparse().multiply(a, p, result, scratch);
  }
  bool multiplies_normal(const runtime::sparse_matrix&) const override { return sim::multiplies_normal; }
  void multiply_normal(const runtime::sparse_matrix& a, const runtime::normal_product& p, void* result) override {
    runtime::sparse& host = now().sparse();
    double squares = 0;
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const double x =
          a.type == sinter::dtype::f32 ? static_cast<const float*>(p.x)[k] : static_cast<const double*>(p.x)[k];
      squares += x * x;
    }
    const double length = std::sqrt(squares), other = *p.other;
    *p.length = length;
    runtime::sparse_product product{.x = p.x, .y = p.y};
    if (length > 0) product.alpha = 1 / length, product.beta = other > 0 ? -length / other : -length;
    std::vector<char> scratch(host.multiply_scratch(a, product) + 1);
    host.multiply(a, product, result, scratch.data());
  }
  bool solves(const runtime::sparse_matrix& a, std::int64_t) const override {
    return sim::solves_systems && a.index == sinter::dtype::i32 && a.entries > 0;
  }
  bool solve(const runtime::sparse_system& s, void* x) override {
    (void)now();
    ++systems_solved;
    switch (s.a.type) {
      case sinter::dtype::f32: return eliminate(s, static_cast<float*>(x));
      case sinter::dtype::f64: return eliminate(s, static_cast<double*>(x));
      case sinter::dtype::c64: return eliminate(s, static_cast<std::complex<float>*>(x));
      default: return eliminate(s, static_cast<std::complex<double>*>(x));
    }
  }
  bool transposes(const runtime::sparse_matrix&) const override { return transposes_; }
  void transpose(const runtime::sparse_matrix& a, std::size_t bytes, void* indptr, void* indices, void* data,
                 void*) override {
    runtime::sparse_entries e{a.index, a.entries, bytes, a.data, a.indices};
    e.indptr = a.indptr, e.rows = a.rows;
    now().sparse().group(e, a.columns, indptr, indices, data);
  }

 private:
  bool transposes_;
};

class sim_solvers final : public runtime::solvers, sim_library {
 public:
  explicit sim_solvers(runtime::backend& device) : sim_library(device, "factorisations") {}
  std::unique_ptr<runtime::outcome> look_for_failures(const std::int32_t* info, std::int64_t count) override {
    return now().solvers().look_for_failures(info, count);
  }
  void factor_lu(const runtime::matrix_batch& m, void* a, std::int32_t* pivots, std::int32_t* info) override {
    now().solvers().factor_lu(m, a, pivots, info);
  }
  void solve_lu(const runtime::matrix_batch& b, runtime::matrix_form form, const void* lu, const std::int32_t* pivots,
                void* x) override {
    now().solvers().solve_lu(b, form, lu, pivots, x);
  }
  void solve_triangular(const runtime::triangular_system& s, const void* a, void* x) override {
    now().solvers().solve_triangular(s, a, x);
  }
  void factor_cholesky(const runtime::matrix_batch& m, bool upper, void* a, std::int32_t* info) override {
    now().solvers().factor_cholesky(m, upper, a, info);
  }
  void factor_qr(const runtime::matrix_batch& m, void* a, void* tau) override { now().solvers().factor_qr(m, a, tau); }
  void form_q(const runtime::matrix_batch& q, std::int64_t reflectors, void* a, const void* tau) override {
    now().solvers().form_q(q, reflectors, a, tau);
  }
  bool svd_takes_wide() const noexcept override { return cpu().solvers().svd_takes_wide(); }
  runtime::right_vectors svd(const runtime::matrix_batch& m, runtime::svd_part part, void* a, void* s, void* u, void* v,
                             std::int32_t* info) override {
    return now().solvers().svd(m, part, a, s, u, v, info);
  }
  void eigh(const runtime::matrix_batch& m, bool upper, bool vectors, bool robust, void* a, void* w,
            std::int32_t* info) override {
    now().solvers().eigh(m, upper, vectors, robust, a, w, info);
  }
  void eig(const runtime::matrix_batch& m, void* a, void* w, void* v, std::int32_t* info) override {
    now().solvers().eig(m, a, w, v, info);
  }
};

}  // namespace sim
