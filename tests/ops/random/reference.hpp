// What the tests of random numbers compare with: the functions of jit/prelude/random.h, called element by element on
// the host, and distribution functions for tests of statistics.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "jit/prelude/base.h"
#include "jit/prelude/float.h"
//
#include "jit/prelude/random.h"
#include "sinter/sinter.hpp"

namespace random_test {

using namespace sinter;

inline sn::random_stream stream_of(const random::generator& g) {
  const random::generator_state s = g.state();
  return {s.key, s.block, s.subsequence};
}

/// f(position, stream) for the elements of a draw that begins at the state of `g`.
template <class T, class F>
std::vector<T> expected(const random::generator& g, std::int64_t n, F f) {
  const sn::random_stream s = stream_of(g);
  std::vector<T> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(f(k, s));
  return out;
}
template <class T>
std::vector<T> expected_normals(const random::generator& g, std::int64_t n) {
  return expected<T>(g, n, [](std::int64_t p, const sn::random_stream& s) { return sn::random_normal<T>(p, s); });
}
template <class T>
std::vector<T> expected_uniform(const random::generator& g, std::int64_t n) {
  return expected<T>(g, n, [](std::int64_t p, const sn::random_stream& s) { return sn::random_uniform<T>(p, s); });
}

/// All 32-bit words of the next blocks.
inline ndarray words(random::generator& g, std::int64_t n) {
  return g.integers(0, std::uint64_t{1} << 32, n, {.dtype = uint32});
}

}  // namespace random_test
