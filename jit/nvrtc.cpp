// CUDA C++ to cubin through NVRTC, which is opened on first use and only when the disk cache has no answer.
#include "compile.hpp"
#include "sinter/error.hpp"

#ifdef SINTER_HAS_CUDA

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "compile_shared.hpp"
#include "compile_util.hpp"
#include "nvrtc_library.hpp"

namespace sinter::jit {
namespace {

using namespace nvrtc;

// --minimal leaves out the declarations of textures and of the runtime API: 3 ms of 48. The assembler's report (-v) says
// whether registers were spilled.
std::vector<std::string> options_for(const nvrtc_options& options) {
  std::vector<std::string> texts{"--gpu-architecture=sm_" + std::to_string(options.arch), "--std=c++17",
                                 options.fast_math ? "--use_fast_math" : "--fmad=false", "--minimal",
                                 "--ptxas-options=-v"};
  if (options.fast_compile) texts.emplace_back("--Ofast-compile=min");
  return texts;
}

cubin compile_now(const std::string& source, const std::vector<std::string>& options) {
  const nvrtc_api& api = usable_api();
  nvrtc_program program(api, source);
  const nvrtcResult status = program.compile(options);
  cubin result;
  result.log = program.log();
  if (status == NVRTC_ERROR_OUT_OF_MEMORY) throw memory_error("[compile_cuda] NVRTC ran out of host memory");
  if (status != NVRTC_SUCCESS) {
    throw_compile_error("NVRTC", std::string("failed: ") + api.nvrtcGetErrorString(status), options, result.log,
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
  const auto stored = disk_cache::instance().load(key);
  if (!stored || !unpack(*stored, result)) return std::nullopt;
  ++counters().cuda_from_disk;
  return result;
}

cubin load_or_compile(const std::string& key, const std::string& source, const std::vector<std::string>& options) {
  if (auto stored = load(key)) return *std::move(stored);
  cubin result = compile_now(source, options);
  ++counters().cuda_compiled;
  disk_cache::instance().store(key, pack(result));
  return result;
}

std::string key_of(const std::string& source, const std::vector<std::string>& options) {
  std::string key = "sinter cubin 1\n";
  append_field(key, library_identity());
  for (const std::string& text : options) append_field(key, text);
  append_field(key, source);
  return key;
}

// NVRTC registers exit handlers while it loads, and they destroy what a load in progress still uses. So the thread must
// have ended before any exit handler runs. Only destructors of the exiting thread's own variables come that early:
// hence the warm-up belongs to the main thread, which is the one that returns from main. The handler registered after
// loading serves programs that call exit in another thread.
struct warm_up {
  std::mutex mutex;
  std::thread thread;
  bool done = false;  // started, or too late to start
};

warm_up& background() {
  static warm_up& instance = *new warm_up;
  return instance;
}

void join_background() {
  warm_up& w = background();
  const std::lock_guard lock(w.mutex);
  w.done = true;
  if (w.thread.joinable()) w.thread.join();
}

struct join_at_thread_end {
  ~join_at_thread_end() { join_background(); }
};

void warm_up_now() noexcept {
  try {
    if (!library().usable) return;
    std::atexit(join_background);
    compile_now("extern \"C\" __global__ void warm(float* x) { *x = 1.0f; }", options_for({}));
  } catch (...) {
    return;  // the compilation that needs NVRTC will say what is wrong
  }
}

}  // namespace

cubin compile_cuda(const std::string& source, const nvrtc_options& options) {
  fail_on_request("NVRTC", source);
  static single_flight<cubin>& flights = *new single_flight<cubin>;
  const std::vector<std::string> texts = options_for(options);
  const std::string key = key_of(source, texts);
  return *flights.run(key, [&] { return load_or_compile(key, source, texts); });
}

std::vector<cubin> compile_cuda(std::span<const cuda_unit> units) {
  std::vector<cubin> results(units.size());
  std::vector<std::size_t> missing;
  for (std::size_t k = 0; k < units.size(); ++k) {
    auto stored = load(key_of(units[k].source, options_for(units[k].options)));
    if (stored)
      results[k] = *std::move(stored);
    else
      missing.push_back(k);
  }
  // The longest first: the others have time enough beside it.
  std::sort(missing.begin(), missing.end(),
            [&](std::size_t a, std::size_t b) { return units[a].source.size() > units[b].source.size(); });
  std::vector<std::exception_ptr> errors(units.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t m = next++; m < missing.size(); m = next++) {
      const std::size_t k = missing[m];
      try {
        results[k] = compile_cuda(units[k].source, units[k].options);
      } catch (...) {
        errors[k] = std::current_exception();
      }
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  try {
    while (helpers.size() + 1 < std::min(missing.size(), cores)) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // no thread to spare: those that there are do the work
  }
  work();
  for (std::thread& t : helpers) t.join();
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
  return results;
}

bool nvrtc_available(std::string* why_not) {
  const nvrtc_library& nvrtc = library();
  if (!nvrtc.usable && why_not != nullptr) *why_not = "NVRTC cannot be loaded; tried " + nvrtc.tried;
  return nvrtc.usable;
}

void warm_up_nvrtc() {
  if (::gettid() != ::getpid()) return;
  [[maybe_unused]] static thread_local const join_at_thread_end guard;
  warm_up& w = background();
  const std::lock_guard lock(w.mutex);
  if (w.done) return;
  w.done = true;
  try {
    w.thread = std::thread(warm_up_now);
  } catch (const std::system_error&) {
    return;  // no thread to spare: the first compilation loads NVRTC itself
  }
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

bool nvrtc_available(std::string* why_not) {
  if (why_not != nullptr) *why_not = absent;
  return false;
}

void warm_up_nvrtc() {}

}  // namespace sinter::jit

#endif
