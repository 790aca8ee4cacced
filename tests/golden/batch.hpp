// Golden cases recorded one by one, evaluated together: a flush compiles all its kernels as one module, which on a GPU
// costs a tenth of as many modules.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "golden/golden.hpp"

namespace sinter::test {

/// Calls must be made from within a test case. Nothing is left out: the destructor runs what is still recorded.
class batch {
 public:
  using recorder = std::function<ndarray()>;
  using checker = std::function<void(const host_array&)>;

  explicit batch(std::size_t size = 40) : size_(size) {}
  ~batch() { finish(); }
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  /// Records now, and hands the result to `check` once a batch is full. What recording or evaluating throws fails the
  /// case called `what`. `record` runs once more if the evaluation of its batch throws.
  void add(std::string what, recorder record, checker check);
  void finish();

 private:
  struct item {
    std::string what;
    recorder record;
    checker check;
    ndarray result;
  };
  std::size_t size_;
  std::vector<item> items_;

  static void one_by_one(item& i);
};

/// Evaluates any number of arrays together.
void evaluate_all(const std::vector<ndarray>& arrays);

}  // namespace sinter::test
