// The kernels loaded on a device: looked up by program and variant, compiled by NVRTC on a miss. Some run in a baseline
// form first, which compiles sooner, while the optimised form is compiled in the background.
#include "backends/cuda/code.hpp"

#include <algorithm>
#include <exception>
#include <mutex>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/hooks.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "jit/compile_steps.hpp"
#include "jit/cuda/emit.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/schedule/legal.hpp"
#include "jit/cuda/units.hpp"
#include "platform/background.hpp"
#include "platform/environment.hpp"
#include "platform/per_thread.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/trace.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

// What a launch costs is counted in additions. From instruction counts, a baseline search takes about 3 ps per element, of
// 60 additions, more than an optimised one on an H200: 3 ms at the limit, while the optimised one takes about 25 ms longer to
// compile. Baseline forms whose arrays lie in local memory lose ten times as much, and save 40 to 300 ms. At the threshold
// they have lost about 0.1 ms.
constexpr std::int64_t default_threshold = std::int64_t{1} << 28;
constexpr std::int64_t baseline_limit = std::int64_t{1} << 36;
std::atomic<std::int64_t> threshold{default_threshold};
std::atomic<std::uint64_t> baseline_count{0};

std::atomic<tier>& tier_setting() noexcept {
  static std::atomic<tier> setting{platform::environment_tier(tier::automatic, tier::baseline, tier::optimised)};
  return setting;
}

std::int64_t element_count_of(const jit::launch& l) noexcept {
  return l.code->kind == jit::kernel_kind::reduce ? kept_count(l) * reduced_count(l) : core::element_count(l.extents);
}

/// Additions that one element costs, at least one; a loop counts as a few runs.
std::int64_t element_weight(const jit::program& p) noexcept {
  std::int64_t sum = 1;
  for (std::size_t k = 0; k < p.code.size(); ++k) sum += jit::weight(p.code[k].op) * (p.is_in_loop(k) ? 8 : 1);
  return sum;
}

/// Whether a launch should run the baseline kernel rather than wait for the optimised one. A captured launch runs many times
/// with the kernel that it was captured with, and one that is measured stands for many.
bool baseline_suffices(const jit::launch& l) {
  switch (get_tier()) {
    case tier::baseline: return true;
    case tier::optimised: return false;
    case tier::automatic: break;
  }
  const runtime::thread_state& here = runtime::this_thread();
  return here.capture == 0 && !here.measuring && element_count_of(l) < baseline_limit / element_weight(*l.code) &&
         platform::background_available();
}

/// Where an operand's first element lies, as far as classification may depend on it.
std::uint8_t place_of(const jit::operand& o, dtype type) noexcept {
  return static_cast<std::uint8_t>(reinterpret_cast<std::uintptr_t>(o.base) +
                                   static_cast<std::uintptr_t>(o.offset) * itemsize(type));
}
template <class F>
void each_place(const jit::launch& l, F f) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) f(at++, place_of(l.inputs[k], l.code->inputs[k].type));
  for (std::size_t k = 0; k < l.outputs.size(); ++k) f(at++, place_of(l.outputs[k], l.code->outputs[k].type));
}

/// Of a kernel without runs: whether inputs wrap as they did, those that wrap equally among them.
bool same_wraps(const jit::launch& l, const jit::cuda_variant& v) {
  if (v.wraps.empty() || l.wraps.empty()) return v.wraps.empty() == l.wraps.empty();
  jit::cuda_variant& now = platform::per_thread<jit::cuda_variant, kernel_forms>::get();
  now.wraps.clear();
  share_wraps(l, now);
  return std::equal(v.wraps.begin(), v.wraps.end(), now.wraps.begin(), now.wraps.end(),
                    [](auto& a, auto& b) { return a.input == b.input && a.axis == b.axis && a.same == b.same; });
}

/// The forms that a recurring launch had, if its operands lie as they did; else null.
kernel_forms* remembered(const jit::launch& l) {
  if (!l.memo || !l.memo->code || schedules_are_forced()) return nullptr;
  bool same = true;
  each_place(l, [&](std::size_t at, std::uint8_t place) { same = same && l.memo->places[at] == place; });
  if (!same) return nullptr;
  auto* const forms = static_cast<kernel_forms*>(const_cast<void*>(l.memo->code));
  // How reads wrap depends on scalars too: how far they are shifted. Runs depend on how far operands lie apart.
  const jit::cuda_variant& v = forms->best.load(std::memory_order_acquire)->variant;
  return (v.runs.empty() ? same_wraps(l, v) : same_runs(l, v)) ? forms : nullptr;
}
/// Remembers them, unless a test or scalars decide about them as well.
void remember(const jit::launch& l, const kernel_forms& forms) {
  if (!l.memo || schedules_are_forced() || jit::has_tail(*l.code)) return;
  l.memo->code = &forms;
  l.memo->places.resize(l.inputs.size() + l.outputs.size());
  each_place(l, [&](std::size_t at, std::uint8_t place) { l.memo->places[at] = place; });
}

CUfunction function_of(cudaLibrary_t library, const std::string& name) {
  static const auto get = reinterpret_cast<decltype(&cuKernelGetFunction)>(driver_function("cuKernelGetFunction"));
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library, name.c_str()), "cudaLibraryGetKernel");
  CUfunction f = nullptr;
  check_driver(get(&f, reinterpret_cast<CUkernel>(kernel)), "cuKernelGetFunction");
  return f;
}

/// Lets blocks of a function have so much dynamic shared memory; more than 48 KB must be asked for.
void allow_shared(CUfunction f, int bytes) {
  static const auto set = reinterpret_cast<decltype(&cuFuncSetAttribute)>(driver_function("cuFuncSetAttribute"));
  check_driver(set(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes), "cuFuncSetAttribute");
}

}  // namespace

void set_tier(tier t) noexcept { tier_setting() = t; }
tier get_tier() noexcept { return tier_setting(); }
void set_tier_threshold(std::int64_t additions) noexcept { threshold = additions ? additions : default_threshold; }
std::uint64_t baseline_launches() noexcept { return baseline_count; }

void launch_kernel(CUfunction f, const grid& g, unsigned shared_bytes, void** arguments, cudaStream_t stream) {
  static const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(driver_function("cuLaunchKernel"));
  check_driver(launch(f, g.x, g.y, g.z, g.block_x, g.block_y, 1, shared_bytes, stream, arguments, nullptr),
               "cuLaunchKernel");
}

kernel_forms* kernel_table::look_up(std::string_view key) const {
  const std::shared_lock lock(mutex_);
  const auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : found->second.get();
}

void kernel_table::find(std::span<const jit::launch> launches, std::span<const kernel*> results) {
  jit::cuda_variant& variant = platform::per_thread<jit::cuda_variant, kernel_table>::get();
  std::string& key = platform::per_thread<std::string, kernel_table>::get();
  std::vector<miss> misses;
  std::vector<std::size_t> miss_of;  // index into the misses for each launch that has one
  jit::launch& plain = platform::per_thread<jit::launch, kernel_table>::get();
  for (std::size_t k = 0; k < launches.size(); ++k) {
    const jit::launch& l = lowered(launches[k], plain);
    kernel_forms* const known = remembered(l);
    results[k] = known ? good_enough(*known, l) : nullptr;
    if (results[k]) continue;
    classify(l, variant);
    key.clear();
    l.code->append_key(key);
    append_variant(variant, key);
    kernel_forms* const forms = look_up(key);
    results[k] = forms ? good_enough(*forms, l) : nullptr;
    if (forms) remember(l, *forms);
    if (results[k]) continue;
    if (jit::cuda_layout_bytes(*l.code, jit::cuda_layout(*l.code, variant)) > parameter_capacity)
      throw compile_error("[cuda] a kernel with " + std::to_string(l.inputs.size()) + " inputs of rank " +
                          std::to_string(l.extents.size()) + " has more parameters than a launch can carry");
    auto same = std::find_if(misses.begin(), misses.end(), [&](const miss& m) { return m.key == key; });
    if (miss_of.empty()) miss_of.assign(launches.size(), 0);
    miss_of[k] = static_cast<std::size_t>(same - misses.begin());
    const bool baseline = has_baseline(*l.code, variant) && baseline_suffices(l);
    if (same == misses.end()) misses.push_back({key, l.code, variant, baseline});
    else same->baseline = same->baseline && baseline;
  }
  if (misses.empty()) return;
  compile(misses);
  for (std::size_t k = 0; k < launches.size(); ++k) {
    if (results[k]) continue;
    results[k] = misses[miss_of[k]].found;
    if (results[k]->variant.baseline) note_baseline(*look_up(misses[miss_of[k]].key), lowered(launches[k], plain));
  }
}

bool kernel_table::is_best(const jit::launch& l, const kernel* code) noexcept {
  if (!l.memo || !l.memo->code || !code || code->variant.baseline || get_tier() == tier::baseline ||
      schedules_are_forced())
    return false;
  return static_cast<const kernel_forms*>(l.memo->code)->best.load(std::memory_order_acquire) == code;
}

/// Whether there is a baseline form that the device can run.
bool kernel_table::has_baseline(const jit::program& p, const jit::cuda_variant& v) const {
  if (!jit::cuda_has_baseline(p, v)) return false;
  constexpr int others = 16 << 10;  // static shared memory of such a kernel, at most
  const int bytes = jit::cuda_kept_bytes(p, jit::cuda_baseline_of(v));
  return bytes == 0 || bytes + others <= device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device_);
}

const kernel* kernel_table::baseline_of(const kernel_forms& forms) const {
  const std::shared_lock lock(mutex_);
  return forms.baseline.get();
}

/// The best loaded kernel; null if the launch is large enough to wait for a better one.
const kernel* kernel_table::good_enough(kernel_forms& forms, const jit::launch& l) {
  const kernel* const best = forms.best.load(std::memory_order_acquire);
  if (!best->variant.baseline) {
    if (get_tier() != tier::baseline || !has_baseline(*l.code, best->variant)) return best;
    const kernel* const baseline = baseline_of(forms);
    if (baseline) note_baseline(forms, l);
    return baseline;
  }
  if (!baseline_suffices(l)) return nullptr;
  note_baseline(forms, l);
  return best;
}

/// Counts what the baseline kernel has done, and starts the optimised compilation once that reaches the threshold.
void kernel_table::note_baseline(kernel_forms& forms, const jit::launch& l) {
  baseline_count.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t work = element_count_of(l) * element_weight(*l.code);
  const std::int64_t done = forms.work.fetch_add(work, std::memory_order_relaxed) + work;
  if (get_tier() != tier::automatic || done < threshold.load(std::memory_order_relaxed) || forms.improving) return;
  jit::cuda_variant optimised;
  classify(l, optimised);
  improve(forms, *l.code, optimised);
}

/// Compiles the optimised form in the background, once.
void kernel_table::improve(kernel_forms& forms, const jit::program& code, const jit::cuda_variant& variant) {
  if (forms.improving.exchange(true)) return;
  const auto task = [this, &forms, variant, code = std::make_shared<const jit::program>(code)] {
    try {
      make_current(device_);
      const jit::cuda_unit unit = jit::cuda_unit_of(*code, variant, arch_);
      std::unique_ptr<kernel> loaded = load(*code, variant, jit::compile_cuda({&unit, 1}).front());
      const std::unique_lock lock(mutex_);
      if (!forms.optimised) forms.optimised = std::move(loaded);
      forms.best.store(forms.optimised.get(), std::memory_order_release);
    } catch (const std::exception& e) {  // the baseline kernel stays in use
      if (runtime::tracing())
        trace(device_, "no optimised form of " + jit::cuda_kernel_name(*code, variant) + ": " + e.what());
    }
  };
  if (!platform::run_in_background(task)) forms.improving = false;
}

void kernel_table::compile(std::vector<miss>& misses) {
  const jit::timed_step all("find", "all");
  make_current(device_);
  std::vector<jit::cuda_unit> units;
  std::vector<const jit::program*> programs;
  std::vector<miss*> missing;
  for (miss& m : misses) {
    if (m.baseline && get_tier() != tier::baseline) {  // uses an optimised form from the disk cache, if there is one
      if (const auto stored = jit::load_cuda(jit::cuda_unit_of(*m.code, m.variant, arch_))) {
        m.found = keep(m.key, load(*m.code, m.variant, *stored));
        continue;
      }
    }
    if (m.baseline) m.variant = jit::cuda_baseline_of(m.variant);
    missing.push_back(&m);
    programs.push_back(m.code);
    units.push_back(jit::cuda_unit_of(*m.code, m.variant, arch_));
  }
  if (units.empty()) return;
  const std::vector<jit::cubin> binaries = jit::compile_units(units, programs);
  for (std::size_t k = 0; k < missing.size(); ++k)
    missing[k]->found = keep(missing[k]->key, load(*missing[k]->code, missing[k]->variant, binaries[k]));
}

std::unique_ptr<kernel> kernel_table::load(const jit::program& p, const jit::cuda_variant& v,
                                           const jit::cubin& binary) {
  ++(binary.from_disk ? disk_hits_ : compilations_);
  const std::string name = jit::cuda_kernel_name(p, v);
  if (runtime::tracing()) trace(device_, (binary.from_disk ? "load " : "compile ") + name);
  const jit::timed_step step("load", name);
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, binary.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  auto loaded = std::make_unique<kernel>();
  loaded->main = function_of(library, name);
  if (jit::cuda_has_second_stage(v)) loaded->second = function_of(library, name + "_2");
  loaded->variant = v;
  loaded->layout = jit::cuda_layout(p, v);
  loaded->parameter_bytes = jit::cuda_layout_bytes(p, loaded->layout);
  loaded->shared_bytes = static_cast<unsigned>(jit::cuda_kept_bytes(p, v));
  if (loaded->shared_bytes > 0) allow_shared(loaded->main, static_cast<int>(loaded->shared_bytes));
  using enum jit::cuda_shape;
  if (v.shape == linear || v.shape == strided || v.shape == flat_rows) loaded->unroll = jit::cuda_unroll(p, v);
  return loaded;
}

/// Adds a kernel to the table and returns the one that the table has for its form from now on.
const kernel* kernel_table::keep(const std::string& key, std::unique_ptr<kernel> loaded) {
  const std::unique_lock lock(mutex_);
  auto& forms = kernels_[key];
  if (!forms) forms = std::make_unique<kernel_forms>();
  auto& form = loaded->variant.baseline ? forms->baseline : forms->optimised;
  if (!form) form = std::move(loaded);
  forms->best.store(forms->optimised ? forms->optimised.get() : forms->baseline.get(), std::memory_order_release);
  return form.get();
}

}  // namespace sinter::cuda
