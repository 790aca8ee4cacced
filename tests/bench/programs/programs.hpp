// Programs as a NumPy user writes them, not tuned for anything. programs.py has the same in NumPy, and makes their inputs.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sinter/sinter.hpp"

namespace bench::programs {

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;
using sn::slice;
using outputs = std::vector<std::pair<std::string, ndarray>>;

struct inputs {
  std::map<std::string, ndarray> arrays;
  const ndarray& operator[](const std::string& name) const { return arrays.at(name); }
  std::int64_t number(const std::string& name) const { return arrays.at(name).item<std::int64_t>(); }
};

// Name of the function, and what it does.
#define SINTER_BENCH_PROGRAMS(F)                       \
  F(clip, "clipping to percentiles")                   \
  F(confusion, "confusion matrix by bincount")         \
  F(csv, "numbers written as text and read again")     \
  F(fields, "fields over a mesh grid, masked steps")   \
  F(gramschmidt, "Gram-Schmidt")                       \
  F(hsv, "hue, saturation, value of an image")         \
  F(interp, "interpolation in tables by searchsorted") \
  F(kalman, "Kalman filters in a batch")               \
  F(kfold, "standardised folds of a table")            \
  F(levenshtein, "Levenshtein by wavefronts")          \
  F(life, "Game of Life by slices and by roll")        \
  F(moving, "moving averages by cumulative sums")      \
  F(pagerank, "PageRank by products")                  \
  F(paths, "shortest paths")                           \
  F(polyfit, "polynomial fits")                        \
  F(resize, "bilinear resize by index arrays")         \
  F(rle, "run-length encoding by repeat")              \
  F(sinkhorn, "Sinkhorn's scaling")                    \
  F(sliding, "statistics of sliding windows")          \
  F(spectrogram, "spectrogram")

#define SINTER_BENCH_PROGRAM(name, what) outputs name(const inputs& in);
SINTER_BENCH_PROGRAMS(SINTER_BENCH_PROGRAM)
#undef SINTER_BENCH_PROGRAM

}  // namespace bench::programs
