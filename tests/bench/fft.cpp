// Times Fourier transforms.
#include <complex>

#include "bench.hpp"

namespace bench {

void fft_rows() {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  const auto complex = [](const sn::shape_t& shape, sn::dtype type) {
    sn::random::generator g(1);
    const ndarray re = g.standard_normal(shape), im = g.standard_normal(shape);
    const ndarray x = (re + im * std::complex<double>(0, 1)).astype(type).copy();
    sn::eval(x);
    return x;
  };
  const auto row = [](const std::string& name, auto work) {
    print_row(name, steady_seconds([&] { sn::eval(work()); }));
  };
  const std::int64_t n = std::int64_t{1} << (gpu ? 24 : 20), rows = gpu ? 65536 : 4096;
  const char* const size = gpu ? "2^24" : "2^20";
  const char* const batch = gpu ? "65536 x 256" : "4096 x 256";
  print_head();
  for (const sn::dtype type : {sn::complex64, sn::complex128}) {
    const auto title = [&](const char* what, const char* of) {
      std::string text(what);
      text.append(" ").append(sn::name(type)).append(", ").append(of);
      return text;
    };
    const ndarray plane = complex({2000, 2000}, type), line = complex(n, type), lines = complex({rows, 256}, type);
    const ndarray real_plane = sn::real(plane).copy(), real_line = sn::real(line).copy();
    const ndarray box = sn::ones({31, 31}, real_plane.dtype());
    sn::eval(real_plane, real_line, box);
    row(title("fft2", "2000^2"), [&] { return sn::fft::fft2(plane); });
    row(title("ifft2", "2000^2"), [&] { return sn::fft::ifft2(plane); });
    row(title("rfft2 to", "2000^2"), [&] { return sn::fft::rfft2(real_plane); });
    row(title("fft", size), [&] { return sn::fft::fft(line); });
    row(title("ifft", size), [&] { return sn::fft::ifft(line); });
    row(title("rfft to", size), [&] { return sn::fft::rfft(real_line); });
    row(title("fft of rows", batch), [&] { return sn::fft::fft(lines); });
    row(title("fft of columns", batch), [&] { return sn::fft::fft(lines, {.axis = 0}); });
    row(title("fft of columns by way of rows", batch), [&] { return sn::fft::fft(lines.T()); });
    // As many elements in columns of other lengths, as they are chosen to be done and by way of rows.
    for (const std::int64_t length : {std::int64_t{1} << 10, std::int64_t{1} << 12, std::int64_t{1} << 13}) {
      const ndarray x = sn::reshape(lines, {length, -1});
      const std::string shape = std::to_string(x.shape(0)) + " x " + std::to_string(x.shape(1));
      row(title("fft of columns", shape.c_str()), [&] { return sn::fft::fft(x, {.axis = 0}); });
      row(title("fft of columns by way of rows", shape.c_str()), [&] { return sn::fft::fft(x.T()); });
    }
    row(title("dct of rows to the real dtype of", "2000^2"), [&] { return sn::fft::dct(real_plane); });
    row(title("fftconvolve to the real dtype of", "2000^2 with 31^2"),
        [&] { return sn::fft::fftconvolve(real_plane, box, "same"); });
  }
}

}  // namespace bench
