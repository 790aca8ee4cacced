// Every function of sparse arrays, their solvers, distances, neighbours and clusters, at a few sizes each: rows for the CPU. peers.py
// has the same rows by SciPy and scikit-learn, beside.py runs both in turns.
#pragma once
#include <sinter/cluster.hpp>
#include <sinter/sinter.hpp>
#include <sinter/sparse.hpp>
#include <sinter/sparse_linalg.hpp>
#include <sinter/spatial.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <regex>
#include <string>
#include <vector>

#include "platform/background.hpp"

namespace sparse_rows {

namespace sn = sinter;
namespace sp = sn::sparse;
namespace sl = sn::sparse::linalg;
namespace spa = sn::spatial;
namespace cl = sn::cluster;
using sn::ndarray;
using namespace sn::idx;
using S = sp::sparse_array;

/// Which rows, and for how many seconds each is repeated.
struct settings {
  std::regex only;
  double budget = 0.1;
};
settings& chosen();

inline double wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Of all threads together.
inline double processor() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline void finish(const ndarray& x) { sn::eval(x); }
inline void finish(const S& a) { sp::eval(a); }
inline void finish(const sl::solution& s) { sn::eval(s.x); }
inline void finish(const std::vector<ndarray>& v) { sn::eval(v); }
inline void finish(int) {}

/// Prints the name and the least milliseconds of the processor and of the clock, between tabs.
template <class F>
void row(const std::string& name, F&& f) {
  if (!std::regex_search(name, chosen().only)) return;
  try {
    for (int k = 0; k < 2; ++k) {  // kernels are recompiled with optimisation
      finish(f());
      sn::platform::wait_for_background();
    }
    double least_processor = 1e9, least_wall = 1e9;
    const double begin = wall();
    for (int k = 0; k < 2000 && (k < 3 || wall() - begin < chosen().budget); ++k) {
      const double c = processor(), w = wall();
      finish(f());
      least_processor = std::min(least_processor, processor() - c);
      least_wall = std::min(least_wall, wall() - w);
    }
    std::printf("%s\t%.5f\t%.5f\n", name.c_str(), least_processor * 1e3, least_wall * 1e3);
  } catch (const std::exception& e) {
    std::printf("#%s: %s\n", name.c_str(), e.what());
  }
  std::fflush(stdout);
}

/// Numbers in [0, 1) that follow from their place and `salt`, as peers.py computes them.
ndarray numbers(const sn::shape_t& shape, std::uint64_t salt);
std::vector<double> number_list(std::int64_t n, std::uint64_t salt);
/// The 5-point Laplacian of side^2 points.
S laplacian(std::int64_t side);
/// About `per` entries a row at places that look random.
S scattered(std::int64_t m, std::int64_t n, std::int64_t per, std::uint64_t salt);

void small_rows();
void matrix_rows();
void large_rows();
void solver_rows();
void point_rows();
void cluster_rows();

}  // namespace sparse_rows
