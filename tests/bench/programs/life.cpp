#include "programs.hpp"

namespace bench::programs {

outputs life(const inputs& in) {
  const ndarray& board = in["board"];
  ndarray b = board.copy();
  for (int step = 0; step < 50; ++step) {
    ndarray n = b[":-2, :-2"] + b[":-2, 1:-1"] + b[":-2, 2:"] + b["1:-1, :-2"] + b["1:-1, 2:"] + b["2:, :-2"] +
                b["2:, 1:-1"] + b["2:, 2:"];
    ndarray birth = (n == 3) & (b["1:-1, 1:-1"] == 0), survive = ((n == 2) | (n == 3)) & (b["1:-1, 1:-1"] == 1);
    b(ellipsis) = 0;
    b["1:-1, 1:-1"][birth | survive] = 1;
  }
  ndarray t = board.astype(sn::bool_);
  std::vector<ndarray> pop;
  for (int step = 0; step < 50; ++step) {
    ndarray n;
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        if (i || j) {
          ndarray r = sn::roll(t, {i, j}, sn::axes{0, 1}).astype(sn::int8);
          n = n.defined() ? n + r : r;
        }
    t = (n == 3) | (t & (n == 2));
    pop.push_back(sn::count_nonzero(t));
  }
  return {{"board", b}, {"torus", t}, {"pop", sn::stack(pop)}, {"age", sn::where(t, 255, 0).astype(sn::uint8)}};
}

}  // namespace bench::programs
