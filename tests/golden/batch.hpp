// Golden cases recorded one by one and evaluated together: a flush compiles all its kernels as one module, which on a
// GPU takes a tenth of the time of separate modules.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "golden/golden.hpp"

namespace sinter::test {

/// Must be used within a test case. No case is lost: the destructor runs those that are still pending.
class batch {
 public:
  using recorder = std::function<ndarray()>;
  using checker = std::function<void(const host_array&)>;

  explicit batch(std::size_t size = 40) : size_(size) {}
  ~batch() { finish(); }
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  /// Records now, and passes the result to `check` once a batch is full. An exception of recording or evaluating fails
  /// the case `what`. `record` runs once more if the evaluation of its batch throws.
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
