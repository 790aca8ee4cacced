// Random programs against NumPy's stored results, and in each mode of evaluation against each other.
// SINTER_FUZZ_CASE=1234 replays one program in every way. On a GPU, where every distinct kernel costs a compilation,
// a part of the programs runs (sample.hpp), half of that in the modes that need dedicated kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "backends/cpu/kernels/hooks.hpp"
#include "fuzz/machine.hpp"
#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"
#include "support/sample.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::fuzz;

const std::vector<program>& programs() {
  static const auto all = load_programs();
  return all;
}

std::optional<int> wanted_case() {
  const char* text = std::getenv("SINTER_FUZZ_CASE");
  return text && *text ? std::optional<int>(std::atoi(text)) : std::nullopt;
}

bool on_gpu() { return sinter::default_device().kind != sinter::device_kind::cpu; }

/// How many times fewer programs a GPU takes in the ways that need kernels of their own.
int thinned() { return on_gpu() ? 2 : 1; }
/// One program in how many runs on a GPU.
constexpr int sampled = 32;

/// Programs of a kind, every `stride`-th of the sample, as far as they are this shard's; in a replay the one that is
/// wanted.
template <class F>
int for_programs(bool exact, int stride, F&& f) {
  int n = 0, count = 0;
  const test::sample part(sampled);
  const auto mine = [&](long long k) {
    if (!part.takes(k)) return false;
    const long long among = part.place(k);
    return among % stride == 0 && test::this_shard().takes(among / stride);
  };
  for (auto& p : programs()) {
    if (p.exact != exact) continue;
    if (wanted_case() ? p.number != *wanted_case() : !mine(n++)) continue;
    f(p);
    ++count;
  }
  return count;
}

/// Restores tier and thread count whatever the case did.
struct settings_guard {
  cpu::tier tier = cpu::get_tier();
  ~settings_guard() {
    cpu::set_tier(tier);
    runtime::set_thread_count(0);
  }
};

std::string against_numpy(const program& p, const outcome& o) {
  if (!o.error.empty()) return o.error;
  if (o.reads.size() != p.reads.size()) return "a different number of reads";
  for (std::size_t k = 0; k < p.reads.size(); ++k) {
    const auto& expected = p.reads[k];
    const auto& got = o.reads[k];
    std::string what = "read " + std::to_string(k) + ": ";
    if (got.type != expected.small.type || got.shape != expected.small.shape) {
      return what + std::string(name(got.type)) + test::show_shape(got.shape) + ", expected " +
             std::string(name(expected.small.type)) + test::show_shape(expected.small.shape);
    }
    if (checksum(got) == expected.checksum) continue;
    what += "got " + test::show(got);
    return expected.small.bytes.empty() ? what : what + ", expected " + test::show(expected.small);
  }
  return {};
}

std::string against_each_other(const outcome& a, const outcome& b,
                               const test::policy& how = {test::closeness::exact, 0, true}) {
  if (!b.error.empty()) return b.error;
  if (a.reads.size() != b.reads.size()) return "a different number of reads";
  for (std::size_t k = 0; k < a.reads.size(); ++k) {
    if (a.reads[k].type == b.reads[k].type && a.reads[k].shape == b.reads[k].shape &&
        checksum(a.reads[k]) == checksum(b.reads[k])) {
      continue;
    }
    const auto diff = test::difference(b.reads[k], a.reads[k], how);
    if (how.kind == test::closeness::exact || !diff.empty()) return "read " + std::to_string(k) + ": " + diff;
  }
  return {};
}

void check_exact(const program& p, const way& w) {
  const auto wrong = against_numpy(p, run(p, w));
  CHECK_MESSAGE(wrong.empty(), w.name(), ": ", wrong, "\n", listing(p));
}

void check_ways(const program& p, const std::vector<way>& ways,
                const test::policy& how = {test::closeness::exact, 0, true}) {
  const auto first = run(p, ways.front());
  CHECK_MESSAGE(first.error.empty(), ways.front().name(), ": ", first.error, "\n", listing(p));
  if (!first.error.empty()) return;
  for (std::size_t k = 1; k < ways.size(); ++k) {
    const auto wrong = against_each_other(first, run(p, ways[k]), how);
    CHECK_MESSAGE(wrong.empty(), ways[k].name(), " against ", ways.front().name(), ": ", wrong, "\n", listing(p));
  }
}

std::uint64_t launch_count() { return runtime::get_backend(runtime::default_device()).statistics().launches; }

const way plain{};
const way unfused{.when = evaluation::every_step};
const way deferred{.when = evaluation::at_the_end};
const way single{.plan = planning::one_by_one};
const way tiny{.plan = planning::tiny_kernels};
const way two_threads{.threads = 2}, seven_threads{.threads = 7};

}  // namespace

TEST_CASE("exact programs give NumPy's results bit for bit" * doctest::test_suite(test::sharded_suite)) {
  settings_guard guard;
  const int n = for_programs(true, 1, [](const program& p) { check_exact(p, plain); });
  CHECK((wanted_case() || n >= 5000 / test::sample_step(sampled) / test::this_shard().count));
}

TEST_CASE("exact programs give NumPy's results when nothing is fused, and when everything is evaluated at the end" *
          doctest::test_suite(test::sharded_suite)) {
  settings_guard guard;
  for_programs(true, 1, [](const program& p) { check_exact(p, unfused); });
  for_programs(true, thinned(), [](const program& p) { check_exact(p, deferred); });
}

TEST_CASE("exact programs give NumPy's results wherever the planner cuts them" *
          doctest::test_suite(test::sharded_suite)) {
  settings_guard guard;
  std::uint64_t launches[3] = {};
  for_programs(true, 2 * thinned(), [&](const program& p) {
    const way ways[3] = {plain, single, tiny};
    for (int k = 0; k < 3; ++k) {
      const auto before = launch_count();
      check_exact(p, ways[k]);
      launches[k] += launch_count() - before;
    }
  });
  MESSAGE("kernels launched: ", launches[0], "; one an operation: ", launches[1], "; tiny: ", launches[2]);
  if (wanted_case()) return;
  CHECK((launches[0] < launches[1] && launches[2] < launches[1]));
  if (!on_gpu()) CHECK(launches[0] < launches[2]);
}

TEST_CASE("exact programs give NumPy's results on several threads" * doctest::test_suite(test::sharded_suite)) {
  if (on_gpu()) return;  // no kernel of theirs runs on the CPU
  settings_guard guard;
  for_programs(true, 4, [](const program& p) {
    for (const auto& w : {two_threads, seven_threads}) check_exact(p, w);
  });
}

TEST_CASE("an instruction that ran out of memory changes nothing and can be tried again" *
          doctest::test_suite(test::sharded_suite)) {
  settings_guard guard;
  for_programs(true, 2 * thinned(), [](const program& p) { check_exact(p, {.out_of_memory = true}); });
}

TEST_CASE("an instruction of which a launch failed, when others had run, changes nothing and can be tried again" *
          doctest::test_suite(test::sharded_suite)) {
  settings_guard guard;
  for_programs(true, 2 * thinned(), [](const program& p) { check_exact(p, {.fails_late = true}); });
  for_programs(true, 4 * thinned(),
               [](const program& p) { check_exact(p, {.plan = planning::tiny_kernels, .fails_late = true}); });
}

TEST_CASE("inexact programs give the same bits fused, unfused, at the end, and on 1, 2 and 7 threads" *
          doctest::test_suite(test::sharded_suite)) {
  settings_guard guard;
  int n = 0;
  for_programs(false, 1, [&](const program& p) {
    if (on_gpu() && n++ % thinned() != 0) check_ways(p, {plain, unfused});
    else if (on_gpu()) check_ways(p, {plain, unfused, deferred, single, tiny});
    else check_ways(p, {plain, unfused, deferred, single, tiny, two_threads, seven_threads});
  });
}

TEST_CASE("compiled programs give the bits of interpreted ones" * doctest::test_suite(test::sharded_suite)) {
  if (on_gpu()) return;
  settings_guard guard;
  cpu::set_tier(cpu::tier::compiled);
  const auto status = cpu::tier_status();
  const auto& backend = runtime::get_backend(runtime::default_device());
  const auto before = backend.statistics();
  // Every distinct kernel costs a run of the compiler, so this takes a sample; the kernel cache makes repeats cheap.
  const char* fewer = std::getenv("SINTER_FUZZ_COMPILED");
  const int stride = fewer && *fewer ? std::max(1, std::atoi(fewer)) : 1;
  const way compiled{.compiled = true}, compiled_threads{.compiled = true, .threads = 2};
  for_programs(false, 12 * stride, [&](const program& p) { check_ways(p, {plain, compiled, compiled_threads}); });
  for_programs(true, 30 * stride, [&](const program& p) { check_exact(p, compiled); });
  const auto after = backend.statistics();
  const auto kernels = after.compilations + after.disk_hits - before.compilations - before.disk_hits;
  MESSAGE("tier 1: ", status, "; kernels compiled or found: ", kernels);
  if (status.rfind("compiled", 0) == 0 && !wanted_case() && test::this_shard().count == 1)
    CHECK(kernels * static_cast<std::uint64_t>(stride * test::sample_step(sampled)) > 100);
}

namespace {

/// Whether a program does what rounds otherwise along an axis that is sharded: running sums, variances.
bool rounds_otherwise(const program& p) {
  static const std::set<std::string> functions{"logcumsumexp", "std", "var", "nanstd", "nanvar"};
  return std::any_of(p.code.begin(), p.code.end(),
                     [](const instruction& i) { return functions.count(i.function) != 0; });
}

}  // namespace

TEST_CASE("programs on meshes give NumPy's results and the bits of one device" *
          doctest::test_suite(test::sharded_suite)) {
  settings_guard guard;
  const std::vector<std::int64_t> meshes[] = {{3}, {2, 2}, {4}, {8}, {2}};
  const auto ways = [&](const program& p, int k) {
    const auto& mesh = meshes[static_cast<std::size_t>(p.number + k) % std::size(meshes)];
    return std::vector<way>{way{.mesh = mesh}, way{.when = evaluation::at_the_end, .mesh = mesh}};
  };
  for_programs(true, 1, [&](const program& p) {
    for (const way& w : ways(p, 0)) check_exact(p, w);
  });
  for_programs(false, 1, [&](const program& p) {
    const std::vector<way> divided = ways(p, 2);
    const test::policy close{test::closeness::unit_ulp, 64, true}, same{test::closeness::exact, 0, true};
    check_ways(p, {plain, divided[0], divided[1]}, rounds_otherwise(p) ? close : same);
  });
}

namespace {

/// Whether an instruction takes a view of its operand, or is a function that is written with views of it.
bool reads_parts(const instruction& i) {
  static const std::set<std::string> by_views{"ravel F",
                                              "sort all",
                                              "ediff1d",
                                              "pad edge",
                                              "pad wrap",
                                              "rot90",
                                              "append",
                                              "trim_zeros",
                                              "median",
                                              "nanmedian",
                                              "pad reflect",
                                              "pad symmetric",
                                              "pad maximum",
                                              "pad minimum",
                                              "pad linear_ramp",
                                              "pad mean",
                                              "roll 1",
                                              "roll axes",
                                              "diff",
                                              "diff twice",
                                              "gradient",
                                              "gradient twice",
                                              "trapezoid twice",
                                              "trapezoid of",
                                              "unwrap",
                                              "unwrap radians",
                                              "insert",
                                              "insert all",
                                              "delete",
                                              "delete slice",
                                              "rollaxis",
                                              "hsplit",
                                              "array_split",
                                              "block",
                                              "concatenate",
                                              "stack",
                                              "column_stack",
                                              "window sums",
                                              "window maxima",
                                              "diag",
                                              "diagonal",
                                              "cross",
                                              "polyadd",
                                              "polysub",
                                              "polyval",
                                              "polymul",
                                              "convolve",
                                              "convolve same",
                                              "correlate valid",
                                              "apply_along_axis",
                                              "resize",
                                              "percentile 25 lower",
                                              "quantile 0.7 higher",
                                              "nanpercentile 60 nearest",
                                              "quantile 0.5 inverted_cdf"};
  return (i.op >= opcode::view && i.op <= opcode::broadcast_to) || i.op == opcode::pick || i.op == opcode::set_part ||
         i.op == opcode::part || by_views.count(i.function) != 0;
}

}  // namespace

// Programs exceed the bounds in these ways, which are counted: a launch or a copy more is much where arrays have a few
// elements, and each of these takes a block of 256 bytes, so that a value more is a fifth of the peak.
// - Reading a part of a pending value computes that part alone, a launch more if the rest is needed later: every view in a
//   program may cost one. So does a small reduction that one evaluation has stored for others without what follows it.
// - A write copies the old version where values that read it are pending and not evaluated with it.
// - What is pending keeps its operands, also those whose names are gone.
TEST_CASE("laziness costs no more than evaluating each statement where it stands" *
          doctest::test_suite(test::sharded_suite)) {
  if (!test::meter::sees_launches()) return;
  settings_guard guard;
  int all = 0, dearer = 0, larger = 0;
  const auto compare = [&](const program& p) {
    const auto parts = std::count_if(p.code.begin(), p.code.end(), reads_parts);
    for (const bool end : {false, true}) {
      const outcome eager = run(p, {.when = evaluation::every_step, .copied = end, .metered = true});
      const outcome lazy = run(p, {.when = end ? evaluation::at_the_end : evaluation::as_written, .metered = true});
      const double bound = 1.1 * eager.spent.cost + test::meter::price().launch * static_cast<double>(parts);
      ++all;
      dearer += lazy.spent.cost > bound;
      CHECK_MESSAGE(lazy.spent.cost <= bound + 0.3 * eager.spent.cost, lazy.spent.cost, ", at once ", eager.spent.cost,
                    "\n", listing(p));
      larger += lazy.spent.peak > eager.spent.peak + eager.spent.peak / 4 + lazy.largest + lazy.largest / 4 + 256;
      if (wanted_case())
        MESSAGE(lazy.spent.cost, " of ", eager.spent.cost, ", ", lazy.spent.peak, " of ", eager.spent.peak);
    }
  };
  for_programs(true, 1, compare);
  for_programs(false, 1, compare);
  MESSAGE("of ", all, " programs dearer: ", dearer, ", with a higher peak of memory: ", larger);
  const int chance = on_gpu() && test::sample_step(sampled) > 1 ? 6 : 0;  // in a sample there may be some more
  if (!wanted_case()) CHECK(((dearer - chance) * 500 <= all && (larger - chance) * 280 <= all));
}
