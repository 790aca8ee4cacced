// Collecting and compiling the CUDA kernels of a test program that runs on the CPU.
#include "cuda_coverage.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <ostream>
#include <thread>
#include <unordered_set>

#include "backends/cpu/cpu_hooks.hpp"
#include "jit/compile.hpp"
#include "runtime/backend.hpp"
#include "sinter/error.hpp"
#ifdef SINTER_HAS_CUDA
#include "backends/cuda/cuda_launch.hpp"
#endif

namespace sinter::test {

#ifdef SINTER_HAS_CUDA

namespace {

constexpr std::size_t kernels_a_module = 40;

/// Kernels compiled: all, or evenly spread ones where the run had more (the random programs need 27,000, which would
/// take two cores a quarter of an hour). SINTER_TEST_CUDA_KERNELS replaces both numbers (0: no limit).
struct architecture {
  int arch;
  std::size_t most_kernels;
};
constexpr architecture architectures[] = {{90, 3000}, {75, 1000}};

std::size_t kernel_limit(const architecture& a) {
  const char* text = std::getenv("SINTER_TEST_CUDA_KERNELS");
  const auto n = text && *text ? static_cast<std::size_t>(std::strtoull(text, nullptr, 10)) : a.most_kernels;
  return n > 0 ? n : SIZE_MAX;
}

std::vector<cuda_kernel> sample(std::vector<cuda_kernel> all, std::size_t most) {
  if (all.size() <= most) return all;
  const std::size_t step = (all.size() + most - 1) / most;
  std::vector<cuda_kernel> chosen;
  for (std::size_t k = 0; k < all.size(); k += step) chosen.push_back(std::move(all[k]));
  return chosen;
}

struct collection {
  std::mutex mutex;
  std::unordered_set<std::string> keys;
  std::vector<cuda_kernel> kernels;

  static collection& instance() {
    static auto* c = new collection;
    return *c;
  }
};

void append_variant(const jit::cuda_variant& v, std::string& key) {
  for (int n :
       {static_cast<int>(v.shape), int(v.rank), int(v.kept), int(v.vector), int(v.wide_index), int(v.skip_tail)})
    key.push_back(static_cast<char>(n));
  for (auto a : v.inputs) key.push_back(static_cast<char>(a));
  for (auto a : v.outputs) key.push_back(static_cast<char>(a));
  for (auto r : v.row_only) key.push_back(static_cast<char>(r));
}

/// The kernel, and its lean form where it has one.
void observe(const runtime::launch& l) {
  thread_local jit::cuda_variant variant;
  thread_local std::string key;
  cuda::classify(l, variant);
  key.clear();
  l.code->append_key(key);
  append_variant(variant, key);
  collection& c = collection::instance();
  const std::lock_guard lock(c.mutex);
  if (!c.keys.insert(key).second) return;
  c.kernels.push_back(kernel_of(l));
  if (!jit::cuda_has_lean(*l.code, variant)) return;
  c.kernels.push_back(kernel_of(l));
  c.kernels.back().variant->lean = true;
}

std::string module_source(const cuda_kernel* kernels, std::size_t count) {
  std::vector<const jit::program*> programs;
  for (std::size_t k = 0; k < count; ++k) programs.push_back(kernels[k].code.get());
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += jit::emit_cuda(*kernels[k].code, *kernels[k].variant);
  return jit::cuda_module(programs, text);
}

/// A module that fails is taken apart, so that each kernel at fault is named.
void compile_module(const cuda_kernel* kernels, std::size_t count, int arch, std::vector<std::string>& failures) {
  try {
    jit::compile_cuda(module_source(kernels, count), {.arch = arch, .fast_math = kernels[0].code->flags.fast_math});
  } catch (const error& e) {
    if (count == 1) failures.push_back(std::string(e.what()));
    else for (std::size_t k = 0; k < count; ++k) compile_module(kernels + k, 1, arch, failures);
  }
}

}  // namespace

bool covers_cuda() {
  const char* wanted = std::getenv("SINTER_TEST_CUDA_COVERAGE");
  if (wanted && *wanted) return std::strcmp(wanted, "1") == 0;
  return runtime::device_count(runtime::device_kind::cuda) == 0 && jit::nvrtc_available();
}

void collect_cuda_kernels() { cpu::set_launch_observer(observe); }

std::vector<cuda_kernel> collected_cuda_kernels() {
  collection& c = collection::instance();
  const std::lock_guard lock(c.mutex);
  return std::move(c.kernels);
}

cuda_kernel kernel_of(const runtime::launch& l) {
  cuda_kernel k{std::make_unique<jit::program>(*l.code), std::make_unique<jit::cuda_variant>()};
  cuda::classify(l, *k.variant);
  return k;
}

std::vector<std::string> compile_failures(const std::vector<cuda_kernel>& kernels, int arch) {
  struct range {
    std::size_t from, count;
  };
  std::vector<range> modules;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    // fast_math is an option of the whole module.
    const bool same = !modules.empty() && modules.back().count < kernels_a_module &&
                      kernels[k].code->flags.fast_math == kernels[modules.back().from].code->flags.fast_math;
    if (same) ++modules.back().count;
    else modules.push_back({k, 1});
  }
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::vector<std::string> failures;
  const auto work = [&] {
    for (std::size_t m; (m = next++) < modules.size();) {
      std::vector<std::string> here;
      compile_module(&kernels[modules[m].from], modules[m].count, arch, here);
      const std::lock_guard lock(mutex);
      failures.insert(failures.end(), here.begin(), here.end());
    }
  };
  std::vector<std::thread> others;
  for (unsigned k = 1; k < std::thread::hardware_concurrency(); ++k) others.emplace_back(work);
  work();
  for (auto& t : others) t.join();
  return failures;
}

int report_cuda_coverage(std::ostream& out) {
  cpu::set_launch_observer(nullptr);
  auto kernels = collected_cuda_kernels();
  if (kernels.empty()) return 0;
  const std::size_t distinct = kernels.size();
  std::stable_partition(kernels.begin(), kernels.end(), [](const cuda_kernel& k) { return !k.code->flags.fast_math; });
  int failed = 0;
  for (const architecture& a : architectures) {
    kernels = sample(std::move(kernels), kernel_limit(a));
    const auto begin = std::chrono::steady_clock::now();
    const auto failures = compile_failures(kernels, a.arch);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    out << (distinct > kernels.size() ? "a sample of the CUDA kernels" : "every CUDA kernel")
        << " of this run compiles for sm_" << a.arch << ": " << kernels.size() << " of " << distinct << ", "
        << failures.size() << " failed, " << static_cast<int>(took.count()) << " s\n";
    for (std::size_t k = 0; k < std::min<std::size_t>(failures.size(), 5); ++k) out << "ERROR: " << failures[k] << '\n';
    failed += !failures.empty();
  }
  out << "[doctest] test cases: 2 | " << 2 - failed << " passed | " << failed << " failed | 0 skipped\n";
  return failed;
}

#else

bool covers_cuda() { return false; }
void collect_cuda_kernels() {}
int report_cuda_coverage(std::ostream&) { return 0; }

#endif

}  // namespace sinter::test
