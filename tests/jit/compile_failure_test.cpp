// A flush whose compilation fails leaves every pending value unchanged; a second attempt runs.
#include <doctest/doctest.h>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/hooks.hpp"
#include "platform/disk_cache.hpp"
#include "platform/hooks.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace sinter;

/// Every kernel is compiled at first use, and nothing is found on the disk; restored when the case ends.
struct compiles_everything {
  cpu::tier before = cpu::get_tier();
  std::string folder = platform::disk_cache::instance().folder();
  sinter_test::scratch_folder scratch;
  compiles_everything() {
    cpu::set_tier(cpu::tier::compiled);
    platform::reset_disk_cache_for_tests(scratch / "cache");
  }
  ~compiles_everything() {
    jit::fail_compilation_for_tests(-1);
    cpu::set_tier(before);
    platform::reset_disk_cache_for_tests(folder);
  }
};

bool compiles() {
  if (default_device().kind == device_kind::cuda || !jit::host_compiler::find().path.empty()) return true;
  MESSAGE("left out: " << jit::host_compiler::find().reason);
  return false;
}

using integers = std::vector<std::int64_t>;

/// A chain with a shared part, a pending write through a view, and a reduction of it all. The expressions are like
/// nothing else in the suite, so that no kernel of theirs is there already.
struct pending {
  ndarray x = array({3, 1, 4, 1, 5});
  ndarray shared = x * 7 - 3;
  ndarray chain = bitwise_xor(shared * shared, 21) + 13;
  ndarray written = x.copy();
  ndarray total;
  pending() {
    written(slice(1, 4)) += shared(slice(0, 3)) - 77;
    total = sum(bitwise_xor(chain, written) - 5);
  }
  void check() const {
    CHECK(x.to_vector<std::int64_t>() == integers{3, 1, 4, 1, 5});
    CHECK(chain.to_vector<std::int64_t>() ==
          integers{(324 ^ 21) + 13, (16 ^ 21) + 13, (625 ^ 21) + 13, (16 ^ 21) + 13, (1024 ^ 21) + 13});
    CHECK(shared.to_vector<std::int64_t>() == integers{18, 4, 25, 4, 32});
    CHECK(written.to_vector<std::int64_t>() == integers{3, 1 + 18 - 77, 4 + 4 - 77, 1 + 25 - 77, 5});
    const auto a = chain.to_vector<std::int64_t>(), b = written.to_vector<std::int64_t>();
    std::int64_t expected = 0;
    for (std::size_t k = 0; k < a.size(); ++k) expected += (a[k] ^ b[k]) - 5;
    CHECK(std::int64_t(total) == expected);
  }
};

/// Evaluates step by step; how often a step threw compile_error before it was tried again.
int evaluate_in_steps(const pending& p) {
  int failures = 0;
  for (const ndarray* a : {&p.chain, &p.written, &p.total, &p.shared}) {
    try {
      eval(*a);
    } catch (const compile_error& e) {
      ++failures;
      CHECK(std::string(e.what()).find("on request of a test") != std::string::npos);
      eval(*a);
    }
  }
  return failures;
}

}  // namespace

TEST_CASE("a flush whose compilation fails throws compile_error, keeps every pending value, and can be tried again") {
  if (!compiles()) return;
  const compiles_everything guard;
  const pending p;
  const auto& backend = runtime::get_backend(runtime::default_device());
  const auto launches = backend.statistics().launches;
  jit::fail_compilation_for_tests(0);
  CHECK_THROWS_AS(eval(p.chain, p.written, p.total), compile_error);
  CHECK(backend.statistics().launches == launches);
  eval(p.chain, p.written, p.total);
  CHECK(backend.statistics().launches > launches);
  p.check();
}

TEST_CASE("whichever flush of a program fails to compile, the results are the same") {
  if (!compiles()) return;
  const compiles_everything guard;
  int failed = 0;
  for (int k = 0; k < 4; ++k) {
    CAPTURE(k);
    // Another type for each round: kernels that an earlier round has compiled would not be compiled again.
    static constexpr dtype types[] = {int32, uint32, uint64, float64};
    pending p;
    const ndarray other = (p.chain.astype(types[k]) * 9 - 4) * p.x.astype(types[k]);
    const ndarray lowest = min(other + 3);
    jit::fail_compilation_for_tests(k % 3);
    failed += evaluate_in_steps(p);
    for (const ndarray* a : {&other, &lowest}) {
      try {
        eval(*a);
      } catch (const compile_error&) {
        ++failed;
        eval(*a);
      }
    }
    jit::fail_compilation_for_tests(-1);
    p.check();
    const auto chain = p.chain.to_vector<std::int64_t>(), x = p.x.to_vector<std::int64_t>();
    std::int64_t least = INT64_MAX;
    for (std::size_t n = 0; n < x.size(); ++n) least = std::min(least, (chain[n] * 9 - 4) * x[n] + 3);
    CHECK(lowest.astype(int64).to_vector<std::int64_t>() == integers{least});
  }
  CHECK(failed >= 3);
}
