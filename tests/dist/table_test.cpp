// The public functions on sharded operands: the elements of one device, or a refusal that names the function and the
// redistribution that would help. Nothing else is allowed to happen: no other error, no wrong element.
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
#include "sinter/cluster.hpp"
#include "sinter/spatial.hpp"

namespace {

using namespace sinter;
namespace dist = sinter::dist;
using dist::replicate;
using dist::shard;
using arrays = std::vector<ndarray>;

/// The operands of a row: a matrix of 24 rows, a square one that is positive definite, vectors of numbers, of small integers,
/// of ascending numbers, of truth; points in space.
struct operands {
  ndarray a, s, v, k, up, b, p;
};

operands whole_operands() {
  random::generator g(61);
  operands o;
  o.a = g.standard_normal({24, 16});
  const ndarray w = g.standard_normal({16, 16});
  o.s = matmul(w, w.T()) + 16 * eye(16);
  o.v = floor(g.standard_normal({300}) * 40) / 8;
  o.k = g.integers(0, 20, {300});
  o.up = sort(g.random({300}));
  o.b = g.random({300}) > 0.5;
  o.p = g.random({40, 3});
  return o;
}

operands sharded(const operands& o, const dist::mesh& m, std::int64_t axis) {
  const auto part = [&](const ndarray& x, std::int64_t a) { return dist::shard(x, m, {shard(a)}); };
  return {part(o.a, axis), part(o.s, axis), part(o.v, 0), part(o.k, 0), part(o.up, 0), part(o.b, 0), part(o.p, 0)};
}

enum class bits : std::uint8_t { same, close };
struct row {
  const char* name;  // function; others that it is composed of may refuse in its place
  bits promise;
  std::function<arrays(const operands&)> f;
};

#define SAME(name, ...)                                 \
  row {                                                 \
    name, bits::same, [](const operands& o) -> arrays { \
      (void)o;                                          \
      return arrays{__VA_ARGS__};                       \
    }                                                   \
  }
#define CLOSE(name, ...)                                 \
  row {                                                  \
    name, bits::close, [](const operands& o) -> arrays { \
      (void)o;                                           \
      return arrays{__VA_ARGS__};                        \
    }                                                    \
  }
#define DOES(name, promise, ...) \
  row { name, bits::promise, [](const operands& o) -> arrays __VA_ARGS__ }

const std::vector<row>& elementwise_rows() {
  static const auto& rows = *new std::vector<row>{
      SAME("arithmetic", o.a * 2 + 1, o.a - o.a, -o.a, o.a / 3, o.k % 7, o.k / 3),
      SAME("comparison", o.a > 0, o.a == o.a, logical_and(o.b, o.v > 0)),
      SAME("functions", abs(o.a), sqrt(abs(o.a)), exp(o.a), clip(o.a, -1, 1), sign(o.a), rint(o.v)),
      SAME("where", where(o.a > 0, o.a, 0), where(o.b, o.v, o.up)),
      SAME("special", special::erf(o.a), special::gammaln(abs(o.a) + 1), special::xlogy(o.up, o.up)),
      SAME("select", select({o.v > 1, o.v > 0}, {o.v, o.up}, -1)),
      SAME("astype", o.a.astype(float32), o.k.astype(int16), o.v.astype(bool_)),
      SAME("real_if_close", real_if_close(o.a)),
      SAME("nan_to_num", nan_to_num(log(o.v))),
      SAME("polyval", polyval(array({1.0, 2.0, 3.0}, {.device = o.v.device()}), o.v)),
      SAME("bits", o.k & 3, o.k << 2),
      DOES("zeros_like", same,
           {
             return {zeros_like(o.a), full_like(o.a, 3), ones_like(o.k)};
           }),
      DOES("out=", same,
           {
             const ndarray to = zeros_like(o.a);
             exp(o.a, {.out = to});
             return {to};
           }),
      DOES("copyto", same,
           {
             ndarray to = o.a.copy();
             copyto(to, o.a * 2, {.where = o.a > 0});
             return {to};
           }),
  };
  return rows;
}

const std::vector<row>& shape_rows() {
  static const auto& rows = *new std::vector<row>{
      SAME("slices", o.a["2:20:3"], o.a[":, ::-1"], o.v["5:-5"], o.a(3), o.a(slice(none_t{0}), 4), o.a["..., None"]),
      SAME("reshape", reshape(o.a, {6, 64})),
      SAME("ravel", ravel(o.a), flatten(o.a)),
      SAME("reshape", ravel(o.a, {.order = 'F'})),
      SAME("transpose", transpose(o.a), swapaxes(o.a, 0, 1), moveaxis(o.a, axes{0}, axes{1}), matrix_transpose(o.a)),
      SAME("expand_dims", expand_dims(o.a, 1), squeeze(expand_dims(o.a, 0)), atleast_3d(o.a), atleast_2d(o.v)),
      SAME("broadcast_to", broadcast_to(o.v, {3, 300})),
      SAME("flip", flip(o.a), fliplr(o.a), flipud(o.a), rot90(o.a)),
      SAME("roll", roll(o.a, 3, axes{0}), roll(o.v, -7), roll(o.a, 5)),
      SAME("concatenate", concatenate({o.v, o.up}), concatenate({o.a, o.a}, 1), stack({o.v, o.up}), vstack({o.a, o.a})),
      SAME("hstack", hstack({o.a, o.a}), dstack({o.a, o.a}), column_stack({o.v, o.up})),
      SAME("tile", tile(o.v, {2}), tile(o.a, {2, 1})),
      SAME("repeat", repeat(o.v, 2), repeat(o.a, 3, 0), repeat(o.a, 2, 1)),
      SAME("repeat", repeat(o.v, o.k)),
      SAME("split", split(o.a, 4)[1], array_split(o.v, 7)[6], unstack(o.a, 1)[2], vsplit(o.a, 2)[0]),
      SAME("diff", diff(o.v), diff(o.a, 2, 0), ediff1d(o.v)),
      SAME("pad", pad(o.v, 3), pad(o.a, 2, "edge"), pad(o.a, 1, "reflect")),
      SAME("pad", pad(o.v, 4, "wrap"), pad(o.v, 4, "mean")),
      SAME("append", append(o.v, o.up), insert(o.v, 3, 1.5), delete_(o.v, 4)),
      SAME("resize", resize(o.v, {400})),
      SAME("trim_zeros", trim_zeros(o.v)),
      SAME("tril", tril(o.a), triu(o.a, 2)),
      SAME("diag", diag(o.s), diag(o.v)),
      SAME("diagonal", linalg::diagonal(o.s)),
      SAME("trace", trace(o.s)),
      SAME("meshgrid", meshgrid({o.v, o.up})[0], meshgrid({o.v, o.up})[1]),
      SAME("sliding_window_view", sliding_window_view(o.v, {5})),
      SAME("ascontiguousarray", ascontiguousarray(o.a), asfortranarray(o.a)),
      SAME("broadcast_arrays", broadcast_arrays(o.a, o.a(0))[1]),
      DOES("fill_diagonal", same,
           {
             ndarray x = o.s.copy();
             fill_diagonal(x, 7);
             return {x};
           }),
      DOES("assignment", same,
           {
             ndarray x = o.a.copy();
             x["3:9, 2"] = o.a["4:10, 3"];
             x["::2"] += 1;
             return {x};
           }),
  };
  return rows;
}

const std::vector<row>& reduction_rows() {
  static const auto& rows = *new std::vector<row>{
      SAME("sum", sum(o.a), sum(o.a, 0), sum(o.a, 1), sum(o.k), sum(o.b)),
      SAME("prod", prod(o.a, 0), prod(o.a, 1), prod(o.k)),
      SAME("mean", mean(o.a), mean(o.a, 0), mean(o.a, 1), mean(o.k)),
      SAME("min", min(o.a, 0), max(o.a, 1), ptp(o.v), amin(o.k), amax(o.a)),
      SAME("argmin", argmin(o.a), argmin(o.a, 0), argmax(o.a, 1), argmax(o.v)),
      SAME("any", any(o.b), all(o.a > 9, 0), count_nonzero(o.v)),
      CLOSE("var", var(o.a), sinter::std(o.a, 0), var(o.v)),
      SAME("nansum", nansum(sqrt(o.a), 0), nanprod(sqrt(o.a)), nanmin(sqrt(o.a)), nanmax(sqrt(o.a), 0)),
      SAME("nanmean", nanmean(sqrt(o.a)), nanargmin(sqrt(o.v)), nanargmax(sqrt(o.v))),
      CLOSE("nanvar", nanvar(sqrt(o.a)), nanstd(sqrt(o.a), 1)),
      CLOSE("logsumexp", special::logsumexp(o.a), special::logsumexp(o.a, 0), special::softmax(o.a, axes{0}),
            special::softmax(o.a, axes{1}), special::log_softmax(o.a, axes{1})),
      SAME("average", average(o.a, 0).average),
      CLOSE("average", average(o.v, {.weights = o.up}).average),
      CLOSE("cov", cov(o.a), corrcoef(o.a)),
      SAME("norm", linalg::norm(o.a), linalg::norm(o.v), linalg::vector_norm(o.a)),
      SAME("trapezoid", trapezoid(o.v)),
      CLOSE("cumsum", cumsum(o.v), cumsum(o.a, 0), cumsum(o.a, 1), cumprod(o.a, 1), nancumsum(o.v),
            cumulative_sum(o.v)),
      SAME("cumsum", cumsum(o.k), cumsum(o.b)),
      SAME("cummax", cummax(o.v), cummin(o.v), cummax(o.a, 0)),
      CLOSE("logcumsumexp", logcumsumexp(o.a, 1)),
      CLOSE("logcumsumexp", logcumsumexp(o.v)),
      CLOSE("cumsum of all", cumsum(o.a)),
  };
  return rows;
}

const std::vector<row>& order_rows() {
  static const auto& rows = *new std::vector<row>{
      SAME("sort", sort(o.a, 0), sort(o.a, 1), sort(o.v), sort(o.k), sort(o.b)),
      SAME("sort", sort(o.v, {.descending = true}), sort(o.k, {.descending = true})),
      SAME("sort of all", sort(o.a, {.axis = std::nullopt})),
      SAME("argsort", argsort(o.v), argsort(o.k), argsort(o.v, {.descending = true}), argsort(o.a, 0)),
      SAME("lexsort", lexsort({o.k, o.v})),
      SAME("topk", topk(o.v, 7).values, topk(o.v, 7).indices, topk(o.k, 9, {.largest = false}).indices),
      SAME("topk", topk(o.v, 250).values, topk(o.a, 3, {.axis = 0}).indices),
      DOES("partition", same, { return {partition(o.v, 20)(20)}; }),
      DOES("argpartition", same, { return {take(o.v, argpartition(o.v, 20))(20)}; }),
      SAME("median", median(o.v), median(o.a, 0), median(o.a, 1)),
      SAME("quantile", quantile(o.v, 0.3), quantile(o.a, {0.25, 0.5}, 0), percentile(o.v, 75)),
      SAME("nanmedian", nanmedian(o.v), nanquantile(o.v, 0.2)),
      SAME("searchsorted", searchsorted(o.up, o.v), searchsorted(o.up, 0.5)),
      SAME("digitize", digitize(o.v, o.up)),
      SAME("bincount", bincount(o.k), bincount(o.k, {.minlength = 40})),
      SAME("bincount", bincount(o.k, {.weights = o.v / 3})),
      SAME("histogram", histogram(o.v, 12).hist, histogram(o.v, 12).bin_edges),
      SAME("histogram", histogram(o.v, 9, {.range = {-3, 4}}).hist, histogram(o.k, 5).hist),
      SAME("histogram", histogram(o.v, 9, {.weights = o.up}).hist),
      SAME("histogram", histogram(o.v, o.up["::30"]).hist),
      SAME("histogram", histogram(o.v, 9, {.density = true}).hist),
      SAME("histogram_bin_edges", histogram_bin_edges(o.v, 8), histogram_bin_edges(o.v, "auto")),
      SAME("histogram2d", histogram2d(o.v, o.up, 5).hist),
      SAME("histogramdd", histogramdd(o.p, 3).hist),
      SAME("unique", unique_values(o.k)),
      SAME("unique", unique_counts(o.k).counts, unique_inverse(o.k).inverse_indices),
      SAME("unique", unique(o.a, {.axis = 0}).values),
      SAME("intersect1d", intersect1d(o.k, o.v).values),
      SAME("union1d", union1d(o.k, o.v)),
      SAME("setdiff1d", setdiff1d(o.v, o.k), setxor1d(o.v, o.k)),
      SAME("isin", isin(o.k, o.v)),
      SAME("nonzero", nonzero(o.v)[0], flatnonzero(o.b), argwhere(o.b)),
      SAME("selection", o.v(o.b) + 1, extract(o.b, o.v), compress(o.b, o.v)),
      SAME("take", take(o.v, o.k), take(o.a, array({1, 5, 2}, {.device = o.a.device()}), 0)),
      SAME("take_along_axis", take_along_axis(o.a, argsort(o.a, 1), 1)),
      SAME("x[k]", o.v(o.k), o.a(o.k % 16)),
      SAME("choose", choose(o.k % 2, {o.v, o.up})),
      SAME("unravel_index", unravel_index(o.k, {4, 5})[1]),
      DOES("put", same,
           {
             ndarray x = o.v.copy();
             put(x, o.k["0:9"], 7);
             return {x};
           }),
      DOES("put_along_axis", same,
           {
             ndarray x = o.a.copy();
             put_along_axis(x, argmax(o.a, {.axis = 1, .keepdims = true}), 99, 1);
             return {x};
           }),
      DOES("putmask", same,
           {
             ndarray x = o.v.copy();
             putmask(x, o.b, o.up);
             x(x > 2) = 2;
             return {x};
           }),
      DOES("add_at", same,
           {
             ndarray x = o.v.copy();
             add_at(x, o.k, 1.5);
             return {x};
           }),
      DOES("x[k] = v", same,
           {
             ndarray x = o.v.copy();
             x(o.k) = 3;
             return {x};
           }),
  };
  return rows;
}

const std::vector<row>& linear_rows() {
  static const auto& rows = *new std::vector<row>{
      CLOSE("matmul", matmul(o.a, o.s), matmul(o.a.T(), o.a), matmul(o.a, o.s(0))),
      CLOSE("dot", dot(o.v, o.up), inner(o.a, o.a), vdot(o.v, o.up), vecdot(o.a, o.a), matvec(o.s, o.s(0))),
      CLOSE("outer", outer(o.v, o.up)),
      CLOSE("tensordot", tensordot(o.a, o.s, 1), tensordot(o.a, o.a, 2)),
      CLOSE("kron", kron(o.a["0:3"], o.s["0:2"])),
      CLOSE("einsum", einsum("ij,jk->ik", o.a, o.s), einsum("ij->j", o.a), einsum("ij,ij->i", o.a, o.a)),
      CLOSE("cross", cross(o.p, o.p["::-1"])),
      CLOSE("solve", linalg::solve(o.s, o.s(0))),
      CLOSE("inv", linalg::inv(o.s)),
      CLOSE("det", linalg::det(o.s)),
      CLOSE("slogdet", linalg::slogdet(o.s).logabsdet),
      CLOSE("cholesky", linalg::cholesky(o.s)),
      CLOSE("qr", linalg::qr(o.a).q),
      CLOSE("qr_pivoted", linalg::qr_pivoted(o.a).q),
      CLOSE("ldl", linalg::ldl(o.s).d),
      CLOSE("svd", linalg::svd(o.a).s),
      CLOSE("svdvals", linalg::svdvals(o.a)),
      CLOSE("eigh", linalg::eigh(o.s).eigenvalues),
      CLOSE("eigvalsh", linalg::eigvalsh(o.s)),
      CLOSE("eig", linalg::eig(o.s).eigenvalues),
      CLOSE("eigvals", linalg::eigvals(o.s)),
      CLOSE("lu", linalg::lu(o.s).u),
      CLOSE("lu_factor", linalg::lu_factor(o.s).lu),
      CLOSE("solve_triangular", linalg::solve_triangular(o.s, o.s(0))),
      CLOSE("solve_banded", linalg::solve_banded({1, 1}, o.p.T()["0:3"], o.v["0:40"])),
      CLOSE("solveh_banded",
            linalg::solveh_banded(concatenate({o.up["None, 0:16"] * 0.1, o.up["None, 0:16"] + 2}), o.s(0))),
      CLOSE("solve_toeplitz", linalg::solve_toeplitz(o.s(0), o.s(1))),
      CLOSE("sqrtm", linalg::sqrtm(o.s)),
      CLOSE("logm", linalg::logm(o.s)),
      CLOSE("expm", linalg::expm(o.s / 100)),
      CLOSE("lstsq", linalg::lstsq(o.a, o.a(slice(none_t{0}), 0)).x),
      CLOSE("pinv", linalg::pinv(o.a)),
      CLOSE("matrix_rank", linalg::matrix_rank(o.a)),
      CLOSE("matrix_power", linalg::matrix_power(o.s, 3)),
      CLOSE("norm of values", linalg::norm(o.a, 2), linalg::norm(o.a, "nuc")),
      CLOSE("norm", linalg::norm(o.a, 1), linalg::matrix_norm(o.a)),
      CLOSE("cond", linalg::cond(o.s)),
      CLOSE("cho_factor", linalg::cho_solve(linalg::cho_factor(o.s), o.s(0))),
      CLOSE("null_space", linalg::null_space(o.a.T())),
      CLOSE("orth", linalg::orth(o.a)),
      CLOSE("toeplitz", linalg::toeplitz(o.v["0:9"]), linalg::circulant(o.v["0:9"]), linalg::hankel(o.v["0:9"])),
      CLOSE("block_diag", linalg::block_diag({o.a, o.s})),
      CLOSE("fft", fft::fft(o.a), fft::rfft(o.a, {.axis = 0}), fft::ifft(o.a)),
      CLOSE("fft of all", fft::fft(o.v)),
      CLOSE("fft of all", fft::fft2(o.a)),
      CLOSE("dct", fft::dct(o.a)),
      CLOSE("fftshift", fft::fftshift(o.a), fft::ifftshift(o.v)),
      CLOSE("fftconvolve", fft::fftconvolve(o.v, o.up["0:9"])),
      CLOSE("convolve", convolve(o.v, o.up["0:9"]), correlate(o.v, o.up["0:9"], "same")),
      CLOSE("interp", interp(o.v, o.up, o.v)),
      CLOSE("gradient", gradient(o.v), gradient(o.a)[0]),
      CLOSE("unwrap", unwrap(o.v)),
      SAME("packbits", packbits(o.b)),
      SAME("piecewise", piecewise(o.v, {o.v < 0, o.v >= 0}, {-1.0, 1.0})),
      CLOSE("polyfit", polyfit(o.up, o.v, 2)),
      CLOSE("vander", vander(o.v, 3)),
      CLOSE("poly", poly(o.v["0:5"])),
      CLOSE("roots", roots(o.up["0:5"] + 1)),
      CLOSE("cdist", spatial::cdist(o.p, o.p), spatial::cdist(o.p, o.p["0:7"], "cityblock")),
      CLOSE("pdist", spatial::pdist(o.p)),
      CLOSE("squareform", spatial::squareform(o.v)),
      CLOSE("knn", spatial::knn(o.p, o.p, 3).distances),
      CLOSE("radius_neighbors", spatial::radius_neighbors(o.p, o.p, 0.3).indices),
      CLOSE("kmeans", cluster::kmeans(o.p, 3, {.random_state = 1}).cluster_centers),
      CLOSE("dbscan", cluster::dbscan(o.p, 0.3).labels),
      CLOSE("linkage", cluster::linkage(o.p)),
      SAME("permutation", random::generator(5).permutation(o.v)),
      SAME("permuted", random::generator(5).permuted(o.a, 1)),
      SAME("choice", random::generator(5).choice(o.v, 9)),
      SAME("random with parameters", random::generator(5).normal(o.v, 2)),
      SAME("random with parameters", random::generator(5).poisson(o.up * 9)),
      DOES("shuffle", same,
           {
             ndarray x = o.v.copy();
             random::generator(5).shuffle(x);
             return {x};
           }),
  };
  return rows;
}

bool is_right(const arrays& got, const arrays& want, bits promise) {
  if (got.size() != want.size()) return false;
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (promise == bits::same && !test::identical(got[k], want[k])) return false;
    const ndarray here = dist::is_distributed(got[k]) ? dist::gather(got[k]) : got[k];
    if (here.shape() != want[k].shape() || here.dtype() != want[k].dtype()) return false;
    if (!bool(all(isclose(here, want[k], 1e-9, 1e-9, true)))) return false;
  }
  return true;
}

/// Whether a refusal says whose it is, and what helps.
bool is_helpful(std::string_view text) {
  const bool named = text.starts_with("[") && text.find(']') != std::string_view::npos && !text.starts_with("[dist]") &&
                     !text.starts_with("[allocate]");
  return named &&
         (text.find("redistribute") != std::string_view::npos || text.find("dist::") != std::string_view::npos);
}

/// Each row on 1, 3 and 4 positions, matrices along either axis. Only the rows that are named may refuse, and those only by
/// a device_error that helps. Returns how many did.
int run_rows(const std::vector<row>& rows, const std::vector<std::string_view>& may_refuse) {
  const operands whole = whole_operands();
  int refused = 0;
  for (const row& r : rows) {
    const arrays want = r.f(whole);
    for (const std::int64_t n : {1, 3, 4})
      for (const std::int64_t axis : {0, 1}) {
        const operands parts = sharded(whole, test::mesh_of({n}), axis);
        INFO(std::string(r.name), " on ", n, " positions, along axis ", axis);
        try {
          const arrays got = r.f(parts);
          const bool right = is_right(got, want, r.promise);
          CHECK(right);
        } catch (const device_error& e) {
          ++refused;
          const std::string text = e.what();
          INFO(text);
          CHECK(is_helpful(text));
          const bool expected =
              std::find(may_refuse.begin(), may_refuse.end(), std::string_view(r.name)) != may_refuse.end();
          CHECK(expected);
        } catch (const std::exception& e) {
          INFO(std::string(e.what()));
          CHECK_MESSAGE(false, "another error than a refusal");
        }
      }
  }
  return refused;
}

}  // namespace

TEST_CASE("elementwise functions run on sharded operands") { CHECK(run_rows(elementwise_rows(), {}) == 0); }

TEST_CASE("views and joins run on sharded operands, or refuse by name") { run_rows(shape_rows(), {}); }

TEST_CASE("reductions and scans run on sharded operands, or refuse by name") { run_rows(reduction_rows(), {}); }

TEST_CASE("sorts, counts and selections run on sharded operands, or refuse by name") { run_rows(order_rows(), {}); }

TEST_CASE("products, systems, transforms and the like run on sharded operands, or refuse by name") {
  run_rows(linear_rows(), {});
}

TEST_CASE("on operands that are everywhere every device does all of it") {
  const operands whole = whole_operands();
  const dist::mesh m = test::mesh_of({3});
  const auto all = [&](const ndarray& x) { return dist::shard(x, m, {replicate()}); };
  const operands parts{all(whole.a),  all(whole.s), all(whole.v), all(whole.k),
                       all(whole.up), all(whole.b), all(whole.p)};
  for (const auto* rows : {&elementwise_rows(), &shape_rows(), &reduction_rows(), &order_rows(), &linear_rows()})
    for (const row& r : *rows) {
      INFO(std::string(r.name));
      const arrays want = r.f(whole);
      try {
        const bool right = is_right(r.f(parts), want, r.promise);
        CHECK(right);
      } catch (const std::exception& e) {
        CHECK_MESSAGE(false, std::string(e.what()));
      }
    }
}
