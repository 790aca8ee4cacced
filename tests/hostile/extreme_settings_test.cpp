// Extremes of integers in printing, files, foreign memory, devices, streams and measurements.
#include <sstream>

#include "hostile/extreme_integers.hpp"

using namespace hostile;

namespace {

ndarray row() { return sn::arange(6, {.dtype = sn::float64}) / 7; }
std::istringstream table() { return std::istringstream("a,b\n1,2\n3,4\n"); }
std::istringstream numbers() { return std::istringstream("1 2\n3 4\n"); }

}  // namespace

TEST_CASE("extreme integers: printing") {
  const auto text = [](const sn::print_kw& kw) {
    sn::array_repr(row(), kw);
    const sn::printoptions scope(kw);
    return sn::to_string(sn::reshape(row(), {2, 3})) + sn::to_string(row() * 1e300) + sn::to_string(sn::arange(3000));
  };
  const auto fixed = sn::floatmode::fixed, equal = sn::floatmode::maxprec_equal;
  check_extremes({
      {"print_kw.precision", [=](int64_t k) { return text({.precision = k}); }},
      {"print_kw.precision fixed", [=](int64_t k) { return text({.precision = k, .floatmode = fixed}); }},
      {"print_kw.precision equal", [=](int64_t k) { return text({.precision = k, .floatmode = equal}); }},
      {"print_kw.threshold", [=](int64_t k) { return text({.threshold = k}); }},
      {"print_kw.edgeitems", [=](int64_t k) { return text({.threshold = 2, .edgeitems = k}); }},
      {"print_kw.linewidth", [=](int64_t k) { return text({.linewidth = k}); }},
      {"set_printoptions",
       [=](int64_t k) {
         const sn::printoptions scope({});
         sn::set_printoptions({.precision = k});
         return sn::to_string(row());
       }},
  });
  CHECK(sn::array_str(row(), {.precision = most}) == sn::array_str(row(), {.floatmode = sn::floatmode::unique}));
  CHECK_THROWS_AS(sn::array_str(row(), {.precision = two_to_32, .floatmode = fixed}), sn::value_error);
  CHECK_THROWS_AS(sn::array_str(row(), {.precision = -two_to_32}), sn::value_error);
  CHECK(sn::array_str(sn::array({1.5}), {.precision = 16000, .floatmode = fixed}).size() == 16004);  // as NumPy
}

TEST_CASE("extreme integers: text files") {
  check_extremes({
      {"loadtxt_kw.skiprows",
       [](int64_t k) {
         auto in = numbers();
         return sn::loadtxt(in, {.skiprows = k});
       }},
      {"loadtxt_kw.max_rows",
       [](int64_t k) {
         auto in = numbers();
         return sn::loadtxt(in, {.max_rows = k});
       }},
      {"loadtxt_kw.ndmin",
       [](int64_t k) {
         auto in = numbers();
         return sn::loadtxt(in, {.ndmin = k});
       }},
      {"loadtxt_kw.usecols",
       [](int64_t k) {
         auto in = numbers();
         return sn::loadtxt(in, {.usecols = k});
       }},
      {"columns",
       [](int64_t k) {
         auto in = numbers();
         return sn::loadtxt(in, {.usecols = std::vector<int64_t>{0, k}});
       }},
      {"genfromtxt_kw.skip_header",
       [](int64_t k) {
         auto in = numbers();
         return sn::genfromtxt(in, {.skip_header = k});
       }},
      {"genfromtxt_kw.skip_footer",
       [](int64_t k) {
         auto in = numbers();
         return sn::genfromtxt(in, {.skip_footer = k});
       }},
      {"genfromtxt_kw.max_rows",
       [](int64_t k) {
         auto in = numbers();
         return sn::genfromtxt(in, {.max_rows = k});
       }},
      {"genfromtxt_kw.ndmin",
       [](int64_t k) {
         auto in = numbers();
         return sn::genfromtxt(in, {.ndmin = k});
       }},
      {"genfromtxt_kw.usecols",
       [](int64_t k) {
         auto in = numbers();
         return sn::genfromtxt(in, {.usecols = {k, 1}});
       }},
      {"csv_kw.skiprows",
       [](int64_t k) {
         auto in = table();
         return sn::read_csv(in, {.skiprows = k}).array();
       }},
      {"csv_kw.max_rows",
       [](int64_t k) {
         auto in = table();
         return sn::read_csv(in, {.max_rows = k}).array();
       }},
      {"csv_kw.usecols",
       [](int64_t k) {
         auto in = table();
         return sn::read_csv(in, {.usecols = k}).array();
       }},
  });
  auto in = numbers();
  CHECK_THROWS_AS(sn::loadtxt(in, {.usecols = two_to_32}), sn::io_error);  // it was column 0 once
}

TEST_CASE("extreme integers: memory of others, devices, streams") {
  static double elements[4] = {};
  check_extremes({
      {"from_pointer",
       [](int64_t k) {
         return sn::from_pointer(elements, {k == 4 ? 4 : k, 0});
       }},
      {"pointer_kw.strides",
       [](int64_t k) {
         // Nothing reads at that stride: it must be refused, or the array has one element along it.
         return sn::from_pointer(elements, {2, 1}, {.strides = {8, k}});
       }},
      {"pointer_kw.strides of two",
       [](int64_t k) { static_cast<void>(sn::from_pointer(elements, {2}, {.strides = {k}, .readonly = true})); }},
      {"device", [](int64_t k) { return sn::zeros({1}, {.device = sn::device(sn::device_kind::cpu, k)}); }},
      {"cuda", [](int64_t k) { return sn::zeros({1}, {.device = sn::cuda(k)}); }},
      {"cuda text", [](int64_t k) { return sn::zeros({1}, {.device = sn::device("cuda:" + std::to_string(k))}); }},
      {"to_device", [](int64_t k) { return row().to_device(sn::cuda(k)); }},
      {"set_default_device",
       [](int64_t k) {
         const sn::device before = sn::default_device();
         sn::set_default_device(sn::device(sn::device_kind::cpu, k));
         sn::set_default_device(before);
       }},
      {"set_limit",
       [](int64_t k) {
         sn::memory_pool(sn::cpu).set_limit(static_cast<std::size_t>(k));
         const ndarray x = sn::ones({1 << 16}) + 1;
         try {
           sn::eval(x);
         } catch (const sn::memory_error&) {
         }
         sn::memory_pool(sn::cpu).set_limit(std::size_t{256} << 20);
       }},
      {"stream_kw.priority",
       [](int64_t k) { sn::stream({.device = sn::cpu, .priority = static_cast<int>(k)}).synchronize(); }},
      {"to_dlpack_kw.stream", [](int64_t k) { sn::to_dlpack(row().copy(), {.stream = k}); }},
      {"progress",
       [](int64_t k) {
         sn::progress bar(k);
         bar.tick(k);
         bar.tick(k);
       }},
      {"tick", [](int64_t k) { sn::progress(3).tick(k); }},
      {"benchmark_kw.repeat",
       [](int64_t k) { sn::benchmark([] {}, {.repeat = static_cast<int>(std::min<int64_t>(k, 3) % 4), .warmup = 0}); }},
      {"benchmark_kw.warmup",
       [](int64_t k) { sn::benchmark([] {}, {.repeat = 1, .warmup = static_cast<int>(std::min<int64_t>(k, 3) % 4)}); }},
  });
  CHECK(sn::cuda(two_to_32) != sn::cuda(0));
  CHECK(sn::cuda(least) != sn::cuda(0));
}
