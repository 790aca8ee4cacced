// Runs, checks and times every stop, and prints one table.
#include <cstdio>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "linalg_tour/options.hpp"
#include "linalg_tour/stops.hpp"

namespace {

using namespace linalg_tour;

void print_row(const stop& s, const options& o) {
  examples::require(s.check(s.work()), s.name + ", error relative to the magnitudes");
  const double own = sn::benchmark(s.work, {.repeat = o.repeat}).device.median;
  if (!s.bare) {
    std::printf("| %s | %.4g | | |\n", s.name.c_str(), own * 1e3);
  } else {
    const double bare = sn::benchmark(s.bare, {.repeat = o.repeat}).device.median;
    std::printf("| %s | %.4g | %.4g | %.3f |\n", s.name.c_str(), own * 1e3, bare * 1e3, own / bare);
  }
  std::fflush(stdout);
}

std::int64_t chosen(std::int64_t wanted, std::int64_t by_default) { return wanted == 0 ? by_default : wanted; }

void products(const options& o, bool gpu) {
  const std::vector<std::int64_t> by_default =
      gpu ? std::vector<std::int64_t>{10000, 5000, 7000} : std::vector<std::int64_t>{1000, 500, 700};
  const auto& s = o.sizes.empty() ? by_default : o.sizes;
  for (const sn::dtype type : {sn::float32, sn::float64}) print_row(product_and_sum(s[0], s[1], s[2], type), o);
  print_row(summed_einsum(s[0], s[1], s[2]), o);
  for (const sn::dtype type : {sn::float32, sn::float64}) print_row(square_product(o.side, type), o);
}

void factorisations(const options& o, bool gpu) {
  const std::int64_t order = chosen(o.order, gpu ? 4096 : 300), spectral = chosen(o.spectral, gpu ? 1024 : 150);
  print_row(qr_factors(order), o);
  print_row(solution(order), o);
  print_row(singular_vectors(spectral), o);
  print_row(eigenvectors(spectral), o);
}

void transforms(const options& o, bool gpu) {
  const std::int64_t plane = chosen(o.plane, gpu ? 2000 : 500), line = chosen(o.line, gpu ? 1 << 24 : 1 << 18);
  print_row(fourier({plane, plane}), o);
  print_row(fourier({line}), o);
  print_row(normal_numbers(chosen(o.normals, gpu ? 100'000'000 : 1'000'000)), o);
}

void tour(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  const sn::device d = sn::default_device();
  const bool gpu = d.kind == sn::device_kind::cuda;
  std::printf("%s, %s\n\n", sn::to_string(d).c_str(), sn::description(d).c_str());
  std::printf("| line | ms | the bare call's ms | ratio |\n| --- | ---: | ---: | ---: |\n");
  products(o, gpu);
  factorisations(o, gpu);
  transforms(o, gpu);
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("linalg_tour", [&] {
    const options o = parse_options(count, words);
    if (o.help) std::fputs(help_text().c_str(), stdout);
    else tour(o);
  });
}
