// Errors in data: they are thrown by every read of what was computed from it, and by no other read.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/fault.hpp"
#include "support/linalg_checks.hpp"
#include "support/stream_cases.hpp"

namespace runtime = sinter::runtime;
using namespace stream_test;

namespace {

/// Something that depends on wrong data, and what it says.
struct wrong {
  const char* name;
  std::function<ndarray(const sn::device&)> make;
  const char* message;
};

ndarray far_indices(const sn::device& d) { return sn::arange(2, {.device = d}) * -8 + 9; }  // 9 and 1

ndarray gathered(const sn::device& d) { return (sn::arange(5, {.device = d}) * 2)[far_indices(d)]; }

const std::vector<wrong>& wrongs() {
  static const std::vector<wrong> all{
      {"gather", gathered, "index 9 is out of range for axis 0 with extent 5"},
      {"power",
       [](const sn::device& d) {
         return sn::power(sn::arange(2, 4, 1, {.device = d}), sn::arange(-1, 1, 1, {.device = d}));
       },
       "integers to negative integer powers"},
      {"draw",
       [](const sn::device& d) { return sn::random::generator(3).poisson(sn::arange(2, {.device = d}) - 1.0, {2}); },
       "outside of what the distribution allows"},
  };
  return all;
}

std::string thrown_by(const std::function<void()>& f) { return message_of<sn::error>(f); }
bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
void read(const ndarray& x) { (void)x.astype(sn::float64).to_vector<double>(); }

/// Leaves no error for the synchronisations of other cases.
struct all_told {
  ~all_told() {
    for (const sn::device& d : devices()) (void)thrown_by([&] { sn::synchronize(d); });
  }
};

}  // namespace

TEST_CASE("data errors: the value throws each time it is read, and nothing else does") {
  const all_told at_end;
  for (const sn::device& d : devices())
    for (const wrong& w : wrongs()) {
      CAPTURE(d);
      CAPTURE(w.name);
      (void)thrown_by([&] { sn::synchronize(d); });
      const ndarray y = w.make(d), other = sn::arange(3, {.device = d}) + 1;
      const std::string first = thrown_by([&] { read(y); });
      CHECK_MESSAGE(says(first, w.message), first);
      for (int k = 0; k < 3; ++k) {
        CHECK(values(other + k) == counting(3, 1, 1 + k));
        CHECK(thrown_by([&] { read(y); }) == first);
        CHECK(thrown_by([&] { (void)y(0).item<double>(); }) == first);
        CHECK(thrown_by([&] { (void)sn::to_string(y); }) == first);
      }
      CHECK_NOTHROW(sn::synchronize(d));  // reported already
    }
}

TEST_CASE("data errors: evaluated or not, whatever is computed from the value throws") {
  const all_told at_end;
  using step = std::function<ndarray(const ndarray&)>;
  const std::vector<std::pair<const char*, step>> steps{
      {"cast", [](const ndarray& y) { return y.astype(sn::float32); }},
      {"elementwise", [](const ndarray& y) { return y * 2 + 1; }},
      {"view", [](const ndarray& y) { return sn::flip(y); }},
      {"slice", [](const ndarray& y) { return y(slice(_, 1)); }},
      {"reduction", [](const ndarray& y) { return sn::sum(y); }},
      {"copy", [](const ndarray& y) { return y.copy(); }},
      {"scan", [](const ndarray& y) { return sn::cumsum(y); }},
      {"sort", [](const ndarray& y) { return sn::sort(y); }},
      {"argsort", [](const ndarray& y) { return sn::argsort(y); }},
      {"gather", [](const ndarray& y) { return y[sn::array({0}, {.device = y.device()})]; }},
      {"partial write",
       [](const ndarray& y) {
         const ndarray z = y.copy();
         z(slice(0, 1)) = 5;
         return z;
       }},
      {"written from it",
       [](const ndarray& y) {
         const ndarray z = sn::zeros({4}, {.dtype = y.dtype(), .device = y.device()});
         z(slice(1, 3)) = y;
         return z;
       }},
      {"scattered from it",
       [](const ndarray& y) {
         const ndarray z = sn::zeros({4}, {.dtype = y.dtype(), .device = y.device()});
         z[sn::arange(2, {.device = y.device()})] = y;
         return z;
       }},
      {"to the host", [](const ndarray& y) { return y.to_device(sn::cpu); }},
      {"and back", [](const ndarray& y) { return y.to_device(sn::cpu).to_device(y.device()) + 1; }},
  };
  for (const sn::device& d : devices())
    for (const bool evaluated : {false, true})
      for (const auto& [name, f] : steps) {
        CAPTURE(d);
        CAPTURE(name);
        CAPTURE(evaluated);
        const ndarray y = gathered(d);
        if (evaluated) sn::eval(y);
        const std::string first = thrown_by([&] {
          const ndarray z = f(y);
          read(z);
        });
        CHECK_MESSAGE(says(first, "index 9 is out of range for axis 0 with extent 5"), first);
        CHECK(says(thrown_by([&] { read(y); }), "index 9"));
        CHECK(values(sn::arange(3, {.device = d}) + 0) == counting(3));
      }
}

TEST_CASE("data errors: values that are evaluated together do not share them") {
  const all_told at_end;
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    const ndarray x = sn::arange(5, {.device = d}) * 2, near = sn::arange(2, {.device = d});
    sn::eval(x);
    const ndarray right = x[near], wrong = x[far_indices(d)], plain = near + 1, twice = wrong * 2;
    sn::eval(right, wrong, plain, twice);
    CHECK(values(right) == list{0, 2});
    CHECK(values(plain) == list{1, 2});
    CHECK(says(thrown_by([&] { read(wrong); }), "index 9"));
    CHECK(says(thrown_by([&] { read(twice); }), "index 9"));
    const ndarray rows = sn::reshape(x(slice(_, 4)), {2, 2}), picked = rows(far_indices(d));
    const ndarray sums = sn::sum(rows, 1), of_wrong = sn::sum(picked, 1), most = sn::max(picked, 1);
    sn::eval(sums, of_wrong, most);
    CHECK(values(sums) == list{2, 10});
    CHECK(says(thrown_by([&] { read(of_wrong); }), "index 9"));
    CHECK(says(thrown_by([&] { read(most); }), "index 9"));
  }
}

TEST_CASE("data errors: a write of the whole array ends them") {
  const all_told at_end;
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    ndarray y = gathered(d);
    CHECK(says(thrown_by([&] { read(y); }), "index 9"));
    y(_) = 7;
    CHECK(values(y) == list{7, 7});
    const ndarray z = gathered(d);
    sn::eval(z);
    z(_) = z * 0;
    CHECK(says(thrown_by([&] { read(z); }), "index 9"));  // computed from it
  }
}

TEST_CASE("data errors: an address of wrong data is not handed out") {
  const all_told at_end;
  const ndarray y = gathered(sn::cpu);
  CHECK(says(thrown_by([&] { (void)y.data<std::int64_t>(); }), "index 9"));
  CHECK(says(thrown_by([&] { (void)y.host<std::int64_t>(); }), "index 9"));
}

TEST_CASE("data errors: products and solvers") {
  const all_told at_end;
  if (sn::test::no_solvers()) return;
  const ndarray wrong_rows = sn::eye(3)[sn::array({0, 1, 7})], right = sn::ones({3, 3});
  CHECK(says(thrown_by([&] { read(sn::matmul(wrong_rows, right)); }), "index 7"));
  CHECK(says(thrown_by([&] { read(sn::linalg::solve(wrong_rows, right)); }), "index 7"));
  CHECK(says(thrown_by([&] { read(sn::linalg::inv(wrong_rows)); }), "index 7"));
  const ndarray out = sn::zeros({2, 3, 3});
  sn::matmul(wrong_rows, right, {.out = out(0)});
  CHECK(says(thrown_by([&] { read(out); }), "index 7"));
  sn::eval(wrong_rows);
  CHECK(says(thrown_by([&] { read(sn::matmul(right, wrong_rows)); }), "index 7"));
  CHECK(sn::matmul(right, right)(0, 0).item<double>() == 3);
}

TEST_CASE("data errors: masks of wrong data select nothing") {
  const all_told at_end;
  for (const sn::device& d : devices()) {
    const ndarray mask = gathered(d) > 1, x = sn::arange(2, {.device = d});
    for (int k = 0; k < 2; ++k) CHECK(says(thrown_by([&] { (void)x[mask].size(); }), "index 9"));
    CHECK(values(x) == list{0, 1});
  }
}

TEST_CASE("data errors: a write by indices out of range says so once and changes nothing") {
  const all_told at_end;
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    (void)thrown_by([&] { sn::synchronize(d); });  // what cases before have not read
    const std::vector<std::function<void(const ndarray&)>> writes{
        [&](const ndarray& x) { x[far_indices(d)] = 5; },
        [&](const ndarray& x) { x[far_indices(d)] += 5; },
        [&](const ndarray& x) { x[far_indices(d)] = sn::arange(2, {.device = d}) + 40; },
        [&](const ndarray& x) { sn::add_at(x[far_indices(d)], 5); },
        [&](const ndarray& x) { sn::add_at(x[far_indices(d)], 5, {.deterministic = true}); },
        [&](const ndarray& x) { sn::put(x, far_indices(d), 5); },
    };
    for (std::size_t k = 0; k < writes.size(); ++k) {
      CAPTURE(k);
      const ndarray x = sn::arange(5, {.device = d}) * 3, z = sn::ones({2}, {.device = d}) + 1;
      sn::eval(x);
      const bool at_once = d.kind == sn::device_kind::cpu;
      std::string text = thrown_by([&] { writes[k](x); });
      CHECK(says(text, "index 9 is out of range for axis 0 with extent 5") == at_once);
      CHECK(z.to_vector<double>() == std::vector<double>{2, 2});
      if (!at_once) text = thrown_by([&] { (void)values(x); });
      CHECK_MESSAGE(says(text, "index 9 is out of range for axis 0 with extent 5"), text);
      CHECK(values(x) == counting(5, 3));
      CHECK(values(x + 1) == counting(5, 3, 1));
      CHECK_NOTHROW(sn::synchronize(d));
    }
  }
}

TEST_CASE("data errors: an error in the right side or in computed indices stays with the array") {
  const all_told at_end;
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    const ndarray x = sn::zeros({5}, {.dtype = sn::int64, .device = d}), fine = sn::arange(2, {.device = d});
    sn::eval(x);
    x[fine] = gathered(d);
    for (int k = 0; k < 2; ++k) CHECK(says(thrown_by([&] { read(x); }), "index 9"));
    const ndarray z = sn::zeros({50}, {.dtype = sn::int64, .device = d});
    (void)thrown_by([&] { z[gathered(d)] = 1; });
    for (int k = 0; k < 2; ++k) CHECK(says(thrown_by([&] { read(z); }), "index 9"));
  }
}

TEST_CASE("data errors: synchronize reports what has not been read, once") {
  const all_told at_end;
  for (const sn::device& d : devices()) {
    CAPTURE(d);
    (void)thrown_by([&] { sn::synchronize(d); });
    {
      const ndarray gone = gathered(d);
      sn::eval(gone);
    }
    CHECK(says(thrown_by([&] { sn::synchronize(d); }), "index 9"));
    CHECK_NOTHROW(sn::synchronize(d));
    const ndarray y = gathered(d);
    sn::eval(y);
    CHECK(says(thrown_by([&] { sn::synchronize(d); }), "index 9"));
    CHECK_NOTHROW(sn::synchronize(d));
    CHECK(says(thrown_by([&] { read(y); }), "index 9"));
  }
}

TEST_CASE("data errors: more launches than a device has records for") {
  const all_told at_end;
  const sn::device d = sim::first();
  const ndarray x = sn::arange(5, {.device = d});
  std::vector<ndarray> kept;
  for (int k = 0; k < 50; ++k) {  // every seventh is wrong; every third goes unread
    ndarray y = x[sn::arange(2, {.device = d}) * (k % 7 == 0 ? 8 : 2) + (k % 2)];
    sn::eval(y);
    if (k % 3 != 0) kept.push_back(y);
  }
  std::size_t at = 0;
  for (int k = 0; k < 50; ++k) {
    if (k % 3 == 0) continue;
    const ndarray& y = kept[at++];
    CAPTURE(k);
    if (k % 7 == 0)
      for (int again = 0; again < 2; ++again) CHECK(says(thrown_by([&] { read(y); }), "out of range"));
    else CHECK(values(y) == list{k % 2, 2 + k % 2});
  }
  (void)thrown_by([&] { sn::synchronize(d); });
  CHECK_NOTHROW(sn::synchronize(d));
}

TEST_CASE("data errors: the cost of writes by indices without reads in between does not grow") {
  const all_told at_end;
  for (const sn::device& d : devices()) {
    const ndarray x = sn::zeros({5}, {.dtype = sn::int64, .device = d});
    for (int k = 0; k < 300; ++k) x[sn::arange(2, {.device = d}) + 1] += 1;
    CHECK(values(x) == list{0, 300, 300, 0, 0});
    x[far_indices(d)(slice(1, _))] += 1;
    CHECK(values(x) == list{0, 301, 300, 0, 0});
  }
}

TEST_CASE("data errors: streams of their own, and readers on others") {
  const all_told at_end;
  const sn::device d = sim::first();
  const std::vector<sn::stream> streams = some_streams(d, 3);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    ndarray wrong_one, right_one;
    {
      const sn::stream_guard here(streams[1]);
      wrong_one = gathered(d);
      sn::eval(wrong_one);
    }
    {
      const sn::stream_guard here(streams[2]);
      right_one = (sn::arange(5, {.device = d}) * 2)[sn::arange(2, {.device = d})];
      sn::eval(right_one);
    }
    CHECK(values(right_one) == list{0, 2});
    const sn::stream_guard here(streams[seed % 3]);
    const ndarray later = wrong_one + right_one;
    sn::eval(later);
    CHECK(says(thrown_by([&] { read(later); }), "index 9"));
    CHECK(says(thrown_by([&] { read(wrong_one); }), "index 9"));
    CHECK(values(right_one + 1) == list{1, 3});
  }
}

TEST_CASE("data errors: records are given back when they have been read, and are the caller's own until then") {
  const all_told at_end;
  int words[4 * runtime::fault_log::slot_words];
  runtime::fault_log log;
  log.use_slots(words, words, 4, runtime::get_backend({}));
  runtime::fault_ref first = log.begin(), second = log.begin();
  CHECK(first->address() != second->address());
  first->address()[0] = 2;
  CHECK(first->is_raised());
  CHECK_FALSE(second->is_raised());
  second->resolve();
  runtime::fault_ref third = log.begin();
  CHECK(third->address() != first->address());
  CHECK_FALSE(second->is_raised());
  first->resolve();
  CHECK(first->is_raised());
  std::vector<runtime::fault_ref> many;
  for (int k = 0; k < 20; ++k) {
    many.push_back(log.begin());
    if (k % 5 == 0) many.back()->address()[0] = 3;
  }
  for (int k = 0; k < 20; ++k) CHECK(many[static_cast<std::size_t>(k)]->is_raised() == (k % 5 == 0));
  CHECK(log.take_unreported() != nullptr);
  CHECK(log.take_unreported() == nullptr);
}
