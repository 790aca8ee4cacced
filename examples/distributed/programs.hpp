// Four programs on a mesh of devices, each beside one device.
#pragma once
#include <cstdint>

#include <sinter/dist.hpp>
#include <sinter/sinter.hpp>

namespace distributed {

namespace sn = sinter;
namespace dist = sn::dist;
using sn::ndarray;

struct sizes {
  int devices = 4;
  std::int64_t size = 0;   // 0: the program's own, larger where the default device is a GPU
  std::int64_t steps = 0;  // 0: the program's own
  double work = 1;         // so many times the elements
  bool explain = false;
};

/// What a program took on the mesh and on one device, and how far the results are from each other; 0: the same bits.
struct outcome {
  double mesh_seconds = 0, one_seconds = 0;
  double difference = 0, allowed = 0;
};

/// The nearest of N points of each of M: the lines of examples/nearest_neighbor/search.hpp. Rows are sharded, references
/// replicated.
outcome search(const sizes& s);
/// Heat on a plate whose edge is kept cold: five-point steps in place, on a mesh of two axes.
outcome heat(const sizes& s);
/// A symmetric system by the conjugate gradients of examples/cg, its matrix sharded by rows.
outcome gradients(const sizes& s);
/// Logistic regression by gradient descent: data sharded, weights replicated.
outcome logistic(const sizes& s);

}  // namespace distributed
