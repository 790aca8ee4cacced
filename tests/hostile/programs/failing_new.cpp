// Every call of operator new fails once: the k-th of a program, for k = 1, 2, ... until the program ends before its
// k-th. A failure must be thrown as std::bad_alloc or a memory_error, leave every array with what it held before the
// step or what it holds after it, and leak nothing. The rest of the program must then come to the same end.
#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"

namespace {

std::atomic<long> until_failure{-1};  // calls; negative: none fails
std::atomic<long> blocks{0};          // that have not been freed
const char* running = "the start";
long failing_call = 0;

void* obtain(std::size_t bytes, std::size_t alignment) {
  if (until_failure.load(std::memory_order_relaxed) >= 0 && until_failure.fetch_sub(1) == 0) throw std::bad_alloc();
  void* const p = alignment ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                            : std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  ++blocks;
  return p;
}
void release(void* p) noexcept {
  if (p) --blocks;
  std::free(p);
}

}  // namespace

void* operator new(std::size_t n) { return obtain(n, 0); }
void* operator new[](std::size_t n) { return obtain(n, 0); }
void* operator new(std::size_t n, std::align_val_t a) { return obtain(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return obtain(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

namespace {

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;

ndarray number(double x) { return sn::full({}, x); }

/// What programs work on: in memory, pending, and a view of another.
struct state {
  ndarray a, b, whole, mask, square, pending, row, result;
  explicit state(std::int64_t n) {
    a = sn::arange(n, {.dtype = sn::float64});
    b = sn::arange(n, {.dtype = sn::float32}) * 2;
    whole = sn::arange(n, {.dtype = sn::int64}) % 7;
    mask = whole > 3;
    square = sn::reshape(sn::arange(36, {.dtype = sn::float64}), {6, 6}) + sn::eye(6) * 100;
    sn::eval(a, b, whole, mask, square);
    pending = sn::sin(a) + a;
    row = square(2);
    result = number(0.0);
  }
};

using step = std::function<void(state&)>;
struct program {
  const char* name;
  std::vector<step> steps;
  std::int64_t n = 200;
};

/// The elements of any dtype, widened to the one that holds all.
using elements = std::vector<std::complex<double>>;
bool same_bits(const elements& a, const elements& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}
using snapshot = std::vector<elements>;
bool same(const snapshot& a, const snapshot& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_bits);
}

/// All that can be read.
snapshot seen(const state& s) {
  snapshot all;
  for (const ndarray* x : {&s.a, &s.b, &s.whole, &s.mask, &s.square, &s.pending, &s.row, &s.result})
    all.push_back(x->to_vector<std::complex<double>>());
  return all;
}

const std::vector<program>& programs() {
  static const auto& all = *new std::vector<program>{
      {"elementwise",
       {[](state& s) { s.result = sn::exp(s.pending / 300) * s.b + s.whole; }, [](state& s) { sn::eval(s.result); }}},
      {"reductions",
       {[](state& s) { s.result = sn::sum(s.pending) + sn::max(s.b) + sn::var(s.a); },
        [](state& s) { s.result = s.result + sn::argmin(s.pending) + sn::mean(s.square, 0); },
        [](state& s) { sn::eval(s.result); }}},
      {"writes",
       {[](state& s) { s.a(slice(10, 20)) = s.b(slice(0, 10)); }, [](state& s) { s.a += 1; },
        [](state& s) { s.a(slice(_, _, 2)) *= 3; }, [](state& s) { s.square(1) = s.row; },
        [](state& s) { s.a(s.mask) = -1; }, [](state& s) { s.b(s.whole) += 1; }, [](state& s) { s.row *= 2; },
        [](state& s) { sn::eval(s.a, s.b, s.square); }}},
      {"writes that are evaluated one by one",
       {[](state& s) { s.a += 1; }, [](state& s) { sn::eval(s.a); }, [](state& s) { s.a(slice(3, 9)) *= 2; },
        [](state& s) { sn::eval(s.a); }, [](state& s) { s.a(slice(5, 8)) += s.a(slice(0, 3)); },
        [](state& s) { s.b = s.b + s.a; }, [](state& s) { sn::eval(s.a, s.b); }}},
      {"several updates in place in one evaluation",
       {[](state& s) { s.a(slice(0, 50)) += 1; }, [](state& s) { s.b(slice(0, 50)) += 1; },
        [](state& s) { s.square(slice(0, 3)) += 1; }, [](state& s) { s.whole(slice(0, 50)) += 1; },
        [](state& s) { sn::eval(s.a, s.b, s.square, s.whole); }}},
      {"sorting",
       {[](state& s) { s.result = sn::sort(sn::flip(s.pending)); }, [](state& s) { s.result = sn::argsort(s.whole); },
        [](state& s) { s.result = sn::unique(s.whole, {.return_counts = true}).counts; },
        [](state& s) { s.result = sn::partition(s.a, 5); }}},
      {"selections",
       {[](state& s) { s.result = s.a[s.mask]; }, [](state& s) { s.result = sn::nonzero(s.mask)[0]; },
        [](state& s) { s.result = s.a[s.whole]; },
        [](state& s) { s.result = sn::take(s.square, s.whole(slice(0, 4)) % 6, 1); },
        [](state& s) { s.result = sn::where(s.mask, s.a, s.b); }}},
      {"scans and bins",
       {[](state& s) { s.result = sn::cumsum(s.pending); }, [](state& s) { s.result = sn::bincount(s.whole); },
        [](state& s) { s.result = sn::histogram(s.a, 5).hist; }}},
      {"shapes",
       {[](state& s) {
          s.result = sn::concatenate({s.a, s.b});
        },
        [](state& s) {
          s.result = sn::stack({s.row, s.row});
        },
        [](state& s) {
          s.result = sn::transpose(sn::reshape(s.a, {10, 20}));
        },
        [](state& s) {
          s.result = sn::roll(sn::tile(s.row, {3, 2}), 2);
        },
        [](state& s) {
          s.result = sn::vstack({s.square, s.square});
        }}},
      {"products",
       {[](state& s) { s.result = sn::matmul(s.square.astype(sn::int64), s.square.astype(sn::int64)); },
        [](state& s) {
          s.result = sn::einsum("ij,jk->ik", {s.square, s.square});
        },
        [](state& s) { s.result = sn::matmul(s.square, s.row); }}},
      {"linear algebra",
       {[](state& s) { s.result = sn::linalg::solve(s.square, s.row); },
        [](state& s) { s.result = sn::linalg::inv(s.square); },
        [](state& s) { s.result = sn::linalg::svdvals(s.square); }}},
      {"transforms",
       {[](state& s) { s.result = sn::fft::rfft(s.pending); }, [](state& s) { s.result = sn::fft::irfft(s.result); }}},
      {"random numbers",
       {[](state& s) { s.result = sn::random::generator(7).normal(0, 1, {100}); },
        [](state& s) { s.result = sn::random::generator(7).permutation(10); }, [](state& s) { sn::eval(s.result); }}},
      {"text",
       {[](state& s) {
          if (sn::array_repr(s.pending).empty()) s.result = number(1.0);
        },
        [](state& s) {
          sn::print_options before = sn::get_printoptions();
          const sn::printoptions now({.precision = 3});
          if (sn::array_str(s.square).empty()) s.result = number(before.precision);
        },
        [](state& s) {
          if (sn::explain(s.pending).empty()) s.result = number(2.0);
        }}},
      {"captures", {[](state& s) {
         const sn::launch_graph g = sn::capture([&] { s.a += s.b; });
         s.result = number(1.0);
       }}},
      {"large arrays on several threads",
       {[](state& s) { s.a += 1; }, [](state& s) { s.a(slice(1, _)) *= 2; }, [](state& s) { sn::eval(s.a); },
        [](state& s) { s.result = sn::sum(sn::sqrt(s.pending)); }, [](state& s) { sn::eval(s.result); },
        [](state& s) { s.result = sn::sort(s.b); }, [](state& s) { s.result = sn::cumsum(s.a); }},
       100'000},
  };
  return all;
}

int failures = 0;
void complain(const std::string& what) {
  if (++failures <= 20) std::printf("%s, call %ld: %s\n", running, failing_call, what.c_str());
}

/// From step `from` on, with a failure at call k; the steps done. Nothing else may be thrown.
std::size_t go_on(const program& p, state& s, std::size_t from, long k) {
  until_failure = k;
  std::size_t done = from;
  try {
    for (; done < p.steps.size(); ++done) p.steps[done](s);
  } catch (const std::bad_alloc&) {
  } catch (const sn::memory_error&) {
  } catch (const std::exception& e) {
    until_failure = -1;
    complain(std::string("threw ") + e.what());
  }
  return done;
}

/// Whether the program met its k-th call.
bool fails_at(const program& p, long k, const std::vector<snapshot>& expected) {
  failing_call = k;
  state s(p.n);
  std::size_t done = go_on(p, s, 0, k - 1);
  const bool failed = until_failure.exchange(-1) < 0;
  if (!failed && done != p.steps.size()) complain("stopped without a failure");
  const snapshot now = seen(s);
  if (!same(now, expected[done])) {
    if (done == p.steps.size() || !same(now, expected[done + 1]))
      complain("after step " + std::to_string(done) + " arrays hold what they never should");
    else ++done;  // it was done, and failed afterwards
  }
  if (go_on(p, s, done, -1) != p.steps.size() || !same(seen(s), expected.back()))
    complain("cannot be taken to its end");
  return failed;
}

constexpr int longest = 12;  // rounds

std::size_t memory_in_use() { return sn::memory_pool(sn::cpu).figures().used; }

long try_all(const program& p) {
  running = p.name;
  failing_call = 0;
  std::vector<snapshot> expected;
  {
    state s(p.n);
    expected.push_back(seen(s));
    for (const step& one : p.steps) {
      one(s);
      expected.push_back(seen(s));
    }
  }
  const std::size_t before = memory_in_use();
  long calls = 0, grew = 0;
  // A leak stays behind in each round. What is kept for later does not: it is there once each has met its failures, and each
  // thread, which may take no part in a step for a while, has made what it works with.
  for (int round = 0; round < longest && (round < 2 || grew > 0); ++round) {
    const long held = blocks;
    for (long k = 1; fails_at(p, k, expected); ++k) calls = k;
    grew = blocks - held;
  }
  if (memory_in_use() != before) complain("elements stay behind");
  if (grew > 0)
    complain(std::to_string(grew) + " blocks stay behind in each of " + std::to_string(longest) + " rounds");
  return calls;
}

/// Functions with a text that has not been compiled yet: the same, at some of the calls.
void try_compiling() {
  running = "a user's function";
  const ndarray x = sn::arange(8, {.dtype = sn::float64});
  for (long k = 1; k < 20000; k = 2 * k + 1) {
    failing_call = k;
    const std::string text = "return x * 2 + " + std::to_string(k) + ";";
    double got = 0;
    until_failure = k - 1;
    try {
      got = sn::sum(sn::function("double f(double x)", text)(x)).item<double>();
    } catch (const std::bad_alloc&) {
    } catch (const sn::memory_error&) {
    } catch (const std::exception& e) {
      until_failure = -1;
      complain(std::string("threw ") + e.what());
    }
    until_failure = -1;
    got = sn::sum(sn::function("double f(double x)", text)(x)).item<double>();
    if (got != 56.0 + 8.0 * static_cast<double>(k)) complain("gives " + std::to_string(got));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate([] {
    std::printf("%s, call %ld: std::terminate\n", running, failing_call);
    std::fflush(stdout);
    std::_Exit(3);
  });
  const std::string wanted = argc > 1 ? argv[1] : "";
  long calls = 0;
  if (wanted == "--compile") {
    try_compiling();
  } else {
    for (const program& p : programs())
      if (wanted.empty() || wanted == p.name) calls += try_all(p);
    if (calls < 100) complain("there was hardly anything to fail");
  }
  std::printf("%ld calls failed\n", calls);
  if (failures == 0) std::puts("done");
  return failures != 0;
}
