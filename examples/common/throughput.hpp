// One computation over two float32 vectors, written in several forms: each is checked against a plain loop, timed at
// several sizes, and set against a copy of as many bytes on the same device.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/verdict.hpp"
#include "sinter/ndarray.hpp"

namespace examples {

namespace sn = sinter;
using sn::ndarray;

enum class runs_on { any_device, cpu_only, gpu_only };
enum class gives { vector, number };

/// Does the work once and returns its result. Calling it again repeats the work, on the same memory.
using work = std::function<ndarray()>;

/// A way to write the computation.
struct form {
  std::string name;
  /// Makes what the work needs besides x and y, which it must leave alone. The first result is the one that is checked.
  std::function<work(const ndarray& x, const ndarray& y)> prepare;
  double bytes = 12;  // read and written for each element, at the least
  gives result = gives::vector;
  runs_on where = runs_on::any_device;
};

struct computation {
  std::string name, formula;  // of the program; of an element
  std::vector<form> forms;
  /// An element in float64, and how far a float32 result may be from it.
  double (*exact)(double x, double y) = nullptr;
  double (*allowed)(double x, double y) = nullptr;
  /// What forms that give a number compute of all elements in float64, and how far they may be from it.
  double (*fold)(double so_far, double element) = nullptr;
  double (*fold_allowed)(double result) = nullptr;
};

/// The worst element's error, in units of what is allowed.
verdict check(const computation& c, const form& f, const ndarray& result, std::span<const float> x,
              std::span<const float> y);

/// `count` numbers evenly from [0.5, 1.5), the same for the same seed.
std::vector<float> random_numbers(std::size_t count, unsigned seed);

/// x with a gap after each element: a view of every other element of a new array.
ndarray spread(const ndarray& x);

/// The main function: reads the command line, prints the table.
int run_throughput(const computation& c, int count, char** words);

}  // namespace examples
