// Transforms against NumPy and SciPy: axes, lengths, norms, types, dtypes.
#include <doctest/doctest.h>

#include "golden/golden.hpp"
#include "support/sample.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

constexpr std::int64_t none = -99;
using numbers = std::vector<std::int64_t>;

axes axes_from(const numbers& all, std::size_t first, std::size_t count) {
  std::vector<int> list;
  for (std::size_t k = first; k < first + count; ++k) list.push_back(static_cast<int>(all[k]));
  return axes(list);
}

fft::fft_kw one_axis(const numbers& at, std::string_view norm) {
  fft::fft_kw kw{.axis = static_cast<int>(at[1]), .norm = norm};
  if (at[0] != none) kw.n = at[0];
  return kw;
}

template <class Kw>
Kw several_axes(const numbers& at, std::string_view norm) {
  const auto count = static_cast<std::size_t>(at[0]);
  Kw kw{.axes = axes_from(at, 1, count), .norm = norm};
  if (at.size() > count + 1) kw.s = shape_t(numbers(at.begin() + std::ptrdiff_t(count) + 1, at.end()));
  return kw;
}

fft::dct_kw cosine(const numbers& at, std::string_view norm) {
  fft::dct_kw kw{.type = static_cast<int>(at[0]), .axis = static_cast<int>(at[2]), .norm = norm};
  if (at[1] != none) kw.n = at[1];
  if (at[3] >= 0) kw.orthogonalize = at[3] != 0;
  return kw;
}

fft::dctn_kw cosines(const numbers& at, std::string_view norm) {
  return {.type = static_cast<int>(at[0]), .axes = axes_from(at, 1, at.size() - 1), .norm = norm};
}

ndarray result_of(const std::string& f, const std::vector<ndarray>& x, const numbers& at, const std::string& word) {
  if (f == "fft") return fft::fft(x[0], one_axis(at, word));
  if (f == "ifft") return fft::ifft(x[0], one_axis(at, word));
  if (f == "rfft") return fft::rfft(x[0], one_axis(at, word));
  if (f == "irfft") return fft::irfft(x[0], one_axis(at, word));
  if (f == "hfft") return fft::hfft(x[0], one_axis(at, word));
  if (f == "ihfft") return fft::ihfft(x[0], one_axis(at, word));
  if (f == "fftn") return fft::fftn(x[0], several_axes<fft::fftn_kw>(at, word));
  if (f == "ifftn") return fft::ifftn(x[0], several_axes<fft::fftn_kw>(at, word));
  if (f == "rfftn") return fft::rfftn(x[0], several_axes<fft::fftn_kw>(at, word));
  if (f == "irfftn") return fft::irfftn(x[0], several_axes<fft::fftn_kw>(at, word));
  if (f == "fft2") return fft::fft2(x[0], several_axes<fft::fft2_kw>(at, word));
  if (f == "ifft2") return fft::ifft2(x[0], several_axes<fft::fft2_kw>(at, word));
  if (f == "rfft2") return fft::rfft2(x[0], several_axes<fft::fft2_kw>(at, word));
  if (f == "irfft2") return fft::irfft2(x[0], several_axes<fft::fft2_kw>(at, word));
  if (f == "dct") return fft::dct(x[0], cosine(at, word));
  if (f == "idct") return fft::idct(x[0], cosine(at, word));
  if (f == "dst") return fft::dst(x[0], cosine(at, word));
  if (f == "idst") return fft::idst(x[0], cosine(at, word));
  if (f == "dctn") return fft::dctn(x[0], cosines(at, word));
  if (f == "idctn") return fft::idctn(x[0], cosines(at, word));
  if (f == "dstn") return fft::dstn(x[0], cosines(at, word));
  if (f == "idstn") return fft::idstn(x[0], cosines(at, word));
  if (f == "fftconvolve") return fft::fftconvolve(x[0], x[1], word, at.empty() ? axes() : axes_from(at, 0, at.size()));
  if (f == "fftfreq") return fft::fftfreq(at[0], x[0].item<double>());
  if (f == "rfftfreq") return fft::rfftfreq(at[0], x[0].item<double>());
  if (f == "fftshift") return fft::fftshift(x[0], at.empty() ? axes() : axes_from(at, 0, at.size()));
  if (f == "ifftshift") return fft::ifftshift(x[0], at.empty() ? axes() : axes_from(at, 0, at.size()));
  if (f == "next_fast_len") return array(fft::next_fast_len(at[0], at[1] != 0));
  throw io_error("no function is called " + f);
}

}  // namespace

TEST_CASE("transforms give what NumPy and SciPy do" * doctest::test_suite(sharded_suite)) {
  golden_file f("fft.bin");
  const sample part(2);
  for (int i = 0; i < f.cases(); ++i) {
    const std::string name = f.text();
    std::vector<host_array> from;
    for (std::int64_t k = f.varint(); k > 0; --k) from.push_back(f.array());
    const numbers at = f.dims();
    const std::string word = f.text();
    const policy p = f.tolerance();
    const host_array expected = f.array();
    if (!part.takes(i / 10) || !this_shard().takes(part.place(i / 10))) continue;
    std::vector<ndarray> x;
    std::string what = name + " " + word;
    for (const host_array& a : from) {
      x.push_back(upload(a));
      what += " of " + show(a);
    }
    for (const std::int64_t n : at) what += " " + std::to_string(n);
    ndarray result;
    try {
      result = result_of(name, x, at, word);
    } catch (const std::exception& e) {
      FAIL_CHECK(what << " throws " << e.what());
      continue;
    }
    const std::string wrong = difference(download(result), expected, p);
    CHECK_MESSAGE(wrong.empty(), what, ": ", wrong);
  }
  CHECK(f.at_end());
}
