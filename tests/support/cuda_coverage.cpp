// Collecting and compiling the CUDA kernels of a test program that runs on the CPU.
#include "support/cuda_coverage.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <ostream>
#include <thread>
#include <unordered_set>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "platform/hash.hpp"
#include "platform/per_thread.hpp"
#include "runtime/backend.hpp"
#include "sinter/error.hpp"
#ifdef SINTER_HAS_CUDA
#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/units.hpp"
#endif

namespace sinter::test {

#ifdef SINTER_HAS_CUDA

namespace {

constexpr std::size_t kernels_a_module = 40;

/// How many kernels are compiled: all, or a sample where the run had more (the random programs need 27,000, which would
/// take two cores a quarter of an hour). SINTER_TEST_CUDA_KERNELS replaces both numbers (0: no limit).
struct architecture {
  int arch;
  std::size_t most_kernels;
};
constexpr architecture architectures[] = {{90, 900}, {75, 300}};

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::size_t kernel_limit(const architecture& a) {
  const auto n = static_cast<std::size_t>(number_from_environment("SINTER_TEST_CUDA_KERNELS", a.most_kernels));
  return n > 0 ? n : SIZE_MAX;
}

/// Each run takes another sample, so that in time all kernels have their turn.
std::uint64_t sample_seed() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return number_from_environment(
      "SINTER_TEST_CUDA_SEED",
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()));
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

/// The file that takes the kernels' text; null: they are compiled.
const char* file_of_sources() {
  const char* name = std::getenv("SINTER_TEST_CUDA_SOURCES");
  return name && *name ? name : nullptr;
}

std::string identity_of(const jit::program& p, const jit::cuda_variant& v) {
  std::string key;
  p.append_key(key);
  append_variant(v, key);
  return key;
}

/// The kernels of all legal schedules, in each form that there is.
void observe_all(const jit::launch& l) {
  collection& c = collection::instance();
  const std::lock_guard lock(c.mutex);
  for (jit::cuda_variant& v : cuda::legal_schedules(l)) {
    for (int form = 0; form < 4; ++form) {
      v.wide_index = form % 2 != 0;
      if (form == 2 && !jit::cuda_has_baseline(*l.code, v)) break;
      if (form == 2) v = jit::cuda_baseline_of(v);
      if (!c.keys.insert(identity_of(*l.code, v)).second) continue;
      c.kernels.push_back({std::make_unique<jit::program>(*l.code), std::make_unique<jit::cuda_variant>(v)});
    }
  }
}

/// The kernel, and its baseline form where it has one.
void observe(const jit::launch& recorded) {
  jit::launch plain;
  const jit::launch& l = cuda::lowered(recorded, plain);
  // The CPU keeps longer rows than a GPU, which gets separate kernels then.
  if (l.code->kind == jit::kernel_kind::staged &&
      !cuda::keeps_rows(*l.code, cuda::kept_count(l), cuda::reduced_count(l)))
    return;
  if (file_of_sources()) return observe_all(l);
  jit::cuda_variant& variant = platform::per_thread<jit::cuda_variant, collection>::get();
  std::string& key = platform::per_thread<std::string, collection>::get();
  cuda::classify(l, variant);
  key.clear();
  l.code->append_key(key);
  append_variant(variant, key);
  collection& c = collection::instance();
  const std::lock_guard lock(c.mutex);
  if (!c.keys.insert(key).second) return;
  c.kernels.push_back(kernel_of(l));
  if (!jit::cuda_has_baseline(*l.code, variant)) return;
  c.kernels.push_back(kernel_of(l));
  *c.kernels.back().variant = jit::cuda_baseline_of(variant);
}

/// One module of all kernels that call no user's function, and behind it the text of those that do.
void write_sources(const std::vector<cuda_kernel>& kernels, const char* file) {
  std::map<std::string, std::string> plain, users;
  std::vector<const jit::program*> programs;
  for (const cuda_kernel& k : kernels) {
    const bool is_plain = k.code->calls.empty() && k.code->combines.empty();
    if (is_plain) programs.push_back(k.code.get());
    (is_plain ? plain : users)[jit::cuda_kernel_name(*k.code, *k.variant)] = jit::emit_cuda(*k.code, *k.variant);
  }
  std::string all;
  for (const auto& [name, text] : plain) all += text;
  std::ofstream to(file);
  to << jit::cuda_module(programs, all);
  for (const auto& [name, text] : users) to << text;
}

std::string module_source(const cuda_kernel* const* kernels, std::size_t count) {
  std::vector<const jit::program*> programs;
  for (std::size_t k = 0; k < count; ++k) programs.push_back(kernels[k]->code.get());
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += jit::emit_cuda(*kernels[k]->code, *kernels[k]->variant);
  return jit::cuda_module(programs, text);
}

/// A module that fails is split, so that each faulty kernel is reported.
void compile_module(const cuda_kernel* const* kernels, std::size_t count, int arch,
                    std::vector<std::string>& failures) {
  try {
    jit::compile_cuda(module_source(kernels, count), {.arch = arch, .fast_math = kernels[0]->code->flags.fast_math});
  } catch (const error& e) {
    if (count == 1) failures.push_back(std::string(e.what()));
    else
      for (std::size_t k = 0; k < count; ++k) compile_module(kernels + k, 1, arch, failures);
  }
}

/// Modules are ranges of kernels that are compiled with the same options.
struct range {
  std::size_t from, count;
};
std::vector<range> modules_of(const std::vector<const cuda_kernel*>& kernels) {
  std::vector<range> modules;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const bool same = !modules.empty() && modules.back().count < kernels_a_module &&
                      kernels[k]->code->flags.fast_math == kernels[modules.back().from]->code->flags.fast_math;
    if (same) ++modules.back().count;
    else modules.push_back({k, 1});
  }
  return modules;
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

cuda_kernel kernel_of(const jit::launch& l) {
  cuda_kernel k{std::make_unique<jit::program>(*l.code), std::make_unique<jit::cuda_variant>()};
  cuda::classify(l, *k.variant);
  return k;
}

std::vector<const cuda_kernel*> sample_of(const std::vector<cuda_kernel>& kernels, std::size_t most,
                                          std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, const cuda_kernel*>> drawn;
  for (const cuda_kernel& k : kernels)
    drawn.emplace_back(platform::hash_bytes(identity_of(*k.code, *k.variant), {seed, seed}).lo, &k);
  if (drawn.size() > most) {
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(most), drawn.end());
    drawn.resize(most);
  }
  std::vector<const cuda_kernel*> chosen;
  for (auto& d : drawn) chosen.push_back(d.second);
  std::stable_partition(chosen.begin(), chosen.end(), [](auto* k) { return !k->code->flags.fast_math; });
  return chosen;
}

std::vector<std::string> compile_failures(const std::vector<const cuda_kernel*>& kernels, int arch,
                                          const coverage_progress& progress) {
  const std::vector<range> modules = modules_of(kernels);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::vector<std::string> failures;
  std::size_t done = 0;
  auto said = std::chrono::steady_clock::now();
  const auto work = [&] {
    for (std::size_t m; (m = next++) < modules.size();) {
      std::vector<std::string> here;
      compile_module(&kernels[modules[m].from], modules[m].count, arch, here);
      const std::lock_guard lock(mutex);
      failures.insert(failures.end(), here.begin(), here.end());
      done += modules[m].count;
      if (!progress.out || std::chrono::steady_clock::now() - said < progress.every) continue;
      said = std::chrono::steady_clock::now();
      *progress.out << "compiling CUDA kernels for sm_" << arch << ": " << done << " of " << kernels.size()
                    << std::endl;
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
  const auto kernels = collected_cuda_kernels();
  if (kernels.empty()) return 0;
  if (const char* file = file_of_sources()) {
    write_sources(kernels, file);
    out << "wrote the text of " << kernels.size() << " CUDA kernels to " << file << '\n';
    return 0;
  }
  const std::uint64_t seed = sample_seed();
  int failed = 0;
  for (const architecture& a : architectures) {
    const auto chosen = sample_of(kernels, kernel_limit(a), seed + static_cast<std::uint64_t>(a.arch));
    const bool all = chosen.size() == kernels.size();
    out << "compiling " << chosen.size() << " of this run's " << kernels.size() << " CUDA kernels for sm_" << a.arch
        << (all ? std::string() : "; SINTER_TEST_CUDA_SEED=" + std::to_string(seed) + " takes the same ones")
        << std::endl;
    const auto begin = std::chrono::steady_clock::now();
    const auto failures = compile_failures(chosen, a.arch, {&out});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    out << (all ? "every CUDA kernel" : "a sample of the CUDA kernels") << " of this run compiles for sm_" << a.arch
        << ": " << chosen.size() << " of " << kernels.size() << ", " << failures.size() << " failed, "
        << static_cast<int>(took.count()) << " s\n";
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
