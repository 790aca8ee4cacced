// The rungs of the ladder: one way each to find the nearest neighbours, timed alike.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "options.hpp"
#include "places.hpp"
#include "report.hpp"
#include "search.hpp"

namespace nearest_neighbor {

/// What every rung is given.
struct task {
  const places& cities;
  const places& airports;
  const options& o;
  /// Whether all rows are needed, however long that takes (a table or a map is made of them).
  bool complete = false;
  double reading = 0;  // seconds that the inputs took
};

/// What a rung found, and how long one search took.
struct outcome {
  result found;           // of the cities 0, step, 2 * step, ...
  std::int64_t step = 1;  // more than 1: all of them would have taken too long
  timings seconds;        // of those cities
  std::int64_t rows() const { return static_cast<std::int64_t>(found.index.size()); }
};

struct rung {
  std::string method, variant;  // "loop", "1 core"
  std::string device;           // "cpu", "cuda:0"
  std::string missing;          // why this machine cannot run it; empty: it can
  std::function<outcome(const task&)> run;
  bool exact = true;  // to float32; false: approximate functions
};

/// What distances by approximate functions may be off. A sine is up to 2^-21.4 off, which is 5 m of the distance
/// between two points that are close; two of them and the rounding of the rest make less than 20.
inline constexpr double fast_math_km = 0.02;

// One file each. Those that need a GPU are there without one too, with the reason in `missing`.
std::vector<rung> loop_rungs(const options& o);
std::vector<rung> broadcast_rungs(const options& o);
std::vector<rung> elementwise_rungs(const options& o);
std::vector<rung> reduction_rungs(const options& o);
std::vector<rung> two_kernel_rungs(const options& o);
std::vector<rung> raw_rungs(const options& o);
std::vector<rung> knn_rungs(const options& o);
std::vector<rung> library_rungs(const options& o);
std::vector<rung> multi_gpu_rungs(const options& o);
std::vector<rung> mesh_rungs(const options& o);

/// The rungs of --method, or all of them.
std::vector<rung> rungs_of(const options& o);
/// "loop, broadcast, ..., all".
std::string method_names();
bool is_method(const std::string& name);

/// Runs one rung and prints its figures.
outcome run_rung(const rung& r, const task& t);
/// --method knn on its own: any metric, any number of dimensions; prints its figures and checks some rows against
/// float64. False if they are wrong.
bool run_knn(const options& o);
/// Runs all rungs, prints a table, checks each against the others and in float64. False if a check failed.
bool run_ladder(const std::vector<rung>& rungs, const task& t);

// What the rungs share.

/// The GPU that --device names, else the first.
sn::device gpu_of(const options& o);
/// Why a GPU method cannot run; empty: it can.
std::string why_no_gpu(const options& o);
/// (n, 2) float32 on a device.
ndarray upload(const places& p, const sn::device& to);

template <class F>
double seconds_of(F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One search for the compiler, then `repeat` (fewer if they take half a minute) for the clock: fills compiling and
/// searching. `search` returns when the work is done.
void time_search(const std::function<void()>& search, int repeat, timings& seconds);

/// A search by arrays on one device: uploads, times, downloads.
using array_search = std::function<neighbours(const ndarray&, const ndarray&)>;
outcome search_arrays(const places& cities, const task& t, const sn::device& on, const array_search& search);

/// Runs `search` on all cities, or, where that would take too long, on as many evenly spread ones as take a few
/// seconds.
outcome search_some(const task& t, const std::function<outcome(const places& some)>& search);

}  // namespace nearest_neighbor
