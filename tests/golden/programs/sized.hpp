// Forty NumPy programs of any size, ported line by line (../make/golden_sized_programs.py, its neighbours of more and of everyday ones have
// the originals).
#pragma once
#include "golden/programs/programs.hpp"

namespace sinter::test::programs::sized {

/// Each takes a vector of numbers in [0, 1); its results are as long as that allows.
results bicubic(const ndarray&u), blur(const ndarray&u), boards(const ndarray&u), fits(const ndarray&u),
    groups(const ndarray&u), hampel(const ndarray&u), lab(const ndarray&u), loess(const ndarray&u),
    logistic(const ndarray&u), lomb(const ndarray&u), options(const ndarray&u), perlin(const ndarray&u),
    principal(const ndarray&u), queens(const ndarray&u), running(const ndarray&u), savgol(const ndarray&u),
    sphere(const ndarray&u), stretch(const ndarray&u), survival(const ndarray&u), tokens(const ndarray&u);
/// The later ten.
results airy(const ndarray&u), climate(const ndarray&u), codes(const ndarray&u), coherence(const ndarray&u),
    extremes(const ndarray&u), hidden(const ndarray&u), hypotheses(const ndarray&u), lpc(const ndarray&u),
    quadrature(const ndarray&u), wavelet(const ndarray&u);
/// The last ten.
results beliefs(const ndarray&u), bootstrap(const ndarray&u), cepstrum(const ndarray&u), filters(const ndarray&u),
    flows(const ndarray&u), likelihood(const ndarray&u), pieces(const ndarray&u), registers(const ndarray&u),
    skill(const ndarray&u), terrain(const ndarray&u);

}  // namespace sinter::test::programs::sized
