// Times the library's main kernels and prints one table. peers.py prints the same rows for other libraries.
// Usage: sinter_bench [--device NAME]
//        [--large | --first-calls | --cold | --algorithms | --linalg | --random | --fft | --collectives | --meshes]
//        --scaling [--devices N] [--small] [--only TEXT] work on one device and on a mesh of N; mesh_peers.py has JAX's
//        --sparse [--only TEXT], --statistics [--only TEXT], --derivatives [--only TEXT]
//        --special [--only TEXT]                        special functions; special/special.py has SciPy's beside them
//        --lines [--small] [--only TEXT]                lines as users write them; lines.py has them for other libraries
//        --lines --first                                their first calls alone, and what these consist of
//        --programs [--inputs FOLDER] [--only TEXT]     whole programs, on what programs.py inputs FOLDER left there
//        --sweep [--small] [--only TEXT] [--seconds N]  basic operations over shapes, dtypes and layouts: cliffs
// --cold: first calls in fresh processes, with an empty kernel cache and then with what was left there.
#include "bench.hpp"

#include <cstdlib>
#include <exception>
#include <functional>
#include <map>

#include "nearest_neighbor/places.hpp"
#include "nearest_neighbor/search.hpp"

namespace bench {

ndarray points(std::int64_t n, std::uint64_t seed) {
  const auto made = nearest_neighbor::random_places(n, seed);
  return sn::array(made.radians.data(), {n, 2});
}

namespace {

std::string power(std::int64_t n) {
  int k = 0;
  while ((std::int64_t{1} << k) < n) ++k;
  return (std::int64_t{1} << k) == n ? "2^" + std::to_string(k) : std::to_string(n);
}

void search_row(std::int64_t m, std::int64_t n, bool fast) {
  const sn::fast_math_guard guard(fast);
  const auto p = points(m, 1), q = points(n, 2);
  const double seconds = steady_seconds([&] {
    const auto found = nearest_neighbor::find_nearest(p, q);
    sn::eval(found.index, found.distance);
  });
  print_row("haversine argmin " + power(m) + " x " + power(n) + (fast ? ", fast math" : ""), seconds,
            static_cast<double>(m) * static_cast<double>(n), "Gpairs/s");
}

void searches(bool gpu, bool large) {
  const std::int64_t m = gpu ? 1 << 16 : 1 << 14;
  search_row(m, 1 << 13, false);
  std::printf("| device memory in use at most so far | %.1f MB | |\n",
              static_cast<double>(sn::memory(sn::default_device()).peak) / 1e6);
  search_row(m, 1 << 13, true);
  search_row(171075, 7184, false);
  if (!large) return;
  search_row(1 << 24, 1 << 14, false);
  search_row(1 << 24, 1 << 14, true);
  std::printf("| device memory in use at most so far | %.1f MB | |\n",
              static_cast<double>(sn::memory(sn::default_device()).peak) / 1e6);
}

void elementwise_and_sums(std::int64_t n) {
  const auto x = numbers({n}, 0, 1), y = numbers({n}, 1, 2);
  const double bytes = 4.0 * static_cast<double>(n);
  const std::string size = ", " + power(n);
  print_row("cos^2 + sin^2" + size, steady_seconds([&] { sn::eval(sn::square(sn::cos(x)) + sn::square(sn::sin(x))); }),
            2 * bytes, "GB/s");
  print_row("2x + y" + size, steady_seconds([&] { sn::eval(2 * x + y); }), 3 * bytes, "GB/s");
  print_row("sum((x-y)^2)" + size, steady_seconds([&] { sn::eval(sn::sum(sn::square(x - y))); }), 2 * bytes, "GB/s");
  print_row("sum" + size, steady_seconds([&] { sn::eval(sn::sum(x)); }), bytes, "GB/s");
}

void axis_reductions(std::int64_t side) {
  const auto x = numbers({side, side}, -1, 1);
  const double bytes = 4.0 * static_cast<double>(side) * static_cast<double>(side);
  const std::string size = ", " + std::to_string(side) + "^2";
  print_row("sum axis 0" + size, steady_seconds([&] { sn::eval(sn::sum(x, 0)); }), bytes, "GB/s");
  print_row("sum axis 1" + size, steady_seconds([&] { sn::eval(sn::sum(x, 1)); }), bytes, "GB/s");
  print_row("argmin axis 1" + size, steady_seconds([&] { sn::eval(sn::argmin(x, 1)); }), bytes, "GB/s");
  print_row("var axis 1" + size, steady_seconds([&] { sn::eval(sn::var(x, 1)); }), bytes, "GB/s");
}

/// Host time of one call, recording and launching, over many calls without a wait.
template <class F>
void host_row(const char* name, F&& work) {
  constexpr int calls = 2000;
  for (int k = 0; k < 200; ++k) work();
  std::vector<double> seconds;
  for (int round = 0; round < 11; ++round) {
    sn::synchronize();
    seconds.push_back(seconds_of([&] {
                        for (int k = 0; k < calls; ++k) work();
                      }) /
                      calls);
  }
  print_row(name, median(seconds));
}

void host_costs() {
  if (sn::default_device().kind == sn::device_kind::cuda)
    print_row("host time of a bare launch, 1024", bare_launch_seconds());
  const auto x = numbers({1024}, 0, 1), y = numbers({1024}, 1, 2);
  host_row("host time of x + y, 1024", [&] { sn::eval(x + y); });
  host_row("host time of ten operations, 1024",
           [&] { sn::eval(((((((((x + y) * x - y) * y + x) * x) - y) * y) + x) / y)); });
}

/// A loop body called, and captured once and launched.
void replay_rows(const std::string& name, const std::function<void()>& body) {
  print_row(name + ", called", steady_seconds(body));
  const sn::launch_graph graph = sn::capture(body);
  print_row(name + ", launched as a graph", steady_seconds([&] { graph.launch(); }));
}

void replays(bool gpu) {
  const auto x = numbers({1024}, 0, 1), y = numbers({1024}, 0, 1);
  replay_rows("ten small expressions, 1024", [&] {
    for (int k = 0; k < 10; ++k) {
      x(sn::idx::_) = sn::sin(x) + y;
      sn::eval(x);
    }
  });
  const std::int64_t n = gpu ? 2000 : 500;
  const auto u = numbers({n, n}, 0, 1), v = numbers({n, n}, 0, 1);
  const auto inner = [](const ndarray& f) {
    return f["1:-1, 1:-1"] +
           0.2f * (f[":-2, 1:-1"] + f["2:, 1:-1"] + f["1:-1, :-2"] + f["1:-1, 2:"] - 4 * f["1:-1, 1:-1"]);
  };
  replay_rows("two stencil steps, " + std::to_string(n) + "^2", [&] {
    v["1:-1, 1:-1"] = inner(u);
    sn::eval(v);
    u["1:-1, 1:-1"] = inner(v);
    sn::eval(u);
  });
}

void run(const char* program, bool large) {
  const auto device = sn::default_device();
  const bool gpu = device.kind == sn::device_kind::cuda;
  std::printf("%s, %s\n\n", sn::to_string(device).c_str(), sn::description(device).c_str());
  print_head();
  searches(gpu, large);
  elementwise_and_sums(std::int64_t{1} << (gpu ? 28 : 24));
  axis_reductions(gpu ? 16384 : 4096);
  host_costs();
  replays(gpu);
  first_calls_cold_and_warm(program);
}

}  // namespace
}  // namespace bench

int main(int count, char** words) try {
  bool small = false, large = false, first = false;
  double seconds = 600;
  int devices = 2;
  std::string only, wanted, inputs = ".";
  const std::map<std::string, std::function<void()>> tables = {
      {"", [&] { bench::run(words[0], large); }},
      {"--first-calls",
       [] {
         bench::print_head();
         bench::first_calls();
       }},
      {"--cold", [&] { bench::first_calls_cold_and_warm(words[0]); }},
      {"--algorithms",
       [] {
         bench::function_rows();
         std::printf("\nThe algorithms by themselves, on memory that is there already\n\n");
         bench::algorithm_rows();
       }},
      {"--linalg", [] { bench::linalg_rows(); }},
      {"--random", [] { bench::random_rows(); }},
      {"--fft", [] { bench::fft_rows(); }},
      {"--sparse", [&] { bench::sparse_rows(only); }},
      {"--statistics", [&] { bench::statistics_rows(only); }},
      {"--special", [&] { bench::special_rows(only); }},
      {"--derivatives", [&] { bench::derivative_rows(only); }},
      {"--collectives", [] { bench::collective_rows(); }},
      {"--meshes", [] { bench::mesh_host_rows(); }},
      {"--scaling", [&] { bench::scaling_rows(small, devices, only); }},
      {"--lines", [&] { first ? bench::first_call_rows(small, only) : bench::line_rows(small, only); }},
      {"--programs", [&] { bench::program_rows(inputs, only); }},
      {"--sweep", [&] { bench::sweep_rows(small, seconds, only); }},
  };
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (tables.contains(word)) {
      wanted = word;
    } else if (word == "--large") {
      large = true;
    } else if (word == "--small") {
      small = true;
    } else if (word == "--first") {
      first = true;
    } else if (word == "--only" && k + 1 < count) {
      only = words[++k];
    } else if (word == "--inputs" && k + 1 < count) {
      inputs = words[++k];
    } else if (word == "--devices" && k + 1 < count) {
      devices = std::max(1, std::atoi(words[++k]));
    } else if (word == "--seconds" && k + 1 < count) {
      seconds = std::atof(words[++k]);
    } else if (word == "--device" && k + 1 < count) {
      sinter::set_default_device(sinter::device(words[++k]));
    } else {
      std::fprintf(stderr,
                   "usage: %s [--device NAME] [--large | --first-calls | --cold | --algorithms | --linalg | --random | "
                   "--fft | --collectives | --meshes | --scaling [--devices N] [--small] [--only TEXT] | --sparse "
                   "[--only TEXT] | --statistics [--only TEXT] | --special [--only "
                   "TEXT] | --derivatives "
                   "[--only TEXT] | --lines [--small] "
                   "[--first] [--only "
                   "TEXT] | --programs [--inputs FOLDER] [--only TEXT] | --sweep "
                   "[--small] [--only TEXT] [--seconds N]]\n",
                   words[0]);
      return 2;
    }
  }
  tables.at(wanted)();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "sinter_bench: %s\n", e.what());
  return 1;
}
