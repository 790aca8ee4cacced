// SINTER_SYNC: each launch is waited for, so that what it finds is thrown where it ran, by the kernel's name.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/hooks.hpp"
#include "runtime/trace.hpp"
#include "support/stream_cases.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

struct waiting {
  bool before = sn::runtime::synchronous();
  waiting() { sn::runtime::set_synchronous(true); }
  ~waiting() { sn::runtime::set_synchronous(before); }
};

}  // namespace

TEST_CASE("synchronous: an index out of range is thrown by the evaluation that reads there, and names the kernel") {
  const waiting here;
  for (const sn::device& d : stream_test::devices()) {
    CAPTURE(d);
    const ndarray x = sn::arange(10, {.device = d}) * 3, index = sn::arange(3, {.device = d}) * 6;
    sn::eval(x, index);
    const ndarray y = sn::take(x, index + 0) + 1;
    const std::string message = sinter_test::message_of<sn::index_error>([&] { sn::eval(y); });
    CHECK_MESSAGE(message.find("index 12 is out of range for axis 0 with extent 10 (found by sn_") != std::string::npos,
                  message);
    sn::synchronize(d);  // nothing is left to report
    CHECK((x + 1).to_vector<std::int64_t>()[9] == 28);
  }
}

TEST_CASE("synchronous: without it the same error waits for the next synchronisation") {
  if (sn::runtime::synchronous()) return;  // set by the environment
  const sn::device d = sim::first();
  const ndarray x = sn::arange(10, {.device = d}), index = sn::arange(3, {.device = d}) * 6;
  const ndarray y = sn::take(x, index + 0);
  CHECK_NOTHROW(sn::eval(y));
  CHECK_THROWS_AS(sn::synchronize(d), sn::index_error);
}

TEST_CASE("synchronous: nothing is queued after a call, and captures still hold their work back") {
  const waiting here;
  const sn::device d = sim::first();
  const std::size_t of_others = sim::queued();
  ndarray x = sn::arange(20, {.device = d}) + 1;
  sn::eval(x);
  CHECK(sim::queued() <= of_others);
  const sn::launch_graph g = sn::capture(sn::default_stream(d), [&] { x += 1; });
  CHECK(x.to_vector<std::int64_t>()[0] == 1);
  g.launch();
  CHECK(x.to_vector<std::int64_t>()[0] == 2);
}
