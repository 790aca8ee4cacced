// The stream of words against cuRAND itself, whose host generator needs no GPU, and against its device functions.
#ifdef SINTER_HAS_CURAND

#include <curand.h>
#include <vector_types.h>
#define QUALIFIERS static inline
#include <curand_philox4x32_x.h>

#include "ops/random/reference.hpp"
#include "platform/optional_library.hpp"

using namespace sinter;
using sinter::random::generator;
using sinter::random::generator_state;

namespace {

#define CURAND_FUNCTIONS(F)             \
  F(curandCreateGeneratorHost)          \
  F(curandSetPseudoRandomGeneratorSeed) \
  F(curandSetGeneratorOrdering)         \
  F(curandGenerate)                     \
  F(curandDestroyGenerator)
SINTER_FUNCTION_TABLE(curand_api, CURAND_FUNCTIONS);

}  // namespace

TEST_CASE("random: blocks are those of cuRAND's device functions") {
  const std::uint64_t states[][3] = {{0, 0, 0}, {0x123456789abcdef0, 0xfffffffe, 3}, {7, 0x1234567890, 0xffffffff01}};
  for (const auto& [key, block, subsequence] : states) {
    generator g(generator_state{key, block, subsequence, 0});
    const auto got = random_test::words(g, 400).to_vector<std::uint32_t>();
    // What curand_init(key, subsequence, 4 * block, &state) makes, and 100 calls of curand4.
    curandStatePhilox4_32_10_t state{};
    state.key = {unsigned(key), unsigned(key >> 32)};
    Philox_State_Incr_hi(&state, subsequence);
    Philox_State_Incr(&state, block);
    for (std::size_t k = 0; k < 400; k += 4) {
      const uint4 x = curand_Philox4x32_10(state.ctr, state.key);
      REQUIRE(got[k] == x.x);
      REQUIRE(got[k + 1] == x.y);
      REQUIRE(got[k + 2] == x.z);
      REQUIRE(got[k + 3] == x.w);
      Philox_State_Incr(&state);
    }
  }
}

TEST_CASE("random: block b of subsequence s is block 65536 * b + s of cuRAND's bulk generator") {
  static const auto& library =
      platform::open_library<curand_api>(platform::toolkit_library("cuRAND", {SINTER_CURAND_SONAME}));
  if (!library.usable) {
    MESSAGE("left out: " << library.tried);
    return;
  }
  const curand_api& api = library.api;
  constexpr std::uint64_t seed = 0xfeedfacecafebeefu;
  curandGenerator_t bulk = nullptr;
  REQUIRE(api.curandCreateGeneratorHost(&bulk, CURAND_RNG_PSEUDO_PHILOX4_32_10) == CURAND_STATUS_SUCCESS);
  CHECK(api.curandSetGeneratorOrdering(bulk, CURAND_ORDERING_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
  CHECK(api.curandSetPseudoRandomGeneratorSeed(bulk, seed) == CURAND_STATUS_SUCCESS);
  std::vector<std::uint32_t> all(4 * 65536 * 3);
  CHECK(api.curandGenerate(bulk, all.data(), all.size()) == CURAND_STATUS_SUCCESS);
  CHECK(api.curandDestroyGenerator(bulk) == CURAND_STATUS_SUCCESS);
  for (const std::uint64_t s : {0u, 1u, 2u, 77u, 4095u, 40000u, 65535u}) {
    generator g(generator_state{seed, 0, s, 0});
    const auto got = random_test::words(g, 12).to_vector<std::uint32_t>();
    for (std::size_t k = 0; k < 12; ++k) CHECK(got[k] == all[4 * (65536 * (k / 4) + s) + k % 4]);
  }
}

#endif
