// One process of a job: distributed arrays with one position a process, beside one device, bit for bit.
// SINTER_DEVICE=cpu: on the CPU, cuda:0: on a GPU each.
//   ranks cases SIZE | fails SIZE killed|slow|memory WORK | fails SIZE starved WORK MEGABYTES |
//   fails SIZE misled
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "dist/programs.hpp"
#include "dist/everyday_programs.hpp"
#include "dist/indexed_programs.hpp"

using namespace sinter;
namespace dist = sinter::dist;
using dist::shard;

namespace {

int wrong = 0;

void check(const std::string& what, const ndarray& got, const ndarray& want) {
  if (test::identical(got, want)) return;
  std::cout << what << " is wrong" << std::endl;
  ++wrong;
}

void run_cases(const dist::mesh& m) {
  random::generator g(41);
  const ndarray x = g.standard_normal({53, 14}), line = g.standard_normal({40000});
  const ndarray s = dist::shard(x, m, {shard(0)}), t = dist::shard(x, m, {shard(1)}),
                long_one = dist::shard(line, m, {shard(0)});
  check("elementwise", exp(s) * 2 - t, exp(x) * 2 - x);
  check("a slice", s["1:-1"] + s[":-2"] * s["2:"], x["1:-1"] + x[":-2"] * x["2:"]);
  check("a sum of all", sum(long_one), sum(line));
  check("a mean of columns", mean(s, {.axis = 0}), mean(x, {.axis = 0}));
  check("places of minima", argmin(s, {.axis = 0}), argmin(x, {.axis = 0}));
  check("rows sorted", sort(t, {.axis = 1}), sort(x, {.axis = 1}));
  check("redistributed", dist::redistribute(s, {shard(1)}), x);
  ndarray u = dist::shard(x, m, {shard(0)}), v = x.copy();
  for (int k = 0; k < 5; ++k) {
    u["1:-1"] = 0.5 * (u[":-2"] + u["2:"]);
    v["1:-1"] = 0.5 * (v[":-2"] + v["2:"]);
  }
  check("a stencil in place", u, v);
  const ndarray p = matmul(s, dist::shard(x.T(), m, {shard(1)}));
  if (max(abs(p - dist::shard(matmul(x, x.T()), m, {}))).item<double>() > 1e-12) ++wrong;
  for (unsigned seed = 0; seed < 60; ++seed) {
    test::choices c(seed + 99);
    const auto want = test::run_program(seed, [](const ndarray& a) { return a; });
    const auto got =
        test::run_program(seed, [&](const ndarray& a) { return dist::shard(a, m, test::any_placements(c, m, a)); });
    for (std::size_t k = want.size(); k-- > 0;) check("program " + std::to_string(seed), got[k], want[k]);
  }
  const dist::mesh grid({1, m.size()}, {.devices = {default_device()}});
  std::vector<test::user_program> all = test::user_programs();
  all.insert(all.end(), test::indexed_programs().begin(), test::indexed_programs().end());
  all.insert(all.end(), test::everyday_programs().begin(), test::everyday_programs().end());
  for (const test::user_program& u : all) {
    const std::string what = test::difference_of(u, u.run(test::on_mesh(m, grid)), u.run(test::one_device()));
    if (what.empty()) continue;
    std::cout << u.name << " " << what << std::endl;
    ++wrong;
  }
  // What parts of other processes are asked for.
  ndarray few = floor(line * 3);
  few["::9"] = std::numeric_limits<double>::quiet_NaN();
  const ndarray f = dist::shard(few, m, {shard(0)}), k = g.integers(-20, 20, {997}), d = dist::shard(k, m, {shard(0)});
  check("a vector sorted", sort(long_one), sort(line));
  check("a vector sorted down", sort(f, {.descending = true}), sort(few, {.descending = true}));
  check("places of a sorted vector", argsort(f), argsort(few));
  check("the first ones", topk(f, 50).indices, topk(few, 50).indices);
  check("the last ones", topk(d, 900, {.largest = false}).values, topk(k, 900, {.largest = false}).values);
  check("a median", median(long_one), median(line));
  check("running sums", cumsum(d), cumsum(k));
  check("running sums of columns", cumsum(dist::shard(k["0:990"].reshape({99, 10}), m, {shard(0)}), 0),
        cumsum(k["0:990"].reshape({99, 10}), 0));
  check("running extrema", cummax(long_one), cummax(line));
  if (max(abs(dist::gather(cumsum(long_one)) - cumsum(line))).item<double>() > 1e-9) ++wrong;
  check("a histogram", histogram(long_one, 40).hist, histogram(line, 40).hist);
  check("weighted counts", bincount(abs(d), {.weights = dist::shard(line["0:997"], m, {shard(0)})}),
        bincount(abs(k), {.weights = line["0:997"]}));
  const ndarray wide = g.standard_normal({60000, 3}), at = g.integers(-60000, 60000, {701});
  const ndarray w = dist::shard(wide, m, {shard(0)}), i = dist::shard(at, m, {shard(0)});
  check("rows by index", take(w, i, 0), take(wide, at, 0));
  check("rows by an index that is everywhere", w(dist::shard(at, m, {})) + 1, wide(at) + 1);
  ndarray written = dist::shard(x, m, {shard(0)}), expected = x.copy();
  written(i % 53) = w["0:701, 0"]["..., None"] * 2;
  expected(at % 53) = wide["0:701, 0"]["..., None"] * 2;
  check("rows that are written", written, expected);
  check("unique elements", unique_inverse(d).inverse_indices, unique_inverse(k).inverse_indices);
  check("an order by two keys", lexsort({d, -d % 3}), lexsort({k, -k % 3}));
  check("repeated elements", repeat(d, abs(d)), repeat(k, abs(k)));
  check("a permutation", random::generator(3).permutation(d), random::generator(3).permutation(k));
  check("a reshape across parts", t.reshape({-1}) + 1, x.reshape({-1}) + 1);
  if (max(abs(dist::gather(fft::fft(dist::shard(wide.reshape({-1}), m, {shard(0)}))) - fft::fft(wide.reshape({-1}))))
          .item<double>() > 1e-9)
    ++wrong;
  for (const std::int64_t column : {2, 3})  // the second one is out of range, in one row of one process
    try {
      const ndarray columns = where(arange(900) == 800, column, 0);
      ndarray u = w.copy();
      u(dist::shard(arange(900) * 66, m, {shard(0)}), dist::shard(columns, m, {shard(0)})) = 1;
      eval(u);
      wrong += column != 2;
    } catch (const index_error&) {
      wrong += column != 3;
    }
  try {  // all processes alike: they go on
    (void)take(w, dist::shard(arange(9) * 7500, m, {shard(0)}), 0).to_vector<double>();
    ++wrong;
  } catch (const index_error&) {
  }
  check("a partial sum", dist::redistribute(sum(s, {.axis = 0}), {dist::partial()}), sum(x, {.axis = 0}));
  check("a sum scattered", dist::redistribute(mean(s, {.axis = 0}), {shard(0)}), mean(x, {.axis = 0}));
  check("a long partial sum", dist::redistribute(sum(long_one), {dist::partial()}) * 2, sum(line) * 2);
  check("sums of integers", 3 * sum(d) - sum(d * 2), 3 * sum(k) - sum(k * 2));
  const std::vector<ndarray> mine = dist::local(dist::shard(x, m, {dist::partial()}));
  check("terms of processes", dist::from_local(mine, x.shape(), m, {dist::partial()}), x);
  check("a diagonal", t["0:14"].diagonal() + 1, x["0:14"].diagonal() + 1);
  const ndarray stack = matmul(g.random({7, 4, 4}), g.random({7, 4, 4})) + 9 * eye(4);
  for (const std::int64_t axis : {0, 2})
    check("factors", linalg::lu(dist::shard(stack, m, {shard(axis)})).l, linalg::lu(stack).l);
  try {
    linalg::cholesky(dist::shard(eye(400), m, {shard(0)}));
    if (m.size() > 1) ++wrong;
  } catch (const device_error&) {  // all processes alike: they go on
  }
  try {
    linalg::solve(dist::shard(stack, m, {shard(0)}), dist::shard(ones({7, 5, 1}), m, {shard(0)}));
    ++wrong;
  } catch (const shape_error&) {
  }
  check("after a refusal", s + 1, x + 1);
}

/// Work that processes do together, by the name of what they exchange in it.
using work = std::function<void()>;
std::map<std::string, work> works(const dist::mesh& m, std::int64_t n) {
  const ndarray x = arange(n / 4, {.dtype = float64}).reshape({n / 40, 10}), line = cos(arange(n, {.dtype = float64}));
  const ndarray s = dist::shard(x, m, {shard(0)}), t = dist::shard(line, m, {shard(0)});
  const ndarray k = dist::shard((arange(n) * 7919) % n, m, {shard(0)});
  return {{"sums", [=] { (void)sum(t * 2).item<double>(); }},
          {"halos", [=] { eval(s["1:-1"] + s[":-2"] * s["2:"]); }},
          {"redistribution", [=] { eval(dist::redistribute(s + 1, {shard(1)})); }},
          {"terms", [=] { eval(dist::redistribute(sum(s, {.axis = 0}), {dist::partial()}) * 2); }},
          {"scattered", [=] { eval(dist::redistribute(mean(s.T(), {.axis = 1}), {shard(0)}) + 1); }},
          {"sorts", [=] { eval(sort(t)); }},
          {"orders", [=] { eval(argsort(t)); }},
          {"scans", [=] { eval(cumsum(t)); }},
          {"weights", [=] { (void)bincount(floor(abs(t) * 9).astype(int64), {.weights = t}); }},
          {"rows",
           [=] {
             eval(take(concatenate({t, t, t, t}), k, 0));
           }},
          {"writes",
           [=] {
             ndarray u = zeros_like(t);
             u(k) = t;
             add_at(u, k, t);
             eval(u);
           }},
          {"sets", [=] { eval(unique_inverse(floor(t * 99)).inverse_indices); }},
          {"transforms",
           [=] {
             eval(fft::fft(concatenate({t, t, t, t})));
           }},
          {"stacks",
           [=] {
             eval(linalg::det(dist::redistribute(
                 s["0:900"].reshape({90, 10, 10}) + 1e6 * eye(10, {.device = m.device()}), {shard(1)})));
           }},
          {"neighbours", [=] { eval(spatial::radius_neighbors(s["0:900, 0:2"], s["0:90, 0:2"], 99.0).indices); }},
          {"masks", [=] { eval(nonzero(dist::redistribute(s, {shard(1)}) > 99)[1]); }},
          {"reshapes", [=] { eval(dist::redistribute(s, {shard(1)}).reshape({-1}) + 1); }},
          {"products", [=] { eval(matmul(s["0:900"], dist::shard(x["0:900"].T(), m, {shard(1)}))); }}};
}

/// No more memory for this process than it has now and some megabytes.
void limit_memory(rlim_t megabytes) {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  const rlim_t bytes = pages * 4096 + (megabytes << 20);
  const rlimit most{bytes, bytes};
  if (setrlimit(RLIMIT_AS, &most) != 0) std::abort();
}

/// All processes do the work again and again; the last one stops in the middle of it. Does not return.
void fail_in(const work& together, const std::string& how, const dist::mesh& m) {
  for (int k = 0; k < 3; ++k) together();
  std::cout << "works" << std::endl;
  together();  // which ends on the last one when all have said so
  const bool last = std::getenv("OMPI_COMM_WORLD_RANK") == std::to_string(m.size() - 1);
  if (last && how == "killed") std::raise(SIGKILL);
  if (last && how == "slow") std::this_thread::sleep_for(std::chrono::seconds(20));
  if (last && how == "memory") limit_memory(64);
  if (how == "memory") eval(dist::full({m.size() << 25}, 1.5, m, {shard(0)}) * 2);
  for (;;) together();
}

/// All processes do the work on ever larger arrays, until the last one, which may have so much more memory, has no more: at
/// whichever step asks for it. Does not return.
void starve_in(const std::string& task, rlim_t megabytes, const dist::mesh& m) {
  constexpr std::int64_t first = 40000;
  works(m, first).at(task)();
  std::cout << "works" << std::endl;
  works(m, first).at(task)();
  if (std::getenv("OMPI_COMM_WORLD_RANK") == std::to_string(m.size() - 1)) limit_memory(megabytes);
  for (std::int64_t n = 2 * first;; n += n / 2 / 40 * 40) works(m, n).at(task)();
}

/// An index that only the last process has is out of range, or its matrix is singular: nobody gets elements that depend on it.
void mislead(const std::string& task, const dist::mesh& m) {
  if (task == "stacks") {
    ndarray a = stack({eye(4), eye(4), eye(4)});
    a(2) = 0.0;
    const ndarray b = dist::shard(ones({3, 4, 1}), m, {shard(0)});
    std::cout << "works" << std::endl;
    const double total = sum(linalg::solve(dist::shard(a, m, {shard(0)}), b)).item<double>();
    std::cout << "reads " << total << std::endl;
  }
  ndarray k = arange(30);
  k(29) = 999;
  const ndarray x = dist::shard(arange(300, {.dtype = float64}), m, {shard(0)}), i = dist::shard(k, m, {shard(0)});
  std::cout << "works" << std::endl;
  const double total = sum(x(i)).item<double>();
  std::cout << "reads " << total << std::endl;
}

/// All processes of the job, on the CPU or on a GPU each, which is the default device from here on.
dist::mesh job_of(std::int64_t size) {
  if (default_device() == cpu) return dist::mesh({size}, {.devices = {cpu}});
  const dist::mesh m({size});
  set_default_device(dist::local(dist::zeros({size}, m, {shard(0)})).at(0).device());
  return m;
}

}  // namespace

int main(int count, char** values) {
  const std::string how = count > 1 ? values[1] : "cases";
  const std::int64_t size = count > 2 ? std::stoll(values[2]) : 1;
  try {
    const dist::mesh m = job_of(size);
    if (how == "fails" && std::string(values[3]) == "starved") starve_in(values[4], std::stoul(values[5]), m);
    if (how == "fails" && std::string(values[3]) == "misled") {
      mislead(values[4], m);
      return 0;
    }
    if (how == "fails") fail_in(works(m, 40000).at(values[4]), values[3], m);
    run_cases(m);
    std::cout << (wrong == 0 ? "a process of " + std::to_string(size) + " is right" : "something is wrong")
              << std::endl;
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::cout << "says: " << e.what() << std::endl;
    return 2;
  }
}
