// k nearest neighbours on a GPU: a raw kernel that computes tiles of squares and keeps a sorted list a row
// (kernels/knn.cu). In high dimensions the kernel is tiled like a matrix product, over differences.
#include <string>

#include "cuda_sources.hpp"
#include "knn.hpp"

namespace nearest_neighbor::detail {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

knn_kernels make_knn_kernels(int k, std::int64_t dimensions) {
  const auto define = [](const char* name, int value) {
    return "-D" + std::string(name) + "=" + std::to_string(value);
  };
  int list = 8;
  while (list < k) list *= 2;
  const sn::raw_module m(knn_cuda, {.options = {define("LIST", list), define("CHUNK", dimensions <= 4 ? 4 : 16)}});
  return {m.get("knn_search"), m.get("knn_great_circle")};
}

knn_block knn_on_gpu(const knn_kernels& kernels, const knn_inputs& in, int k, metric how) {
  const std::int64_t m = in.u.shape(0), n = in.v.shape(0), d = in.u.shape(1);
  const auto make = [&](sn::dtype type) { return sn::empty({m, k}, {.dtype = type, .device = in.u.device()}); };
  const auto squares = make(sn::float32), found = make(sn::int32);
  kernels.search({.grid = ceil_div(m, 64), .block = 256}, sn::in(in.u), static_cast<long long>(m), sn::in(in.v),
                 static_cast<int>(n), static_cast<int>(d), k, squares, found);
  if (how != metric::haversine) {
    const auto distance = how == metric::euclidean ? sn::sqrt(squares) : squares / 2;
    return {found.astype(sn::int64), distance};
  }
  knn_block out{make(sn::int64), make(sn::float32)};
  kernels.great_circle({.grid = ceil_div(m, 128), .block = 128}, sn::in(in.p), static_cast<long long>(m), sn::in(in.q),
                       sn::in(found), k, static_cast<float>(2 * earth_radius_km), out.index, out.distance);
  return out;
}

}  // namespace nearest_neighbor::detail
