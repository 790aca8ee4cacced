// Declarations for the code in the NumPy table of the documentation, which run.sh compiles. Never run.
#pragma once
#include <cmath>
#include <iostream>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sinter/apply.hpp"
#include "sinter/cluster.hpp"
#include "sinter/compile.hpp"
#include "sinter/dist.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/random_multivariate.hpp"
#include "sinter/raw_file.hpp"
#include "sinter/segments.hpp"
#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"
#include "sinter/spatial.hpp"
#include "sinter/special_more.hpp"
#include "sinter/special_parameters.hpp"
#include "sinter/vmap.hpp"

namespace sn = sinter;
using namespace sn::idx;

extern sn::ndarray x, y, v, w;          // any
extern sn::ndarray mask;                // of bools
extern sn::ndarray idx, rows, columns;  // of integers
extern const std::vector<sn::index> key;
extern const sn::sparse::sparse_array A, B;
extern const sn::sparse::linalg::array_map f;
extern sn::dtype s, t;
extern const char* source;  // of a raw kernel
extern const sn::raw_kernel kernel;
extern const sn::raw_module library;
extern const std::vector<sn::configuration> list;
extern sn::random::generator g;
extern const sn::dist::mesh grid;
extern const sn::dist::placements halves;
extern const sn::ndarray parted;
extern float* pointer;
extern const std::span<const std::byte> data;
extern sn::dlpack_ptr tensor;
extern const sn::device gpu;
extern const sn::stream queue;
extern sn::event begin, end;
extern const sn::memory_pool pool;
extern std::shared_ptr<sn::allocator> source_of_memory;
extern const sn::launch_graph step;
inline sn::ndarray loss(const sn::ndarray& a) { return sn::sum(a * a); }
inline sn::ndarray loss2(const sn::ndarray& a, const sn::ndarray& b) { return sn::sum(a * b); }
inline sn::ndarray fun(const sn::ndarray& a) { return a * a; }
std::vector<sn::ndarray> slope(const std::vector<sn::ndarray>&, const std::vector<sn::ndarray>&,
                               const std::vector<sn::ndarray>&);
void call();
