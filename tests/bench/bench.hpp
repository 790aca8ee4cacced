// Shared by the parts of the benchmark: the clock, the table, and input arrays.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include <sinter/sinter.hpp>

#include "platform/background.hpp"

namespace bench {

namespace sn = sinter;
using sn::ndarray;

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class F>
double seconds_of(F&& work) {
  const double begin = now();
  work();
  return now() - begin;
}

inline double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

/// What a measured call returns is evaluated, or only its recording would be measured.
inline void finish(const ndarray& x) { sn::eval(x); }
inline void finish(const std::vector<ndarray>& list) { sn::eval(list); }
template <class F>
void run_whole(F& work) {
  if constexpr (std::is_void_v<decltype(work())>) work();
  else finish(work());
}
/// Seconds per call: the median over rounds, each with as many calls as take 30 ms and one synchronisation at the end.
/// A synchronisation costs microseconds, which must not be attributed to kernels that take only a few.
template <class F>
double steady_seconds(F&& work, int rounds = 7) {
  const auto batch = [&](int calls) {
    return seconds_of([&] {
      for (int k = 0; k < calls; ++k) run_whole(work);
      sn::synchronize();
    });
  };
  batch(1);
  sinter::platform::wait_for_background();  // kernels are recompiled with optimisation
  const double once = batch(1);
  const int calls = std::clamp(static_cast<int>(0.03 / once), 1, 1000);
  std::vector<double> seconds;
  for (int k = 0; k < (once > 2 ? 3 : rounds); ++k) seconds.push_back(batch(calls) / calls);
  return median(seconds);
}

/// For tables whose rows are calls that may wait for their first use.
template <class F>
double seconds_of_results(F&& work) {
  static_assert(!std::is_void_v<decltype(work())>, "what a row does not return might never be computed");
  return steady_seconds(work);
}

inline void print_head() { std::printf("| work | ms | rate |\n| --- | ---: | ---: |\n"); }

/// One line of the table; `amount` per second is printed with its unit: 1e9 bytes or pairs.
inline void print_row(const std::string& name, double seconds, double amount = 0, const char* unit = "") {
  char rate[64] = "";
  if (amount > 0) std::snprintf(rate, sizeof rate, "%.1f %s", amount / seconds / 1e9, unit);
  std::printf("| %s | %.4f | %s |\n", name.c_str(), seconds * 1e3, rate);
  std::fflush(stdout);
}

/// float32 numbers that differ from element to element, computed on the device.
inline ndarray numbers(const sn::shape_t& shape, double low, double high) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  // A multiplicative step modulo a prime: fast, and no two neighbours alike.
  const auto i = sn::arange(n, {.dtype = sn::int64}) * 48271 % 65521;
  auto x = sn::reshape((i.astype(sn::float32) * ((high - low) / 65521.0) + low), shape);
  sn::eval(x);
  return x;
}

/// Points (n, 2): latitude and longitude in radians.
ndarray points(std::int64_t n, std::uint64_t seed);

/// Host time in seconds of a bare launch of an x + y kernel on the current GPU, without any library: a lower bound for
/// the host rows. 0 without a GPU.
double bare_launch_seconds();

/// Numbers of 24 random bits in [0, 1), float32, computed on the device.
ndarray random_numbers(std::int64_t n);
/// "2^20"; n is a power of two.
std::string power_name(std::int64_t n);

/// The number of elements of the widest rows of sorting, scans, selection and counting: fewer if memory is small.
std::int64_t algorithm_size();
/// Times of sorting, searching, selecting, scanning and counting through the public API, with their goals.
void function_rows();
/// Times of the algorithms that they use, each by itself.
void algorithm_rows();
/// Times of draws of random numbers.
void random_rows();
/// Times of Fourier transforms.
void fft_rows();

/// Times of transfers between ranks: under mpirun those of the job, else the GPUs, else four of the CPU.
void collective_rows();
void mesh_host_rows();
void scaling_rows(bool small, int devices, const std::string& only);

/// Times of products, einsum, and a step of conjugate gradients.
void linalg_rows();

/// The sum of the absolute values of all finite elements: what the tables of other libraries are compared by.
double sum_of_magnitudes(const std::vector<ndarray>& list);

/// Times of lines as a user writes them (lines.def), those whose name contains `only`; small: inputs of a few elements.
void line_rows(bool small, const std::string& only);
/// Their first calls alone, and what these consist of. SINTER_CACHE_DIR should be empty.
void first_call_rows(bool small, const std::string& only);
/// Times of basic operations over shapes, dtypes and layouts beside their bounds, and which points stand out, for so many
/// seconds; operations whose name contains `only`.
void sweep_rows(bool small, double seconds, const std::string& only);

/// Times of the programs of programs/, whose inputs programs.py left in the folder.
void program_rows(const std::string& folder, const std::string& only);

/// Products of sparse arrays, steps of solvers, neighbours and clusters; order statistics, joins, special functions.
void sparse_rows(const std::string& only);
void statistics_rows(const std::string& only);
/// Special functions whose name contains `only`, of a million numbers on one core or more (special/special.def).
void special_rows(const std::string& only);
/// Gradients, gradients of each example, loops.
void derivative_rows(const std::string& only);

/// Times of first calls, in this process and with the kernel cache that the environment selects.
void first_calls();
/// Runs first_calls twice in fresh processes: with an empty cache folder, then with the cache of the first run.
void first_calls_cold_and_warm(const char* program);

}  // namespace bench
