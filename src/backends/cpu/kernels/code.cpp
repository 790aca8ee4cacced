// The table of block functions and the decision when to compile them.
#include "backends/cpu/kernels/code.hpp"

#include <mutex>
#include <unordered_map>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/cpu/emit.hpp"
#include "platform/environment.hpp"
#include "platform/hash.hpp"
#include "platform/per_thread.hpp"

namespace sinter::cpu {
namespace {

constexpr std::uint64_t default_threshold = std::uint64_t{1} << 25;  // about as long as the compiler takes

std::atomic<tier>& tier_setting() noexcept {
  static std::atomic<tier> setting{platform::environment_tier(tier::automatic, tier::interpreted, tier::compiled)};
  return setting;
}
std::atomic<std::uint64_t> threshold{default_threshold};
std::atomic<bool> skip_tails{true};

struct code_table {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<block_code>, platform::bytes_hash> codes;

  static code_table& instance() {
    static auto* t = new code_table;  // outlives static arrays
    return *t;
  }
};

}  // namespace

void set_tier(tier t) noexcept { tier_setting() = t; }
tier get_tier() noexcept { return tier_setting(); }
void set_tier_threshold(std::uint64_t work) noexcept { threshold = work ? work : default_threshold; }
std::uint64_t tier_threshold() noexcept { return threshold.load(std::memory_order_relaxed); }
void set_skip_tails(bool on) noexcept { skip_tails = on; }
bool skips_tails() noexcept { return skip_tails.load(std::memory_order_relaxed); }

std::string tier_status() {
  if (get_tier() == tier::interpreted) return "interpreted: SINTER_TIER=0";
  const auto& compiler = jit::host_compiler::find();
  if (compiler.path.empty()) return "interpreted: " + compiler.reason;
  return "compiled by " + compiler.path + " (" + compiler.identity + ")";
}

block_code::block_code(jit::program p, jit::block_variant v)
    : compiled_code(jit::needs_compiler(p, v)),
      program_(std::move(p)),
      variant_(std::move(v)),
      scratch_bytes_(must_compile() ? 0 : jit::interpreter_scratch_bytes(program_)),
      operations_(jit::external_operations(program_, variant_)),
      any_length_(jit::takes_any_length(program_, variant_)),
      one_loop_(jit::is_one_loop(program_, variant_)),
      halves_(jit::takes_halves(program_, variant_)),
      rows_(jit::takes_rows(program_, variant_)) {}

void block_code::run(jit::block_args& args, const void* const* reduced, void* scratch) const {
  const bool fits = !has_patterns() || args.in_patterns;
  if (jit::block_function f = function_.load(std::memory_order_acquire); f && fits) {
    args.operations = operations_.data();
    f(&args);
  } else {
    jit::interpret(program_, variant_, args, reduced, scratch);
  }
}

std::unique_ptr<jit::bound_program> block_code::bind(const jit::block_args& args) const {
  if (must_compile() || is_compiled() || !jit::bound_program::suits(program_)) return nullptr;
  return std::make_unique<jit::bound_program>(program_, variant_, args);
}

void block_code::make_ready() const {
  if (!function_.load(std::memory_order_acquire)) jit::prepare_interpreter(program_, variant_);
}

bool block_code::wants_compilation(std::uint64_t lanes) noexcept {
  if (must_compile()) return !is_compiled();
  if (current_state() != state::cold || is_set_aside()) return false;
  tier t = get_tier();
  if (t != tier::automatic) return t == tier::compiled;
  std::uint64_t work = lanes * (program_.code.size() + 1);
  return work_.fetch_add(work, std::memory_order_relaxed) + work >= threshold.load(std::memory_order_relaxed);
}

bool block_code::is_worth_adding() const noexcept {
  constexpr std::uint64_t share = 4;  // of the time of one compilation, another function in the same source
  if (must_compile() || current_state() != state::cold || is_set_aside() || get_tier() != tier::automatic) return false;
  return work_.load(std::memory_order_relaxed) * share >= threshold.load(std::memory_order_relaxed);
}

jit::cpu_definition block_code::definition(const std::string& name) const {
  return {&program_, variant_, nullptr, name};
}

void block_code::install(std::span<void* const> addresses) noexcept {
  function_.store(reinterpret_cast<jit::block_function>(addresses[0]), std::memory_order_release);
}

block_code& find_code(const jit::program& p, const jit::block_variant& v) {
  std::string& key = platform::per_thread<std::string, block_code>::get();
  key.clear();
  key.append(reinterpret_cast<const char*>(&v.uniform), sizeof v.uniform);
  key.push_back(static_cast<char>(v.epilogue));
  key.push_back(static_cast<char>(v.patterns.size() / jit::lane_pattern::letters));
  key.append(v.patterns);
  p.append_key(key);
  code_table& t = code_table::instance();
  std::lock_guard lock(t.mutex);
  auto found = t.codes.find(key);
  if (found == t.codes.end()) found = t.codes.emplace(key, std::make_unique<block_code>(p, v)).first;
  return *found->second;
}

}  // namespace sinter::cpu
