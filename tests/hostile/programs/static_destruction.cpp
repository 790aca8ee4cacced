// Arrays that outlive main: read, recorded on and written when the thread's own objects have been destroyed. The
// argument says where; the last line of the output is "done" if everything that was computed there was right.
#include <pthread.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;

namespace {

int failures = 0;

void expect(const char* what, bool right) {
  if (right) return;
  ++failures;
  std::printf("wrong: %s\n", what);
}

double sum_of_roots() {
  double sum = 0;
  for (int k = 0; k < 100000; ++k) sum += std::sqrt(double(k));
  return sum;
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); }

/// What is recorded before and read after.
struct pending {
  ndarray x = sn::arange(100000, {.dtype = sn::float64});
  ndarray sine = sn::sin(x) * 2, total = sn::sum(sn::sqrt(x)), rows = sn::sum(sn::reshape(x, {1000, 100}), 1);
};

double sum_of(const ndarray& a) { return sn::sum(a).item<double>(); }

/// One of everything that keeps something for a thread or for the process.
void use(pending& p) {
  const ndarray small = sn::arange(10, {.dtype = sn::float64}), whole = sn::arange(12, {.dtype = sn::int64});
  expect("a pending elementwise value", p.sine(3).item<double>() == 2 * std::sin(3.0));
  expect("a pending sum", is_near(p.total.item<double>(), sum_of_roots()));
  expect("a pending sum of rows", p.rows(999).item<double>() == 9994950.0);
  expect("a value recorded here", sum_of(p.x + 1) == 5000050000.0);
  p.x(slice(0, 10)) = 7;
  expect("a write", sum_of(p.x(slice(0, 11))) == 80);
  p.x += 1;
  expect("a write in place", p.x(0).item<double>() == 8);
  expect("a sort", sn::sort(sn::flip(small))(2).item<double>() == 2);
  expect("an argsort", sn::argsort(sn::flip(small))(0).item<std::int64_t>() == 9);
  expect("a selection", sum_of(small[small > 6]) == 24);
  expect("a gather", sum_of(small(whole(slice(0, 3)))) == 3);
  expect("a scan", sn::cumsum(small)(9).item<double>() == 45);
  expect("a histogram", sn::histogram(small, 2).hist(0).item<std::int64_t>() == 5);
  expect("bins", sn::bincount(whole).size() == 12);
  const ndarray square = sn::reshape(whole, {3, 4});
  expect("a product of integers", sn::matmul(square, sn::transpose(square))(0, 0).item<std::int64_t>() == 14);
  expect("random numbers", sn::random::generator(7).uniform(0, 1, {100}).size() == 100);
  expect("text", sn::array_repr(small(slice(0, 2))).find("array(") == 0);
}

/// Compiles, on machines with a compiler, and is therefore used once only.
void use_functions(const pending& p) {
  try {
    const ndarray some = sn::arange(6, {.dtype = sn::float64});
    expect("unique with its inverse",
           sn::unique(some % 3.0, {.return_inverse = true}).inverse(5).item<std::int64_t>() == 2);
    expect("searchsorted", sn::searchsorted(some, 2.5).item<std::int64_t>() == 3);
    expect("digitize", sn::digitize(some, some)(1).item<std::int64_t>() == 2);
    expect("an array of before", p.x.size() == 100000);
  } catch (const sn::compile_error&) {  // no compiler here
  }
}

struct holder {
  explicit holder(const char* at) : when(at) {}
  ~holder() {
    if (!p) return;
    std::thread([this] { use(*p); }).join();  // a new thread is like any other
    use(*(again = new pending));
    use_functions(*p);
    delete p;
    delete again;
    if (failures == 0) std::printf("done %s\n", when);
    std::fflush(stdout);
  }
  const char* when;
  pending *p = nullptr, *again = nullptr;
};
holder early("early");  // constructed before the library was used, so destroyed after all that it might destroy

/// Of a thread, made before the library has anything of its own there, and so destroyed after it.
struct of_thread {
  ~of_thread() {
    if (p) use(*p);
    delete p;
  }
  pending* p = nullptr;
};
thread_local of_thread mine;

void when_thread_ends() {
  std::thread([] {
    mine.p = new pending;
    std::printf("sum %g\n", sum_of(mine.p->sine));
  }).join();
}

/// Destructors of such keys run when the thread_local objects have been destroyed.
void after_thread_ended() {
  static pthread_key_t key;
  ::pthread_key_create(&key, [](void* p) {
    use(*static_cast<pending*>(p));
    delete static_cast<pending*>(p);
  });
  std::thread([] {
    auto* p = new pending;
    use(*p);
    delete p;
    ::pthread_setspecific(key, new pending);
  }).join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "main_returns") {
    early.p = new pending;
    std::printf("sum %g\n", sum_of(early.p->sine));  // main has used everything
    pending other;
    use(other);
    sn::set_printoptions({.precision = 3});
  } else if (mode == "first_use") {
    early.p = new pending;  // recorded only
  } else if (mode == "exit_in_thread") {
    early.p = new pending;
    std::thread([] {
      pending other;
      use(other);
      std::exit(0);
    }).detach();
    for (pending p;; p = pending()) sn::eval(p.sine, p.rows);  // continues until the process ends
  } else if (mode == "thread_ends") {
    when_thread_ends();
    after_thread_ended();
    if (failures == 0) std::puts("done");
  } else {
    return 2;
  }
  return failures != 0;
}
