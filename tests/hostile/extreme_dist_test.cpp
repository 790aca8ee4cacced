// Extremes of integers in distributed arrays.
#include "hostile/extreme_integers.hpp"
#include "sinter/dist.hpp"

using namespace hostile;

namespace {

namespace dist = sn::dist;

dist::mesh two() { return dist::mesh({2}, {.devices = {sn::default_device(), sn::default_device()}}); }
ndarray parts() { return dist::shard(sn::ones({3, 4}), two(), {dist::shard(0)}); }

}  // namespace

TEST_CASE("extreme integers: distributed arrays") {
  check_extremes({
      {"mesh", [](int64_t k) { return dist::mesh({k}).size(); }},
      {"from_local",
       [](int64_t k) {
         return dist::gather(dist::from_local({sn::ones({2}), sn::ones({2})}, {k}, two(), {dist::shard(0)}));
       }},
      {"shard",
       [](int64_t k) {
         return dist::gather(dist::shard(sn::ones({3, 4}), two(), {dist::shard(k)}));
       }},
      {"placement",
       [](int64_t k) {
         return dist::gather(dist::redistribute(parts(), {dist::placement(dist::placement::kind::shard, k)}));
       }},
      {"gather", [](int64_t k) { return dist::gather(parts(), k); }},
  });
}
