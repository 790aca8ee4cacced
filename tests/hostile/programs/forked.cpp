// Forked children use the library: after the parent has used all its threads, while it goes on, and children of
// children. A child that hangs is ended by an alarm. The last line of the output is "done".
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;

namespace {

constexpr std::int64_t n = 1'000'000;

/// Calls whatever has threads: 0 if the results are those of the parent.
struct work {
  ndarray x = sn::arange(n, {.dtype = sn::float64}), pending = sn::sin(x);
  ndarray square = sn::reshape(x(slice(0, 90000)), {300, 300}) / 90000.0 + sn::eye(300) * 300.0;
  std::vector<double> results() {
    const auto number = [](const ndarray& a) { return sn::sum(a).item<double>(); };
    const ndarray keys = (x * 7919.0) % 100003.0;
    std::vector<double> r{
        number(pending),
        number(sn::sqrt(x)),
        number(sn::cumsum(x)),
        number(sn::sort(keys) * x),
        number(sn::argsort(keys) * x),
        number(x[keys > 5e4]),
        sn::matmul(x.astype(sn::int64)(slice(0, 90000)), x.astype(sn::int64)(slice(0, 90000))).item<double>(),
        number(sn::histogram(keys, 100).hist * sn::arange(100))};
    const auto add = [&](const auto& compute) {
      try {
        r.push_back(compute());
      } catch (const sn::device_error&) {  // built without the library that does it
        r.push_back(0);
      }
    };
    add([&] { return number(sn::abs(sn::fft::rfft(x))); });
    add([&] { return number(sn::fft::fft(sn::reshape(x, {1000, 1000})).astype(sn::complex64)(0, 0) == 0); });
    add([&] { return number(sn::matmul(square, square)); });
    add([&] { return number(sn::linalg::solve(square, square(0))); });
    return r;
  }
};

int failures = 0;

bool ends_well(pid_t child, const char* what) {
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!well) {
    ++failures;
    std::printf("%s: %s %d\n", what, WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  return well;
}

template <class F>
pid_t in_child(F&& f) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(30);
  int status = 1;
  try {
    status = f() ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("child: %s\n", e.what());
    std::fflush(stdout);
  }
  ::_exit(status);
}

/// Transforms in a child: by plans that the parent has made with threads of its own, and by new ones.
void transform_in_child() {
  const ndarray x = sn::sin(sn::arange(n, {.dtype = sn::float64})), field = sn::reshape(x, {1000, 1000});
  const auto results = [&](std::int64_t length) {
    const auto size_of = [](const ndarray& a) { return sn::sum(sn::abs(a)).item<double>(); };
    return std::vector<double>{size_of(sn::fft::rfft(x, {.n = length})), size_of(sn::fft::fft2(field)),
                               size_of(sn::fft::irfft(sn::fft::rfft(x))), size_of(sn::fft::dct(field))};
  };
  const std::vector<double> known = results(n);
  ends_well(in_child([&] { return results(n) == known; }), "transforms by the parent's plans");
  const pid_t child = in_child([&] {
    sn::fft::clear_plan_cache();
    return results(n) == known && results(n - 1).size() == known.size();
  });
  ends_well(child, "transforms by new plans");
  if (results(n) != known) ++failures, std::puts("the parent has other results after its children");
}

/// Whether f() throws a device_error that names fork.
template <class F>
bool is_refused(F&& f) {
  try {
    f();
  } catch (const sn::device_error& e) {
    return std::string(e.what()).find("fork") != std::string::npos;
  }
  return false;
}

/// A GPU's array, pinned and managed memory in a child: refused, whatever had been done with them before. The CPU
/// works.
void touch_gpu_in_child() {
  const sn::device gpu = sn::cuda(0);
  const auto made = [&] { return sn::arange(n, {.dtype = sn::float64, .device = gpu}); };
  const ndarray leaf = made(), pending = sn::sqrt(made()), managed = sn::to_memory(made(), sn::memory_kind::managed);
  const ndarray on_host = sn::arange(n, {.dtype = sn::float64}),
                pinned = sn::to_memory(on_host, sn::memory_kind::pinned);
  const ndarray back = leaf.to_host(sn::default_stream(gpu));  // pinned, too
  sn::eval(leaf, managed, pinned, back);
  for (const ndarray& x : {leaf, pending, managed, pinned, back}) {
    const pid_t child = in_child([&] {
      return is_refused([&] { (void)x.to_vector<double>(); }) && is_refused([&] { (void)x(5).item<double>(); });
    });
    ends_well(child, "reading an array");
    ends_well(in_child([&] { return is_refused([&] { (void)sn::sum(x * 2).item<double>(); }); }), "computing");
    ends_well(in_child([&] {
                return is_refused([&] {
                  x(_) = 1;
                  sn::eval(x);
                });
              }),
              "writing");
    ends_well(in_child([&] { return sn::sum(on_host).item<double>() > 0; }), "the CPU");
  }
  ends_well(in_child([&] {
              return is_refused([&] { sn::eval(sn::zeros({3}, {.device = gpu})); }) &&
                     is_refused([&] { sn::eval(sn::to_memory(on_host, sn::memory_kind::pinned)); });
            }),
            "new memory");
  if (sn::sum(leaf + managed).item<double>() != 2 * sn::sum(pinned).item<double>())
    ++failures, std::puts("the parent has other results after its children");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  work w;
  if (mode == "before_first_use") {
    const pid_t child = in_child([&] { return w.results()[1] > 0; });
    ends_well(child, "a child");
  } else if (mode == "after") {
    const std::vector<double> expected = work().results();  // the child computes its own pending value
    const pid_t child = in_child([&] { return w.results() == expected; });
    if (work().results() != expected) ++failures, std::puts("the parent has other results beside a child");
    ends_well(child, "a child");
    const pid_t elder = in_child([&] {
      if (work().results() != expected) return false;
      return ends_well(in_child([&] { return work().results() == expected; }), "a grandchild");
    });
    ends_well(elder, "a child with a child");
  } else if (mode == "many") {
    const double expected = sn::sum(sn::sqrt(w.x)).item<double>();
    for (int k = 0; k < 50; ++k)
      ends_well(in_child([&] { return sn::sum(sn::sqrt(w.x)).item<double>() == expected; }), "one of many");
  } else if (mode == "exits") {  // static objects are destroyed in the child
    static ndarray last = sn::cos(w.x);
    (void)sn::sum(sn::sqrt(w.x)).item<double>();
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);
      std::exit(sn::sum(last).item<double>() < n ? 0 : 1);
    }
    ends_well(child, "a child that exits");
  } else if (mode == "transforms") {
    try {
      sn::eval(sn::fft::fft(sn::zeros({4})));
    } catch (const sn::device_error& e) {
      return std::printf("%s\n", e.what()), 77;
    }
    transform_in_child();
  } else if (mode == "gpu") {
    if (const auto count = sn::device_count(sn::device_kind::cuda); count == 0) return std::puts("no GPU"), 77;
    touch_gpu_in_child();
  } else {
    return 2;
  }
  if (failures == 0) std::puts("done");
  return failures != 0;
}
