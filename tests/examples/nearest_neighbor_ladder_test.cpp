// The ladder of the nearest-neighbour example on the CPU: its methods, its check, and its CUDA sources.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "examples/nearest_neighbor_points.hpp"
#include "gpu/gpu.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "nearest_neighbor/check.hpp"
#include "nearest_neighbor/cuda_sources.hpp"
#include "nearest_neighbor/knn_check.hpp"
#include "nearest_neighbor/ladder.hpp"
#include "nearest_neighbor/method_multi_gpu.hpp"
#include "runtime/device_image.hpp"

namespace {

using namespace nearest_neighbor;

std::string failure_of(const places& p, const places& q, const outcome& o) {
  return compare(p, q, {{&o.found, o.step}})[0].failure;
}

result right_answer(const places& p, const places& q) {
  result out;
  for (std::int64_t i = 0; i < p.count(); ++i) {
    double best = 1e300;
    std::int64_t where = 0;
    for (std::int64_t j = 0; j < q.count(); ++j) {
      const double km =
          exact_km(&p.radians[static_cast<std::size_t>(2 * i)], &q.radians[static_cast<std::size_t>(2 * j)]);
      if (km < best) best = km, where = j;
    }
    out.index.push_back(where);
    out.distance.push_back(static_cast<float>(best));
  }
  return out;
}

knn_result knn_of(const std::vector<float>& p, const std::vector<float>& q, int d, int k, metric how) {
  const auto x = sn::array(p.data(), {static_cast<std::int64_t>(p.size()) / d, d}, {.device = sn::cpu});
  const auto y = sn::array(q.data(), {static_cast<std::int64_t>(q.size()) / d, d}, {.device = sn::cpu});
  return knn(x, y, k, how, 7);
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const sn::value_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("ladder: the methods of the CPU agree with float64, points a few metres apart included") {
  options o;
  o.method = "all";
  o.device = "cpu";
  o.k = 3;
  const auto near = metres_apart(0.7, 2);
  const std::vector<point_sets> sets = {
      {random_places(203, 1), random_places(150, 2)}, near, {random_places(1, 3), random_places(1, 4)}};
  for (const auto& s : sets) {
    const task t{s.from, s.to, o};
    int ran = 0;
    for (const auto& r : rungs_of(o)) {
      CAPTURE(r.method);
      if (r.device != "cpu") {
        CHECK(r.missing == "--device cpu was asked for");
        continue;
      }
      if (!r.missing.empty()) continue;
      CHECK(failure_of(s.from, s.to, r.run(t)) == std::string());
      ++ran;
    }
    CHECK(ran >= 3);
  }
}

TEST_CASE("ladder: a search that would take too long runs on a part of the cities") {
  const auto p = random_places(1000, 1), q = random_places(20, 2);
  options o;
  task t{p, q, o};
  const auto slow = [&](double seconds) {
    return search_some(t, [&](const places& some) {
      outcome out;
      out.found = right_answer(some, q);
      out.seconds.searching = seconds * static_cast<double>(some.count());
      return out;
    });
  };
  CHECK(slow(1e-6).step == 1);
  const auto part = slow(0.04);  // 4 s are 100 cities
  CHECK(part.step > 5);
  CHECK(part.step < 20);
  CHECK(part.rows() == (1000 + part.step - 1) / part.step);
  CHECK(failure_of(p, q, part) == std::string());
  t.complete = true;
  CHECK(slow(0.04).rows() == 1000);
}

TEST_CASE("ladder: the check finds every kind of mistake") {
  const auto p = random_places(900, 1), q = random_places(50, 2);
  const auto right = right_answer(p, q);
  const auto verdict_on = [&](auto&& spoil) {
    auto wrong = right;
    spoil(wrong);
    return compare(p, q, {{&right, 1}, {&wrong, 1}});
  };
  CHECK(verdict_on([](result&) {})[1].failure == std::string());
  CHECK(verdict_on([](result&) {})[1].rows == 900);
  CHECK(verdict_on([](result& r) { r.index[17] = (r.index[17] + 1) % 50; })[1].failure.find("city 17: ") == 0);
  CHECK(verdict_on([](result& r) { r.index[17] = (r.index[17] + 1) % 50; })[1].other == 1);
  CHECK(verdict_on([](result& r) { r.index[17] = (r.index[17] + 1) % 50; })[0].failure == std::string());
  CHECK(verdict_on([](result& r) { r.distance[899] *= 1.00003f; })[1].failure.find("city 899: ") == 0);
  CHECK(verdict_on([](result& r) { r.distance[0] = NAN; })[1].failure.find("city 0: ") == 0);
  CHECK(verdict_on([](result& r) { r.index[5] = -1; })[1].failure.find("city 5: ") == 0);
  CHECK(verdict_on([](result& r) { r.index[5] = 50; })[1].failure.find("city 5: ") == 0);
  CHECK(verdict_on([](result& r) { r.index.pop_back(); })[1].failure == "it has results for 899 cities");
  // All of them wrong in the same way: float64 is the reference.
  auto shifted = right;
  for (std::size_t i = 0; i < shifted.index.size(); ++i) {
    shifted.index[i] = (shifted.index[i] + 1) % 50;
    shifted.distance[i] =
        static_cast<float>(exact_km(&p.radians[2 * i], &q.radians[static_cast<std::size_t>(2 * shifted.index[i])]));
  }
  CHECK(compare(p, q, {{&shifted, 1}, {&shifted, 1}})[0].failure != std::string());
}

TEST_CASE("ladder: observations are shared out evenly, whatever their number") {
  for (const std::int64_t rows : {0, 1, 3, 7, 8, 1001})
    for (const int devices : {1, 2, 3, 4, 8}) {
      std::int64_t next = 0, most = 0, least = rows;
      for (int d = 0; d < devices; ++d) {
        const auto s = share_of(rows, devices, d);
        CHECK(s.first == next);
        next += s.count;
        most = std::max(most, s.count), least = std::min(least, s.count);
      }
      CHECK(next == rows);
      CHECK(most - least <= 1);
    }
}

TEST_CASE("ladder: methods that need a GPU say why they cannot run") {
  if (sn::device_count(sn::device_kind::cuda) > 0) {
    MESSAGE("left out: there is a GPU");
    return;
  }
  options o;
  for (const auto* method : {"two_kernel", "raw", "multi_gpu"}) {
    o.method = method;
    for (const auto& r : rungs_of(o)) CHECK(r.missing.find("there is no device cuda:0: ") == 0);
  }
}

TEST_CASE("knn: all metrics, dimensions and lengths agree with a float64 search") {
  for (const int d : {1, 2, 3, 8, 9, 100, 1024})
    for (const int k : {1, 5, 64})
      for (const auto how : {metric::euclidean, metric::cosine}) {
        if (d == 1 && how == metric::cosine) continue;  // nothing but 0 and 2
        CAPTURE(d);
        CAPTURE(k);
        const auto p = random_vectors(d > 100 ? 9 : 40, d, 1), q = random_vectors(80, d, 2);
        CHECK(check_knn(p, q, d, knn_of(p, q, d, k, how), how, 1) == std::string());
      }
  const auto p = random_places(100, 1).radians, q = random_places(70, 2).radians;
  for (const int k : {1, 9, 64})
    CHECK(check_knn(p, q, 2, knn_of(p, q, 2, k, metric::haversine), metric::haversine, 1) == std::string());
  const auto near = metres_apart(-0.4, 4);
  CHECK(check_knn(near.from.radians, near.to.radians, 2,
                  knn_of(near.from.radians, near.to.radians, 2, 6, metric::haversine), metric::haversine,
                  1) == std::string());
}

TEST_CASE("knn: its check finds wrong neighbours") {
  const auto p = random_vectors(3, 4, 1), q = random_vectors(20, 4, 2);
  const auto right = knn_of(p, q, 4, 5, metric::euclidean);
  const auto verdict_on = [&](auto&& spoil) {
    auto wrong = right;
    spoil(wrong);
    return check_knn(p, q, 4, wrong, metric::euclidean, 1);
  };
  CHECK(verdict_on([](knn_result&) {}) == std::string());
  CHECK(verdict_on([](knn_result& r) { r.index[7] = r.index[6]; }) != std::string());
  CHECK(verdict_on([](knn_result& r) { std::swap(r.index[0], r.index[1]); }) != std::string());
  CHECK(verdict_on([](knn_result& r) { r.distance[14] *= 1.0001f; }) != std::string());
  CHECK(verdict_on([](knn_result& r) { r.index[14] = 20; }) != std::string());
  CHECK(verdict_on([](knn_result& r) { r.index.pop_back(); }) != std::string());
}

TEST_CASE("knn: ties come in the order of the references, and what is infinitely far is not chosen") {
  const auto tied = knn_of({0, 0}, std::vector<float>(60, 1.0f), 1, 20, metric::euclidean);
  for (std::size_t i = 0; i < tied.index.size(); ++i) CHECK(tied.index[i] == static_cast<std::int64_t>(i % 20));
  const auto few = knn_of({0}, {NAN, 3, INFINITY, -2}, 1, 4, metric::euclidean);
  CHECK(few.index == std::vector<std::int64_t>{3, 1, -1, -1});
  CHECK(few.distance == std::vector<float>{2, 3, INFINITY, INFINITY});
}

TEST_CASE("knn: bad arguments are named") {
  const auto x = sn::zeros({5, 3}, {.dtype = sn::float32, .device = sn::cpu}),
             y = sn::ones({4, 3}, {.dtype = sn::float32, .device = sn::cpu});
  const auto run = [&](const ndarray& p, const ndarray& q, int k, metric how) {
    return message_of([&] { (void)knn(p, q, k, how); });
  };
  CHECK(run(x, y, 5, metric::euclidean) == "[knn] k = 5 neighbours of 4 points; k may be 1 to 4");
  CHECK(run(x, y, 0, metric::euclidean) == "[knn] k = 0 neighbours of 4 points; k may be 1 to 4");
  CHECK(run(x, y, 1, metric::haversine) == "[knn] the haversine metric takes 2 dimensions, not 3");
  CHECK(run(x, y, 1, metric::cosine) == "[knn] the cosine metric takes no zero vectors");
  CHECK(run(x, sn::ones({4, 2}, {.dtype = sn::float32, .device = sn::cpu}), 1, metric::euclidean).find("(5, 3)") !=
        std::string::npos);
  CHECK(run(x.astype(sn::float64), y, 1, metric::euclidean) == "[knn] points must be float32");
  CHECK(run(y, x, 1, metric::euclidean) == "no error");
}

TEST_CASE("ladder: every CUDA source compiles for sm_75 and sm_90, in every configuration") {
  if (gpu_test::no_nvrtc()) return;
  const auto compile = [](std::string_view source, int arch, std::vector<std::string> defines, bool fast_math = false) {
    sinter::jit::raw_program p;
    p.source = std::string(source);
    p.options = std::move(defines);
    p.arch = arch;
    p.fast_math = fast_math;
    const auto made = sinter::jit::compile_raw(p);
    CHECK(sinter::runtime::image_kind_of({made.bytes.data(), made.bytes.size()}) == sinter::runtime::image_kind::cubin);
  };
  for (const int arch : {75, 90}) {
    compile(chord_cuda, arch, {});
    compile(chord_cuda, arch, {"-DROWS=4", "-DBLOCK=128", "-DGROUP=16", "-DUNROLL=2", "-DTILE=0", "-DDPX=0"});
    compile(two_kernel_cuda, arch, {});
    compile(two_kernel_cuda, arch, {}, true);
    for (const char* list : {"-DLIST=8", "-DLIST=64"})
      for (const char* chunk : {"-DCHUNK=4", "-DCHUNK=16"}) compile(knn_cuda, arch, {list, chunk});
  }
}
