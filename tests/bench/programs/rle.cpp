#include "programs.hpp"

namespace bench::programs {

outputs rle(const inputs& in) {
  const ndarray &x = in["x"], &bits = in["bits"];
  ndarray edges = sn::flatnonzero(x["1:"] != x[":-1"]) + 1;
  ndarray starts = sn::concatenate({sn::array({0}), edges}), ends = sn::concatenate({edges, sn::array({x.len()})});
  ndarray lengths = ends - starts, values = x[starts];
  ndarray back = sn::repeat(values, lengths);
  ndarray longest = sn::argmax(lengths);
  ndarray d = sn::diff(bits.astype(sn::int8), {.prepend = 0, .append = 0});
  ndarray on = sn::flatnonzero(d == 1), off = sn::flatnonzero(d == -1);
  ndarray hist = sn::bincount(off - on);
  ndarray inside = sn::cumsum(d)[":-1"].astype(sn::bool_);
  std::vector<ndarray> total;
  for (const ndarray& r : sn::split(x["0:20"], {3, 7, 12})) total.push_back(sn::sum(r));
  return {{"starts", starts},
          {"lengths", lengths},
          {"values", values},
          {"same", sn::array(sn::array_equal(back, x))},
          {"longest", longest},
          {"on", on},
          {"off", off},
          {"hist", hist},
          {"inside", sn::array(sn::array_equal(inside, bits))},
          {"total", sn::stack(total)}};
}

}  // namespace bench::programs
