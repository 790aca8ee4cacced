// The calls of result_order_test.cpp, for the functions of headers that sinter.hpp does not include: more special functions
// and draws, distributed arrays, derivatives.
#include <doctest/doctest.h>

#include "ops/base/result_order.hpp"
#include "sinter/dist.hpp"
#include "sinter/grad.hpp"
#include "sinter/random_multivariate.hpp"
#include "sinter/special_more.hpp"
#include "sinter/special_parameters.hpp"

using namespace sinter;
using namespace sinter::test::result_order;

namespace {

ndarray small() { return floats() * 0.9; }  // within (0, 1)

/// In rows, on two parts of the CPU.
ndarray rows() {
  const std::vector<device> two{"cpu", "cpu"};
  return dist::shard(floats().to_device("cpu"), dist::mesh({2}, {.devices = two}), {dist::shard(0)});
}

}  // namespace

TEST_CASE("results lie in C order: special functions of other names") {
  check_all({
      CALL(special::yn(2, floats())),
      CALL(special::kn(2, floats())),
      CALL(special::psi(floats())),
      CALL(special::stdtr(3, floats())),
      CALL(special::stdtrit(3, small())),
      CALL(special::gdtrix(1.5, 2, small())),
      CALL(special::gdtria(small(), 2, 1.5)),
      CALL(special::huber(1.5, floats())),
      CALL(special::pseudo_huber(1.5, floats())),
      CALL(special::softplus(floats())),
      CALL(special::exp10(floats())),
      CALL(special::boxcox(floats(), 0.5)),
      CALL(special::boxcox1p(floats(), 0.5)),
      CALL(special::inv_boxcox(floats(), 0.5)),
      CALL(special::inv_boxcox1p(floats(), 0.5)),
      CALL(special::multigammaln(floats() + 9, 2)),
      CALL(special::bdtrik(small(), 20, 0.4)),
      CALL(special::bdtrin(3, small(), 0.4)),
      CALL(special::nbdtrik(small(), 5, 0.4)),
      CALL(special::nbdtrin(3, small(), 0.4)),
      CALL(special::pdtrik(small(), 4)),
      CALL(special::chdtriv(small(), 4)),
      CALL(special::stdtridf(small(), 2)),
      CALL(special::gdtrib(2, small(), 3)),
      CALL(special::btdtria(small(), 2, 0.5)),
      CALL(special::btdtrib(2, small(), 0.5)),
      CALL(special::nrdtrimn(small(), 2, 1)),
      CALL(special::nrdtrisd(0, small(), 1)),
      CALL(special::tklmbda(floats(), 0.14)),
      CALL(special::kolmogorov(floats())),
      CALL(special::logsumexp_with_sign(floats(), {.axis = 0, .b = floats(), .keepdims = true}).sign),
      CALL(sort_complex(floats())),
      CALL(random::multivariate_hypergeometric(array({5, 7, 3}), 6, 4)),
      CALL(stop_gradient(floats())),
  });
}

TEST_CASE("results lie in C order: parts of distributed arrays") {
  check_all({
      CALLS(dist::local(rows())),
      CALLS(dist::local(dist::redistribute(rows(), {dist::shard(1)}))),
      CALL(dist::gather(rows())),
  });
}
