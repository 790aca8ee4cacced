// Baseline and optimised tiers of CUDA kernels: the same bits, and which of them runs when.
#ifdef SINTER_HAS_CUDA

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/driver/hooks.hpp"
#include "gpu/gpu.hpp"
#include "jit/compile_steps.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "platform/background.hpp"
#include "platform/disk_cache.hpp"
#include "platform/hooks.hpp"
#include "runtime/backend.hpp"
#include "support/scratch_folder.hpp"
#include "gpu/kernels/waves.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// Restores what a case changes.
struct settings {
  sinter_test::scratch_folder scratch;
  cuda::tier tier = cuda::get_tier();
  std::string folder = platform::disk_cache::instance().folder();
  settings() { platform::reset_disk_cache_for_tests(scratch / "cache"); }
  ~settings() {
    platform::wait_for_background();
    cuda::set_tier(tier);
    cuda::set_tier_threshold(0);
    platform::reset_disk_cache_for_tests(folder);
  }
  settings(const settings&) = delete;
  settings& operator=(const settings&) = delete;
};

runtime::counters counts() { return runtime::get_backend(runtime::default_device()).statistics(); }

/// Angles between -4 and 4, some of them beyond what the fast sine is good for, and what is no number.
ndarray angles(std::int64_t n, unsigned seed, bool huge) {
  std::vector<float> x = gpu_test::uniform<float>(n, -4, 4, seed);
  if (huge) {
    for (std::size_t k = 5; k < x.size(); k += 97) x[k] *= k % 2 ? 1e5F : 3e30F;
    x[2] = std::numeric_limits<float>::infinity();
    x[3] = std::numeric_limits<float>::quiet_NaN();
    x[4] = -0.0F;
  }
  return array(x);
}

using sinter_test::waves;

const reduce_kw kept{.keepdims = true};

ndarray distances(const ndarray& p, const ndarray& q) {
  const auto lat1 = p(_, newaxis, 0), lon1 = p(_, newaxis, 1);
  const auto lat2 = q(_, 0), lon2 = q(_, 1);
  const auto h = square(sin((lat2 - lat1) / 2)) + cos(lat1) * cos(lat2) * square(sin((lon2 - lon1) / 2));
  return 12742.0 * arcsin(sqrt(minimum(h, 1)));
}

struct named_work {
  std::string name;
  std::function<ndarray()> record;
};

std::vector<named_work> all_work(bool huge) {
  const ndarray x = angles(100003, 1, huge), y = angles(100003, 2, false);
  const ndarray m = reshape(angles(1024 * 1040, 3, huge), {1024, 1040});
  const ndarray p = reshape(angles(2 * 700, 4, huge), {700, 2});
  return {
      {"vectors", [=] { return waves(x) * y + square(cos(x)); }},
      {"a strided view", [=] { return waves(x(slice(1, _, 3))) - 2; }},
      {"a transposed matrix", [=] { return waves(m.T()) + m.T(); }},
      {"rows", [=] { return sum(sin(m) * 2, {.axis = 1}); }},
      {"columns", [=] { return sum(cos(m), {.axis = 0}); }},
      {"two stages", [=] { return sum(cos(x) * sin(x)); }},
      {"smallest of a row",
       [=] {
         return min(distances(p, reshape(angles(2 * 203, 5, false), {203, 2})), 1);
       }},
      {"greatest of a row", [=] { return max(sin(p(_, newaxis, 0) - y(slice(0, 77))), 1); }},
      {"nearest",
       [=] {
         return argmin(distances(p, reshape(angles(2 * 64, 6, false), {64, 2})), 1).astype(float32);
       }},
      {"softmax of long rows",
       [=] {
         const ndarray rows = reshape(x(slice(0, 100000)), {10, 10000}), e = exp(rows - max(rows, 1, kept));
         return e / sum(e, 1, kept);
       }},
      {"pairs of rows",
       [=] {
         const ndarray a = reshape(x(slice(0, 96000)), {1500, 64}), b = reshape(y(slice(0, 96000)), {1500, 64});
         return sum(square(a(_, newaxis) - b), 2);
       }},
      {"sums over pairs",
       [=] {
         const ndarray d = y - y(slice(0, 3000))(_, newaxis), f = d / (square(d) + 1e-3 + sqrt(d * d + 1));
         return concatenate({sum(d * f, 1), sum(d * d * f, 1), max(f, 1)});
       }},
      {"a roll of bytes",
       [=] {
         return waves(roll((m * 40).astype(uint8), {1, 1}, axes{0, 1}).astype(float32));
       }},
      {"quotients of long integers",
       [=] {
         const ndarray i = (y * 1e9).astype(int64);
         return (i / 7 + floor_divide(i, 7) - i % 11 + floor_divide(i, 13) % 5).astype(float32);
       }},
      {"a long chain",  // whose statements do not repeat: those that do are a loop of little code
       [=] {
         ndarray p = x, u = y, v = y * y;
         p = p / (sqrt(v) + 1.0);
         u = exp(-u * v);
         v = sqrt(v * v + u) / (1.0 + p * p);
         p = log1p(p * p) / (2.0 + u);
         u = u / (3.0 + sqrt(p));
         v = exp(-v) / (1.0 + u * u);
         p = p - u / (sqrt(v) + 1e-8);
         u = log1p(u * u) / (4.0 + p * p);
         p = p / (1.0 + u * u) + sqrt(v);
         return p + u * waves(v);
       }},
  };
}

ndarray evaluated(const named_work& w, cuda::tier t) {
  cuda::set_tier(t);
  ndarray result = w.record();
  eval(result);
  return result;
}

constexpr const char* folder_variable = "SINTER_TIER_TEST_CACHE";

struct child_counts {
  int compilations = -1, baseline_launches = -1;
};

/// Waits until the background thread has begun with an optimised form, after the evaluation that is recorded.
void await_optimised_form() {
  const auto begun = [] {
    double evaluated = std::numeric_limits<double>::infinity();
    bool generated = false;
    for (const jit::compile_step& s : jit::recorded_compile_steps()) {
      if (s.what == "find") evaluated = s.end;
      if (s.what == "generate" && s.begin >= evaluated) generated = true;
    }
    return generated;
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!begun() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Runs the case below in a separate process with this cache; what it wrote.
child_counts in_a_process(const std::string& cache) {
  const sinter_test::scratch_folder scratch;
  const std::string log = scratch / "log";
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv(folder_variable, log.c_str(), 1);
    ::setenv("SINTER_CACHE_DIR", cache.c_str(), 1);
    ::unsetenv("SINTER_TEST_SHARD");
    if (!std::freopen("/dev/null", "w", stdout)) ::_exit(2);
    ::execl("/proc/self/exe", "sinter_tests", "--test-case=gpu tiers child*", static_cast<char*>(nullptr));
    ::_exit(3);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  child_counts c;
  std::ifstream(log) >> c.compilations >> c.baseline_launches;
  return c;
}

}  // namespace

TEST_CASE("gpu tiers: baseline kernels give the bits of optimised ones") {
  if (gpu_test::no_gpu()) return;
  const settings restored;
  for (const bool huge : {false, true}) {
    CAPTURE(huge);
    for (const named_work& w : all_work(huge)) {
      CAPTURE(w.name);
      const std::vector<float> optimised = evaluated(w, cuda::tier::optimised).to_vector<float>();
      const auto before = cuda::baseline_launches();
      const std::vector<float> baseline = evaluated(w, cuda::tier::baseline).to_vector<float>();
      CHECK(cuda::baseline_launches() > before);
      CHECK(gpu_test::first_difference(optimised, baseline) == -1);
    }
  }
}

TEST_CASE("gpu tiers: a baseline kernel runs until it has done enough, then the optimised one") {
  if (gpu_test::no_gpu()) return;
  const settings restored;
  cuda::set_tier(cuda::tier::automatic);
  cuda::set_tier_threshold(2500 * 512);  // additions: the program has 512 for an element
  const ndarray x = angles(1000, 7, true);
  const auto work = [&] {
    ndarray r = 3 * waves(x + 1.25) - 0.125;  // a program of this case alone
    eval(r);
    return r.to_vector<float>();
  };
  const auto before = counts();
  const auto baseline_before = cuda::baseline_launches();
  const std::vector<float> first = work();
  CHECK(counts().compilations == before.compilations + 1);
  CHECK(cuda::baseline_launches() == baseline_before + 1);
  work();
  platform::wait_for_background();
  CHECK(counts().compilations == before.compilations + 1);  // 2,000 elements are not enough
  work();
  platform::wait_for_background();
  CHECK(counts().compilations == before.compilations + 2);
  CHECK(cuda::baseline_launches() == baseline_before + 3);
  const std::vector<float> last = work();
  CHECK(counts().compilations == before.compilations + 2);
  CHECK(cuda::baseline_launches() == baseline_before + 3);
  CHECK(gpu_test::first_difference(first, last) == -1);
}

TEST_CASE("gpu tiers: large work waits for the optimised kernel, also where a baseline one is there") {
  if (gpu_test::no_gpu()) return;
  const settings restored;
  cuda::set_tier(cuda::tier::automatic);
  const auto work = [](std::int64_t rows, std::int64_t columns) {
    const ndarray x = angles(rows, 8, false), y = angles(columns, 9, false);
    ndarray r =
        max(cos(sin(cos(sin(cos(sin(x(_, newaxis) + y)))))), 1);  // a program of this case alone, of 74 additions
    eval(r);
  };
  const auto before = counts();
  const auto baseline_before = cuda::baseline_launches();
  work(1024, 1024);
  CHECK(cuda::baseline_launches() == baseline_before + 1);
  CHECK(counts().compilations == before.compilations + 1);
  work(1 << 16, 1 << 14);  // beyond the limit in additions, and within 32-bit indices
  CHECK(cuda::baseline_launches() == baseline_before + 1);
  CHECK(counts().compilations == before.compilations + 2);
  work(1024, 1024);  // nothing is left to do better
  CHECK(cuda::baseline_launches() == baseline_before + 1);
  CHECK(counts().compilations == before.compilations + 2);
}

TEST_CASE("gpu tiers: what is captured is optimised, also where a baseline kernel is there") {
  if (gpu_test::no_gpu()) return;
  const settings restored;
  cuda::set_tier(cuda::tier::automatic);
  const ndarray x = angles(1000, 12, false);
  ndarray out = zeros({1000});
  const auto work = [&] {
    out(_) = 1.5 * waves(x + 0.75) - 0.25;  // a program of this case alone
    eval(out);
  };
  const auto before = cuda::baseline_launches();
  work();
  CHECK(cuda::baseline_launches() == before + 1);
  const std::vector<float> wanted = out.to_vector<float>();
  const launch_graph graph = capture(work);
  CHECK(cuda::baseline_launches() == before + 1);
  out(_) = 0;
  graph.launch();
  CHECK(gpu_test::first_difference(out.to_vector<float>(), wanted) == -1);
}

TEST_CASE("gpu tiers: what is measured is optimised") {
  if (gpu_test::no_gpu()) return;
  const settings restored;
  cuda::set_tier(cuda::tier::automatic);
  const ndarray x = angles(1000, 13, false);
  const auto before = cuda::baseline_launches();
  (void)benchmark([&] { return 2.25 * waves(x + 0.5) - 0.375; }, {.repeat = 2});  // a program of this case alone
  CHECK(cuda::baseline_launches() == before);
}

TEST_CASE("gpu tiers child: a search after which the process ends") {
  const char* log = std::getenv(folder_variable);
  if (!log || gpu_test::no_gpu()) return;
  cuda::set_tier(cuda::tier::automatic);
  const ndarray p = reshape(angles(2 << 16, 10, false), {1 << 16, 2}),
                q = reshape(angles(2 << 13, 11, false), {1 << 13, 2});
  const auto before = counts();
  // NVRTC is there, so that the background thread has no task before the optimised form.
  jit::warm_up_nvrtc();
  platform::wait_for_background();
  jit::record_compile_steps(true);
  eval(argmin(distances(p, q), 1));
  const auto after = counts();
  // The process waits for a task that has begun and drops one that has not, so it ends once the compiler is at work.
  if (after.compilations > before.compilations) await_optimised_form();
  std::ofstream(log) << after.compilations - before.compilations << ' ' << cuda::baseline_launches();
}

TEST_CASE("gpu tiers: a process may end while a kernel is compiled, and the next one finds it optimised") {
  if (gpu_test::no_gpu()) return;
  const sinter_test::scratch_folder scratch;
  const child_counts first = in_a_process(scratch / "cache");
  CHECK(first.compilations > 0);
  CHECK(first.baseline_launches > 0);
  // The reduction exists in its optimised form, and small kernels in their baseline one.
  const child_counts second = in_a_process(scratch / "cache");
  CHECK(second.compilations == 0);
  CHECK(second.baseline_launches == first.baseline_launches - 1);
}

#endif
