// Debug mode: errors of derivatives name the line that recorded the operation. This file is compiled with debug information.
#include <string>

#include "graph/values/recorded_lines.hpp"
#include "ops/derivatives/check.hpp"
#include "platform/symbols/source_lines.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;

/// Lines are kept while it lives.
struct with_lines {
  bool before = std::exchange(graph::keeps_lines(), true);
  ~with_lines() { graph::keeps_lines() = before; }
};

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

std::string line(int n) { return "lines_test.cpp:" + std::to_string(n); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool no_lookup() {
  const std::string here = platform::source_line_of(platform::stack_here());
  if (has(here, "lines_test.cpp:")) return false;
  MESSAGE("left out: no addr2line, or no debug information; a line is " << here);
  return true;
}

}  // namespace

TEST_CASE("errors of derivatives name the line that recorded the operation") {
  if (no_lookup()) return;
  const with_lines on;
  const ndarray x = numbers({3}, 1, 2);
  int at = 0, call = 0;
  const auto element = [&](const ndarray& a) {
    const ndarray b = a * 2;
    at = __LINE__ + 1;
    const ndarray c = special::zeta(b, 2.0);
    return sum(c);
  };
  call = __LINE__ + 1;
  std::string text = message_of([&] { grad(element)(x); });
  INFO(text);
  CHECK(has(text, "zeta"));
  CHECK(has(text, "(recorded at " + line(at) + ")"));
  CHECK(has(text, "(grad at " + line(call) + ")"));

  const auto factors = [&](const ndarray& a) {
    at = __LINE__ + 1;
    const auto parts = linalg::lu_factor(diag(a));
    return sum(parts.lu);
  };
  text = message_of([&] { grad(factors)(x); });
  INFO(text);
  CHECK(has(text, "lu_factor"));
  CHECK(has(text, "(recorded at " + line(at) + ")"));
  text = message_of([&] { jvp(factors, x, x); });
  CHECK(has(text, "(recorded at " + line(at) + ")"));
}

TEST_CASE("errors of values name the line that recorded the value") {
  if (no_lookup()) return;
  const with_lines on;
  const ndarray x = numbers({3}, 1, 2);
  int at = 0;
  const auto whole = [&](const ndarray& a) {
    at = __LINE__ + 1;
    return argmax(a * 2);
  };
  std::string text = message_of([&] { grad(whole)(x); });
  INFO(text);
  CHECK(has(text, "(recorded at " + line(at) + ")"));
  CHECK(has(message_of([&] { jacobian(whole)(x); }), "(recorded at " + line(at) + ")"));
  const auto long_one = [&](const ndarray& a) {
    at = __LINE__ + 1;
    return sort(a);
  };
  text = message_of([&] { grad(long_one)(x); });
  CHECK(has(text, "(recorded at " + line(at) + ")"));
}

TEST_CASE("errors of addresses name both lines") {
  if (no_lookup()) return;
  const with_lines on;
  int made = 0, used = 0;
  const std::string text = message_of([&] {
    grad([&](const ndarray& a) {
      made = __LINE__ + 1;
      const ndarray b = a * 2;
      used = __LINE__ + 1;
      b.data<double>();
      return sum(b);
    })(numbers({3}));
  });
  INFO(text);
  CHECK(has(text, "(recorded at " + line(made) + ")"));
  CHECK(has(text, " at " + line(used) + ", and"));
}

TEST_CASE("derivatives are the same where lines are kept, and without them errors name none") {
  const ndarray x = numbers({3, 3}, 1, 2);
  const auto f = [](const ndarray& a) { return sum(sort(a * a, 1)(0)) + sum(linalg::inv(a)); };
  const std::vector<double> without = grad(f)(x).to_vector<double>();
  {
    const with_lines on;
    CHECK(grad(f)(x).to_vector<double>() == without);
  }
  const auto element = [](const ndarray& a) { return sum(special::zeta(a, 2.0)); };
  CHECK(!has(message_of([&] { grad(element)(x); }), "recorded at"));
}

TEST_CASE("frames of the library and of C++ are told from users'") {
  using platform::is_own_frame;
  CHECK(is_own_frame("sinter::v0::sum(sinter::v0::ndarray const&)", "??:0"));
  CHECK(is_own_frame("auto sinter::v0::grad<main::{lambda()#1}>(main::{lambda()#1})", "??:?"));
  CHECK(is_own_frame("std::function<void ()>::operator()() const", "??:0"));
  CHECK(is_own_frame("f", "/usr/include/c++/12/bits/std_function.h:590"));
  CHECK(is_own_frame("f", "/opt/include/sinter/grad.hpp:90"));
  CHECK_FALSE(is_own_frame("(anonymous namespace)::energy(sinter::v0::ndarray const&)", "??:0"));
  CHECK_FALSE(is_own_frame("main", "??:0"));
  CHECK_FALSE(is_own_frame("sinter::v0::f()", "/home/me/main.cpp:3"));
  CHECK(is_own_frame("", "??:0"));
}
