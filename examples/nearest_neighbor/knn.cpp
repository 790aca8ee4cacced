// What the k-nearest search does on every device: checks, vectors, blocks of rows.
#include "knn.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace nearest_neighbor {
namespace {

constexpr int longest_list = 64, most_dimensions = 1024;

[[noreturn]] void refuse(const std::string& what) { throw sn::value_error("[knn] " + what); }

void check(const ndarray& p, const ndarray& q, int k, metric how) {
  if (p.ndim() != 2 || q.ndim() != 2 || p.shape(1) != q.shape(1))
    refuse("points of shape " + sn::to_string(p.shape()) + " and " + sn::to_string(q.shape()) +
           " are not (M, D) and (N, D)");
  const std::int64_t n = q.shape(0), d = p.shape(1);
  if (p.dtype() != sn::float32 || q.dtype() != sn::float32) refuse("points must be float32");
  if (d < 1 || d > most_dimensions)
    refuse(std::to_string(d) + " dimensions; there may be 1 to " + std::to_string(most_dimensions));
  if (how == metric::haversine && d != 2) refuse("the haversine metric takes 2 dimensions, not " + std::to_string(d));
  if (k < 1 || k > std::min<std::int64_t>(longest_list, n))
    refuse("k = " + std::to_string(k) + " neighbours of " + std::to_string(n) + " points; k may be 1 to " +
           std::to_string(std::min<std::int64_t>(longest_list, n)));
}

std::int64_t rows_of_block(const ndarray& p, const ndarray& q, int k) {
  // On the CPU the squares of a block are an array, in many dimensions with a float64 product beside it; on a GPU they
  // exist tile by tile, and the block is its results, the unit vectors and a copy of the indices.
  const bool gpu = p.device().kind == sn::device_kind::cuda;
  const std::int64_t bytes =
      gpu ? 20 * k + 4 * std::max<std::int64_t>(3, p.shape(1)) : (p.shape(1) > 8 ? 12 : 4) * q.shape(0);
  const std::int64_t allowed = gpu ? std::int64_t{256} << 20 : std::int64_t{64} << 20;
  return std::max<std::int64_t>(1, allowed / bytes);
}

/// Compiled once in a process for each length of list.
detail::knn_kernels kernels_for(int k, std::int64_t dimensions) {
  static std::mutex guard;
  static auto& known = *new std::map<std::pair<int, bool>, detail::knn_kernels>;
  int list = 8;
  while (list < k) list *= 2;
  const std::lock_guard lock(guard);
  auto& kernels = known[{list, dimensions <= 4}];
  if (!kernels.search.defined()) kernels = detail::make_knn_kernels(list, dimensions);
  return kernels;
}

}  // namespace

metric metric_of(std::string_view name) {
  for (const auto m : {metric::haversine, metric::euclidean, metric::cosine})
    if (name == name_of(m)) return m;
  throw std::invalid_argument("no metric '" + std::string(name) + "'");
}

const char* name_of(metric m) {
  switch (m) {
    case metric::haversine: return "haversine";
    case metric::euclidean: return "euclidean";
    case metric::cosine: break;
  }
  return "cosine";
}

ndarray detail::knn_vectors(const ndarray& x, metric how) {
  using namespace sn::idx;
  if (how == metric::euclidean) return x;
  if (how == metric::cosine) {
    const auto norm = sn::sqrt(sn::sum(sn::square(x.astype(sn::float64)), 1, {.keepdims = true}));
    if (static_cast<bool>(sn::any(norm == 0))) refuse("the cosine metric takes no zero vectors");
    return (x / norm).astype(sn::float32);
  }
  const auto lat = x(_, 0).astype(sn::float64), lon = x(_, 1).astype(sn::float64);
  return sn::stack({sn::cos(lat) * sn::cos(lon), sn::cos(lat) * sn::sin(lon), sn::sin(lat)}, 1).astype(sn::float32);
}

void knn(const ndarray& p, const ndarray& q, int k, metric how, const knn_sink& sink, std::int64_t block_rows) {
  using namespace sn::idx;
  check(p, q, k, how);
  const std::int64_t m = p.shape(0);
  const std::int64_t step = block_rows > 0 ? block_rows : rows_of_block(p, q, k);
  const bool gpu = p.device().kind == sn::device_kind::cuda;
  const auto kernels = gpu ? kernels_for(k, p.shape(1)) : detail::knn_kernels();
  const auto v = detail::knn_vectors(q, how);
  sn::eval(v);
  sn::progress bar(m, {.name = "knn", .unit = "rows"});
  for (std::int64_t first = 0; first < m; first += step) {
    const ndarray rows = p(slice(first, std::min(first + step, m)));
    const detail::knn_inputs in{rows, q, detail::knn_vectors(rows, how), v};
    const auto found = gpu ? detail::knn_on_gpu(kernels, in, k, how) : detail::knn_on_cpu(in, k, how);
    sink(first, found.index, found.distance);
    bar.tick(rows.shape(0));
  }
}

knn_result knn(const ndarray& p, const ndarray& q, int k, metric how, std::int64_t block_rows) {
  knn_result out{k, {}, {}};
  knn(
      p, q, k, how,
      [&](std::int64_t, const ndarray& index, const ndarray& distance) {
        const auto i = index.to_vector<std::int64_t>();
        const auto d = distance.to_vector<float>();
        out.index.insert(out.index.end(), i.begin(), i.end());
        out.distance.insert(out.distance.end(), d.begin(), d.end());
      },
      block_rows);
  return out;
}

}  // namespace nearest_neighbor
