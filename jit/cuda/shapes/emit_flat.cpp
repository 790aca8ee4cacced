// Elementwise CUDA kernels over the last two axes as one line: vectors of what is contiguous along it, and of other inputs each lane's
// element, at the coordinates into which its place in the line is divided. The last elements of the line are computed one by one.
#include "jit/cuda/shapes/emit_map.hpp"

namespace sinter::jit::cuda {
namespace {

class flat_writer : map_writer {
 public:
  flat_writer(const program& p, const cuda_variant& v) : map_writer(p, v) {}

  std::string run() {
    begin(0);
    t_("const I line = ", extent(inner_ - 1), " * ", extent(inner_), ";");
    t_("const I across = (I)(blockIdx.x * (I)blockDim.x * ", unroll_, " + threadIdx.x) * ", vec_, ";");
    t_("const I step = (I)blockDim.x * ", vec_, ";");
    over_outer_axes(
        [&] {
          t_("const I zi = (I)z;");
          decompose(t_, "zi", 0, inner_ - 1, "c");
        },
        [&] { elements(); });
    t_("}");
    return close();
  }

 private:
  std::string extent(int axis) const { return "a.e" + num(axis) + ".n"; }

  void elements() {
    if (!v_.baseline)
      walk({.element = element_,
            .lanes = vec_,
            .groups = unroll_,
            .order = load_order::by_lane,
            .place = [&] { t_("const I at = across + u * step;"); },
            .inside = "at + " + num(vec_) + " <= line",
            .lane_of_load = [&] { coordinates("at + l"); },
            .lane_of_use = [&] { coordinates("at + l"); },
            .value = value_,
            .vector =
                [&](int k) { return input_class(k) == access::linear ? flat_place("a.p", "s", k) : std::string(); },
            .lane = [&](int k) { return lane(k); },
            .coordinate = [&](int j) { return coordinate(j, "at + l"); },
            .use = [&] { stores([&](int k) { return flat_place("a.w", "t", k); }); }});
    t_.loop("for (int u = 0; u < " + num(unroll_) + "; ++u)", [&] {
      t_("const I first = across + u * step;");
      if (!v_.baseline) t_("if (first + ", vec_, " <= line) continue;");
      t_.loop("for (I at = first; at < line && at < first + " + num(vec_) + "; ++at)", [&] {
        coordinates("at");
        one_element({.element = element_,
                     .value = value_,
                     .address = [&](int k) { return strided_place(k); },
                     .coordinate = [&](int j) { return coordinate(j, "at"); },
                     .place = [&](int k) { return "*(" + flat_place("a.w", "t", k) + ")"; }});
      });
    });
  }

  /// The coordinates along the last two axes, and the number of the element in the line.
  void coordinates(const std::string& at) {
    t_("const I q = ", "a.e", inner_, ".quotient(", at, ");");
    t_("const I c", inner_ - 1, " = q, c", inner_, " = ", at, " - q * ", extent(inner_), ";");
  }
  std::string coordinate(int j, const std::string& at) const {
    if (j <= inner_) return "c" + num(j);
    std::string row = "(long long)" + (inner_ > 1 ? std::string("c0") : std::string("0"));
    for (int k = 1; k < inner_ - 1; ++k) row = "(" + row + " * a.e" + num(k) + ".n + c" + num(k) + ")";
    return row + " * line + " + at;
  }

  std::string lane(int k) const { return gathered(k) ? strided_place(k) : "*(" + strided_place(k) + ")"; }
  std::string strided_place(int k) const {
    if (input_class(k) == access::uniform) return "a.p" + num(k);
    return "a.p" + num(k) + " + (" + offset("s", k, 0, v_.rank, "c") + ")";
  }
  std::string flat_place(const char* base, const char* strides, int k) const {
    const std::string outer = inner_ > 1 ? " + (" + offset(strides, k, 0, inner_ - 1, "c") + ")" : std::string();
    return base + num(k) + outer + " + at";
  }
};

}  // namespace

std::string emit_flat(const program& p, const cuda_variant& v) { return flat_writer(p, v).run(); }

}  // namespace sinter::jit::cuda
