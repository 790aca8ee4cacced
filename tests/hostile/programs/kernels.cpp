// Runs what must be compiled on the CPU, and says what came out. Usage: kernels WHAT...
//   recorded  an expression: "recorded right" whether it was compiled or interpreted
//   text      a function given as text: "text right", or "text refused: " and the first line of the compile_error
//   another   a separate function, so that the compiler has been tried
//   index     the same with an index out of range: "index: " and the message of the index_error, or "index: none"
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "sinter/sinter.hpp"

namespace sn = sinter;

namespace {

bool recorded() {
  const sn::ndarray x = sn::arange(1000, {.device = "cpu"}) * 3 - 7;
  const auto total = std::int64_t(sn::sum(x * x));
  std::int64_t expected = 0;
  for (std::int64_t k = 0; k < 1000; ++k) expected += (3 * k - 7) * (3 * k - 7);
  std::printf("recorded %s\n", total == expected ? "right" : "WRONG");
  return total == expected;
}

bool text() {
  const sn::function cube("T cube(T x)", "return x * x * x;");
  try {
    const double y = cube(sn::full({4}, 3.0, {.device = "cpu"}))(2).item<double>();
    std::printf("text %s\n", y == 27 ? "right" : "WRONG");
    return y == 27;
  } catch (const sn::compile_error& e) {
    std::string what = e.what();
    std::printf("text refused: %s\n", what.substr(0, what.find('\n')).c_str());
    return what.size() < 1 << 20;
  }
}

bool another() {
  const sn::function half("T half(T x)", "return x / 2;");
  return half(sn::ones({2}, {.device = "cpu"}))(0).item<double>() == 0.5;
}

bool index() {
  const sn::elementwise_kernel pick("raw T x, int64 k", "T z", "z = x[k];", "pick");
  const sn::ndarray x = sn::arange(10, {.device = "cpu"});
  try {
    const sn::ndarray z = pick(x, sn::full({3}, 12, {.device = "cpu"}));
    std::printf("index: none, the first element is %d\n", z(0).item<int>());
  } catch (const sn::index_error& e) {
    std::printf("index: %s\n", e.what());
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  bool good = true;
  try {
    for (int k = 1; k < count; ++k) {
      if (std::strcmp(arguments[k], "recorded") == 0) good = recorded() && good;
      if (std::strcmp(arguments[k], "text") == 0) good = text() && good;
      if (std::strcmp(arguments[k], "another") == 0) good = another() && good;
      if (std::strcmp(arguments[k], "index") == 0) good = index() && good;
    }
  } catch (const std::exception& e) {
    std::printf("error: %s\n", e.what());
    good = false;
  }
  return good ? 0 : 1;
}
