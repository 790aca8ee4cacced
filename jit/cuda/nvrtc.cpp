// CUDA C++ to cubin through NVRTC, which is opened on first use and only after a miss of the disk cache.
#include "jit/cuda/nvrtc.hpp"

#include "sinter/error.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "jit/compile.hpp"
#include "jit/compile_steps.hpp"
#include "jit/cuda/library/nvrtc.hpp"
#include "jit/program/include_scan.hpp"
#include "platform/background.hpp"
#include "platform/disk_cache.hpp"
#include "platform/files.hpp"

namespace sinter::jit {
namespace {

using namespace nvrtc;

// --minimal omits the declarations of textures and of the runtime API: 3 ms of 48. The assembler's report (-v) shows
// whether registers were spilled.
std::vector<std::string> options_for(const nvrtc_options& options) {
  std::vector<std::string> texts{"--gpu-architecture=sm_" + std::to_string(options.arch), "--std=c++17",
                                 options.fast_math ? "--use_fast_math" : "--fmad=false", "--minimal",
                                 "--ptxas-options=-v"};
  if (options.level == optimisation::some) texts.emplace_back("--Ofast-compile=min");
  if (options.level == optimisation::little) texts.emplace_back("--Ofast-compile=mid");
  return texts;
}

/// One compilation. `begins` is called just before NVRTC starts; it calls its argument when NVRTC may start.
struct request {
  std::string_view name;
  std::string key;
  std::function<std::string()> source;
  std::vector<std::string> options;
  std::function<void(const std::function<void()>&)> begins;
  std::function<std::optional<std::string>()> key_now = {};  // if files that the source includes are part of the key
};

cubin compile_now(const request& r) {
  const nvrtc_api& api = usable_api();
  const std::string source = [&] {
    const timed_step step("generate", r.name);
    return r.source();
  }();
  nvrtc_program program(api, source);
  std::optional<timed_step> step;
  const auto start = [&] { step.emplace("compile", r.name); };
  r.begins ? r.begins(start) : start();
  const nvrtcResult status = program.compile(r.options);
  cubin result;
  result.log = program.log();
  if (status == NVRTC_ERROR_OUT_OF_MEMORY) throw memory_error("[compile_cuda] NVRTC ran out of host memory");
  if (status != NVRTC_SUCCESS) {
    throw_compile_error("NVRTC", std::string("failed: ") + api.nvrtcGetErrorString(status), r.options, result.log,
                        source);
  }
  result.bytes = program.binary();
  return result;
}

// On disk: the length of the log, the log, the cubin.
std::vector<char> pack(const cubin& c) {
  const std::uint64_t log_bytes = c.log.size();
  std::vector<char> bytes(sizeof log_bytes + c.log.size());
  std::memcpy(bytes.data(), &log_bytes, sizeof log_bytes);
  c.log.copy(bytes.data() + sizeof log_bytes, c.log.size());
  bytes.insert(bytes.end(), c.bytes.begin(), c.bytes.end());
  return bytes;
}

bool unpack(const std::vector<char>& bytes, cubin& c) {
  std::uint64_t log_bytes = 0;
  if (bytes.size() < sizeof log_bytes) return false;
  std::memcpy(&log_bytes, bytes.data(), sizeof log_bytes);
  if (log_bytes > bytes.size() - sizeof log_bytes) return false;
  const auto log_begin = bytes.begin() + static_cast<std::ptrdiff_t>(sizeof log_bytes);
  const auto log_end = log_begin + static_cast<std::ptrdiff_t>(log_bytes);
  c.log.assign(log_begin, log_end);
  c.bytes.assign(log_end, bytes.end());
  c.from_disk = true;
  return !c.bytes.empty();
}

std::optional<cubin> load(const std::string& key) {
  cubin result;
  const auto stored = platform::disk_cache::instance().load(key);
  if (!stored || !unpack(*stored, result)) return std::nullopt;
  ++counters().cuda_from_disk;
  return result;
}

cubin load_or_compile(const request& r) {
  if (auto stored = load(r.key)) return *std::move(stored);
  cubin result = compile_now(r);
  ++counters().cuda_compiled;
  const timed_step step("store on disk", r.name);
  if (!r.key_now || r.key_now() == r.key) platform::disk_cache::instance().store(r.key, pack(result));
  return result;
}

cubin compile_shared(const request& r) {
  static single_flight<cubin>& flights = *new single_flight<cubin>;
  return *flights.run(r.key, [&] { return load_or_compile(r); });
}

std::string key_of(const std::string& what, const std::string& identity, const std::vector<std::string>& options) {
  std::string key = what;
  platform::append_field(key, library_identity());
  for (const std::string& text : options) platform::append_field(key, text);
  platform::append_field(key, identity);
  return key;
}
/// Null if the included files cannot be determined: the text is then compiled in each process.
std::optional<std::string> key_of(const cuda_unit& u) {
  std::string key = key_of("sinter kernel 1\n", u.identity, options_for(u.options));
  if (!u.is_source) return key;
  const std::optional<std::string> included = included_by_users(u.identity);
  if (!included) return std::nullopt;
  if (!included->empty()) platform::append_field(key, *included);
  return key;
}

request request_of(const cuda_unit& u) {
  request r{u.name, "", u.source, options_for(u.options), nullptr};
  if (u.is_source) r.key_now = [&u] { return key_of(u); };
  // Equal sources are compiled once at a time, even if the result must not be stored on disk.
  r.key = key_of(u).value_or(key_of("sinter unknown 1\n", u.identity, r.options));
  return r;
}

/// Compiles some units in parallel. NVRTC's front end processes one source at a time, in order of arrival, so each
/// compilation begins after the previous one of the given order: the longest must not be the last.
class side_by_side {
 public:
  side_by_side(std::span<const cuda_unit> units, std::vector<std::size_t> order, std::vector<cubin>& results)
      : units_(units), order_(std::move(order)), results_(results), errors_(units.size()) {}

  void run() {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> helpers;
    try {
      while (helpers.size() + 1 < std::min(order_.size(), cores)) helpers.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // no further threads are available: the existing ones do the work
    }
    work();
    for (std::thread& t : helpers) t.join();
    for (const std::exception_ptr& e : errors_)
      if (e) std::rethrow_exception(e);
  }

 private:
  void work() {
    for (std::size_t m = next_++; m < order_.size(); m = next_++) {
      const std::size_t k = order_[m];
      try {
        request r = request_of(units_[k]);
        r.begins = [&](const std::function<void()>& start) { wait_for_turn(m, start); };
        fail_on_request("NVRTC", r.key);
        results_[k] = compile_shared(r);
      } catch (...) {
        errors_[k] = std::current_exception();
      }
      pass_turn(m);
    }
  }
  // The order is only an optimisation, hence the timeout: another thread may be compiling the same unit already.
  void wait_for_turn(std::size_t m, const std::function<void()>& start) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, compile_wait_limit(), [&] { return turn_ >= m; });
    start();
    turn_ = std::max(turn_, m + 1);
    changed_.notify_all();
  }
  void pass_turn(std::size_t m) {
    const std::lock_guard lock(mutex_);
    turn_ = std::max(turn_, m + 1);
    changed_.notify_all();
  }

  std::span<const cuda_unit> units_;
  const std::vector<std::size_t> order_;
  std::vector<cubin>& results_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;
};

void warm_up_now() noexcept {
  try {
    if (!library().usable) return;
    platform::end_background_before_exit_handlers();
    const auto source = [] { return "extern \"C\" __global__ void warm(float* x) { *x = 1.0f; }"; };
    compile_now({"", "", source, options_for({}), nullptr});
    platform::end_background_before_exit_handlers();
  } catch (...) {
    return;  // the first compilation reports the error
  }
}

}  // namespace

cubin compile_cuda(const std::string& source, const nvrtc_options& options) {
  fail_on_request("NVRTC", source);
  const std::vector<std::string> texts = options_for(options);
  return compile_shared({"", key_of("sinter cubin 1\n", source, texts), [&] { return source; }, texts, nullptr});
}

std::optional<cubin> load_cuda(const cuda_unit& unit) {
  const timed_step step("look on disk", unit.name);
  const std::optional<std::string> key = key_of(unit);
  return key ? load(*key) : std::nullopt;
}

std::vector<cubin> compile_cuda(std::span<const cuda_unit> units) {
  std::vector<cubin> results(units.size());
  std::vector<std::size_t> missing;
  for (std::size_t k = 0; k < units.size(); ++k) {
    auto stored = load_cuda(units[k]);
    if (stored) results[k] = *std::move(stored);
    else missing.push_back(k);
  }
  if (missing.empty()) return results;
  std::stable_sort(missing.begin(), missing.end(),
                   [&](std::size_t a, std::size_t b) { return units[a].weight > units[b].weight; });
  side_by_side(units, std::move(missing), results).run();
  return results;
}

bool nvrtc_available(std::string* why_not) {
  const nvrtc_library& nvrtc = library();
  if (!nvrtc.usable && why_not != nullptr) *why_not = "NVRTC cannot be loaded; tried " + nvrtc.tried;
  return nvrtc.usable;
}

void warm_up_nvrtc() {
  static std::atomic<bool> begun{false};
  if (!begun.exchange(true) && !platform::run_in_background(warm_up_now)) begun = false;
}

}  // namespace sinter::jit

#else

namespace sinter::jit {
namespace {
constexpr const char* absent = "sinter was built without the CUDA toolkit";
}

cubin compile_cuda(const std::string&, const nvrtc_options&) {
  throw device_error(std::string("[compile_cuda] NVRTC cannot be used: ") + absent);
}

std::vector<cubin> compile_cuda(std::span<const cuda_unit>) { return {compile_cuda(std::string(), {})}; }

std::optional<cubin> load_cuda(const cuda_unit&) { return std::nullopt; }

bool nvrtc_available(std::string* why_not) {
  if (why_not != nullptr) *why_not = absent;
  return false;
}

void warm_up_nvrtc() {}

}  // namespace sinter::jit

#endif
