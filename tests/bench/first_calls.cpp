// Latency of the first call of an expression: compiled, and loaded from the disk cache.
#include <cstdlib>
#include <filesystem>

#include "bench.hpp"
#include "jit/compile_steps.hpp"
#include "nearest_neighbor/search.hpp"

namespace bench {
namespace {

template <class F>
void row(const char* name, F&& work) {
  print_row(name, seconds_of([&] {
              work();
              sn::synchronize();
            }));
}

std::string shell_word(const std::string& text) { return "'" + text + "'"; }

/// What compiling and loading took, from `begin` on.
void print_steps(double begin) {
  std::printf("\n| step, of which kernel | begins, ms | ends, ms | of it running, ms |\n");
  std::printf("| --- | ---: | ---: | ---: |\n");
  for (const auto& s : sn::jit::recorded_compile_steps())
    std::printf("| %s %s | %.2f | %.2f | %.2f |\n", s.what.c_str(), s.name.c_str(), 1e3 * (s.begin - begin),
                1e3 * (s.end - begin), 1e3 * s.cpu);
}

}  // namespace

void first_calls() {
  const auto x = numbers({1 << 20}, 0, 1), y = numbers({1 << 20}, 1, 2);
  const auto p = points(1 << 16, 1), q = points(1 << 13, 2);
  const auto search = [&] {
    const auto found = nearest_neighbor::find_nearest(p, q);
    sn::eval(found.index, found.distance);
  };
  sn::synchronize();
  row("first kernel of the process (loads the compiler)", [&] { sn::eval(sn::sqrt(x) + y); });
  row("a new simple fused kernel", [&] { sn::eval(2 * x * y - x); });
  row("another one", [&] { sn::eval((x - y) * (x - y) / y); });
  sn::jit::record_compile_steps(true);
  const double begin = now();
  row("the nearest-neighbour search, 2^16 x 2^13", search);
  const double end = now();
  row("the same again", search);
  sn::platform::wait_for_background();
  const double settled = now();
  row("the same once the compiler has rested", search);
  sn::jit::record_compile_steps(false);
  print_steps(begin);
  std::printf("| the search returned | | %.2f | |\n| the compiler rested | | %.2f | |\n", 1e3 * (end - begin),
              1e3 * (settled - begin));
}

void first_calls_cold_and_warm(const char* program) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "sinter_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return;
  // Small work would be interpreted on the CPU: SINTER_TIER=1 makes it compile, so that there is something to time.
  const bool cpu = sn::default_device().kind == sn::device_kind::cpu;
  const std::string command = "SINTER_CACHE_DIR=" + shell_word(folder) + (cpu ? " SINTER_TIER=1 " : " ") +
                              shell_word(program) + " --first-calls --device " + sn::to_string(sn::default_device());
  for (const char* title :
       {"First calls in a fresh process, empty cache", "First calls in a fresh process, from the disk cache"}) {
    std::printf("\n%s\n\n", title);
    std::fflush(stdout);
    if (std::system(command.c_str()) != 0) std::printf("(failed)\n");
  }
  fs::remove_all(folder);
}

}  // namespace bench
