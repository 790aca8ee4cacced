// The rows' inputs, and which rows are printed:  sinter_bench_sparse [REGEX] [SECONDS] ; ROWS=matrix,solvers chooses groups.
#include "rows.hpp"

#include <cstdlib>

namespace sparse_rows {

settings& chosen() {
  static settings s;
  return s;
}

std::vector<double> number_list(std::int64_t n, std::uint64_t salt) {
  std::vector<double> v(n);
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t z = (std::uint64_t(i) + salt * 1000003) * 0x9E3779B97F4A7C15ull;
    z ^= z >> 31;
    z *= 0xBF58476D1CE4E5B9ull;
    z ^= z >> 29;
    v[i] = double(z >> 11) * 0x1p-53;
  }
  return v;
}
ndarray numbers(const sn::shape_t& shape, std::uint64_t salt) {
  std::int64_t n = 1;
  for (const std::int64_t e : shape) n *= e;
  const ndarray x = sn::reshape(sn::array(number_list(n, salt)), shape).copy();
  sn::eval(x);
  return x;
}
S laplacian(std::int64_t side) {
  std::int64_t n = side * side;
  std::vector<double> d;
  std::vector<int> c;
  std::vector<int> p{0};
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j) {
      auto put = [&](std::int64_t r, std::int64_t s, double v) {
        if (r >= 0 && s >= 0 && r < side && s < side) {
          d.push_back(v);
          c.push_back(int(r * side + s));
        }
      };
      put(i - 1, j, -1);
      put(i, j - 1, -1);
      put(i, j, 4);
      put(i, j + 1, -1);
      put(i + 1, j, -1);
      p.push_back(int(d.size()));
    }
  return sp::csr_array(sn::array(d), sn::array(c), sn::array(p), sn::shape_t{n, n});
}
namespace {
void trip(std::int64_t m, std::int64_t n, std::int64_t per, std::uint64_t salt, ndarray& data, ndarray& r, ndarray& c) {
  std::vector<double> v = number_list(m * per, salt), w = number_list(m * per, salt + 1);
  std::vector<int> ri(m * per), ci(m * per);
  for (std::int64_t k = 0; k < m * per; ++k) {
    ri[k] = int(k / per);
    ci[k] = int(w[k] * double(n));
  }
  data = sn::array(v);
  r = sn::array(ri);
  c = sn::array(ci);
}
}  // namespace
S scattered(std::int64_t m, std::int64_t n, std::int64_t per, std::uint64_t salt) {
  ndarray d, r, c;
  trip(m, n, per, salt, d, r, c);
  S a = sp::csr_from_triplets(d, r, c, sn::shape_t{m, n});
  sp::eval(a);
  return a;
}

}  // namespace sparse_rows

int main(int argc, char** argv) {
  using namespace sparse_rows;
  chosen().only = std::regex(argc > 1 ? argv[1] : ".");
  if (argc > 2) chosen().budget = std::atof(argv[2]);
  const char* const groups = std::getenv("ROWS");
  const auto wanted = [&](const char* group) {
    return !groups || std::string(groups).find(group) != std::string::npos;
  };
  if (wanted("small")) small_rows();
  if (wanted("matrix")) matrix_rows();
  if (wanted("large")) large_rows();
  if (wanted("solvers")) solver_rows();
  if (wanted("spatial")) point_rows();
  if (wanted("cluster")) cluster_rows();
}
