// Which thread compiles what, and how the rest is compiled when a user's text is refused.
#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>

#include "backends/cpu/kernels/code.hpp"
#include "jit/compile.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/user_error.hpp"
#include "platform/environment.hpp"
#include "runtime/trace.hpp"

namespace sinter::cpu {
namespace {

/// After a timeout the compiler runs only for text that cannot be interpreted.
std::atomic<bool> compiler_hangs{false};

void warn_of(const jit::compiler_failure& failure) {
  static std::atomic<bool> warned{false};
  if (failure.cause == jit::failure_cause::time) compiler_hangs = true;
  if (warned.exchange(true)) return;
  platform::warn(failure.compiler + " " + failure.reason + ": kernels that it should have compiled are interpreted");
}

/// Whether another text could have been compiled.
bool refuses_text(const jit::compiler_failure& failure) noexcept { return failure.cause == jit::failure_cause::text; }

}  // namespace

/// Codes that this thread has claimed. On destruction those that are not ready become cold again.
class compilation {
 public:
  explicit compilation(std::span<compiled_code* const> codes) {
    for (compiled_code* c : codes) {
      auto cold = compiled_code::state::cold;
      if (c->state_.compare_exchange_strong(cold, compiled_code::state::compiling)) claimed_.push_back(c);
    }
  }
  ~compilation() {
    for (compiled_code* c : claimed_) {
      auto compiling = compiled_code::state::compiling;
      if (c->state_.compare_exchange_strong(compiling, compiled_code::state::cold)) c->state_.notify_all();
    }
  }
  compilation(const compilation&) = delete;
  compilation& operator=(const compilation&) = delete;

  void run() {
    if (claimed_.empty()) return;
    const auto users =
        std::stable_partition(claimed_.begin(), claimed_.end(), [](auto* c) { return !c->must_compile(); });
    if (users == claimed_.end()) return compile_recorded(claimed_);
    if (claimed_.size() == 1) return compile_user_text(claimed_);
    try {
      return compile(claimed_);
    } catch (const jit::compiler_failure& failure) {
      if (!refuses_text(failure)) {
        if (users != claimed_.begin()) set_aside({claimed_.begin(), users}, failure);
        refuse_user_text(**users, failure);
      }
    } catch (const compile_error&) {
    }
    // One text may break the others, by an error or by its definitions: each is compiled separately.
    std::exception_ptr refused;
    for (auto at = users; at != claimed_.end(); ++at) attempt({&*at, 1}, refused);
    if (users != claimed_.begin())
      attempt({&*claimed_.begin(), static_cast<std::size_t>(users - claimed_.begin())}, refused);
    if (refused) std::rethrow_exception(refused);
  }

 private:
  using code_span = std::span<compiled_code* const>;

  static void attempt(code_span codes, std::exception_ptr& refused) {
    try {
      codes[0]->must_compile() ? compile_user_text(codes) : compile_recorded(codes);
    } catch (const compile_error&) {
      if (!refused) refused = std::current_exception();
    }
  }

  static void compile_user_text(code_span codes) {
    try {
      compile(codes);
    } catch (const jit::compiler_failure& failure) {
      refuse_user_text(*codes[0], failure);
    }
  }

  [[noreturn]] static void refuse_user_text(const compiled_code& code, const jit::compiler_failure& failure) {
    jit::program monoid;
    const jit::cpu_definition d = code.definition("");
    if (d.monoid) monoid.combines.push_back(d.monoid);
    const jit::program* p = d.monoid ? &monoid : d.code;
    throw compile_error(jit::user_failure_text({&p, 1}, failure));
  }

  static void compile_recorded(code_span codes) {
    try {
      compile(codes);
    } catch (const jit::compiler_failure& failure) {
      if (refuses_text(failure)) throw;
      set_aside(codes, failure);
    }
  }

  static void set_aside(code_span codes, const jit::compiler_failure& failure) {
    for (compiled_code* c : codes) c->set_aside_.store(true, std::memory_order_relaxed);
    warn_of(failure);
  }

  static void compile(code_span codes) {
    std::vector<jit::cpu_definition> definitions;
    std::vector<std::string> functions;
    for (const compiled_code* c : codes) {
      const std::string name = "sn_" + c->label() + "_" + std::to_string(definitions.size());
      definitions.push_back(c->definition(name));
      for (std::string& f : c->functions(name)) functions.push_back(std::move(f));
      if (runtime::tracing()) runtime::trace("cpu compile " + name);
    }
    const std::vector<void*> addresses = jit::compile_host(jit::emit_cpu(definitions), functions);
    std::size_t at = 0;
    for (compiled_code* c : codes) {
      const std::size_t n = c->functions("").size();
      c->install({addresses.data() + at, n});
      at += n;
      c->state_.store(compiled_code::state::ready, std::memory_order_release);
      c->state_.notify_all();
    }
  }

  std::vector<compiled_code*> claimed_;
};

namespace {

[[noreturn]] void refuse(const compiled_code& code, const std::string& reason) {
  const jit::cpu_definition d = code.definition("");
  throw compile_error("[" + (d.monoid ? d.monoid->name : jit::user_names(*d.code)) +
                      "] needs a C++ compiler at run time: " + reason);
}

}  // namespace

void compile_blocks(std::span<compiled_code* const> codes) {
  if (codes.empty()) return;
  const jit::host_compiler& compiler = jit::host_compiler::find();
  if (compiler.path.empty()) {
    for (const compiled_code* c : codes)
      if (c->must_compile() && !c->is_compiled()) refuse(*c, compiler.reason);
    return;
  }
  std::vector<compiled_code*> texts;
  if (compiler_hangs) {
    std::copy_if(codes.begin(), codes.end(), std::back_inserter(texts), [](auto* c) { return c->must_compile(); });
    codes = texts;
  }
  for (bool again = true; again;) {
    compilation(codes).run();
    // Variants without users' text are interpreted while another thread compiles them. Where that thread has failed to
    // compile a user's text, this one tries, for the exception.
    again = false;
    for (compiled_code* c : codes) {
      if (!c->must_compile()) continue;
      c->state_.wait(compiled_code::state::compiling);
      again = again || !c->is_compiled();
    }
  }
}

}  // namespace sinter::cpu
