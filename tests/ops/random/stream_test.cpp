// The stream of words: Philox's known answers, blocks, states, jumps, children, threads.
#include <algorithm>
#include <set>
#include <thread>

#include "ops/random/reference.hpp"

using namespace sinter;
using random_test::words;
using sinter::random::generator;
using sinter::random::generator_state;
using word_list = std::vector<std::uint32_t>;

namespace {

word_list drawn_words(generator g, std::int64_t n) { return words(g, n).to_vector<std::uint32_t>(); }

}  // namespace

TEST_CASE("random: the words are those of Philox4x32-10's published known answers") {
  // Random123's kat_vectors: counter and key of zeros, of ones, and of the digits of pi.
  CHECK(drawn_words(generator(0), 4) == word_list{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(drawn_words(generator(generator_state{ones, ones, ones, 0}), 4) ==
        word_list{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  const generator_state pi{0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e, 0};
  CHECK(drawn_words(generator(pi), 4) == word_list{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: element k of a draw is word k after the generator's block, across the carry of the counter") {
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{0xfffffffe}, ~std::uint64_t{0} - 2}) {
    const generator g(generator_state{77, block, 5, 0});
    const auto reference = random_test::expected<std::uint32_t>(
        g, 1000, [](std::int64_t p, const sn::random_stream& s) { return sn::random_word(p, s); });
    CHECK(drawn_words(g, 1000) == reference);
    const sn::random_words second = sn::philox({unsigned(block + 1), unsigned((block + 1) >> 32), 5, 0}, 77, 0);
    CHECK(reference[4] == second.w0);
    CHECK(reference[7] == second.w3);
  }
}

TEST_CASE("random: 64-bit numbers take two words, low one first; a draw begins at a fresh block") {
  generator g(3);
  const auto low = drawn_words(g, 12);
  const auto pairs =
      g.integers(0, 0xffffffffffffffffu, 3, {.dtype = uint64, .endpoint = true}).to_vector<std::uint64_t>();
  for (std::size_t k = 0; k < 3; ++k) CHECK(pairs[k] == (std::uint64_t{low[2 * k + 1]} << 32 | low[2 * k]));
  CHECK(g.state().block == 2);
  CHECK(words(g, 1).item<std::uint32_t>() == low[8]);
  CHECK(g.state().block == 3);
  g.random(0);
  CHECK(g.state().block == 3);
  g.standard_normal({2, 5}, {.dtype = float32});
  CHECK(g.state().block == 6);
  g.standard_normal({2, 5});
  CHECK(g.state().block == 11);
  g.gamma(2.0, 1.0, 10);
  CHECK(g.state().block == 21);
}

TEST_CASE("random: a state is saved and restored; a copy repeats; seed begins again") {
  generator g(11);
  g.random(100);
  const generator_state saved = g.state();
  const auto first = g.random(50).to_vector<double>();
  CHECK(g.state() != saved);
  generator copy(saved);
  CHECK(copy.random(50).to_vector<double>() == first);
  CHECK(copy.state() == g.state());
  g.set_state(saved);
  generator assigned(0);
  assigned = g;
  CHECK(assigned.random(50).to_vector<double>() == first);
  g.seed(11);
  CHECK(g.state() == generator_state{11, 0, 0, 0});
  CHECK_THROWS_WITH_AS(generator(-1), doctest::Contains("[random]"), value_error);
  CHECK_THROWS_AS(g.seed(-3), value_error);
}

TEST_CASE("random: advance moves by blocks, jump by subsequences") {
  generator g(9), moved(9);
  words(g, 40);
  moved.advance(10);
  CHECK(moved.state() == g.state());
  moved.advance(-10);
  CHECK(moved.state() == generator_state{9, 0, 0, 0});
  CHECK(generator(9).jumped(3).state() == generator_state{9, 0, 3, 0});
  g.jump();
  CHECK(g.state() == generator_state{9, 10, 1, 0});
  // Block b of subsequence s: a counter of which s is the upper half.
  const sn::random_words x = sn::philox({10, 0, 1, 0}, 9, 0);
  CHECK(drawn_words(g, 4) == word_list{x.w0, x.w1, x.w2, x.w3});
}

TEST_CASE("random: the keys of children are NumPy's SeedSequence(entropy=key, spawn_key=(number,))") {
  // np.random.SeedSequence(entropy=key, spawn_key=(i,)).generate_state(1, np.uint64)[0]
  struct {
    std::uint64_t key, number, child;
  } const known[] = {
      {0x0, 0x0, 0x784dfb2cdff7b411},
      {0x0, 0x1, 0x43bfff7a2820a7af},
      {0x0, 0x7, 0xe17aec9d015f2508},
      {0x0, 0x100000005, 0x36c26f8c8055107c},
      {0x1, 0x0, 0x7503ef9461d5f260},
      {0x1, 0x1, 0x381a7dbd56ac383b},
      {0x1, 0x7, 0xd6905dd5b983cdb5},
      {0x1, 0x100000005, 0x8df00b8a37acea95},
      {0x3039, 0x0, 0xbe87e4f4392bfa59},
      {0x3039, 0x1, 0x1564711756dbd8a6},
      {0x3039, 0x7, 0xb7a1d650e2acf91e},
      {0x3039, 0x100000005, 0xa74450b8b922544c},
      {0x100000000, 0x0, 0x2a7cf888a832b0fa},
      {0x100000000, 0x1, 0x6c1aa68474c73928},
      {0x100000000, 0x7, 0xb00c3d23ade3646b},
      {0x100000000, 0x100000005, 0x1365c9c05998fe40},
      {0xfedcba9876543210, 0x0, 0x1d362324d72c9214},
      {0xfedcba9876543210, 0x1, 0x9b0fe8a305c2c86b},
      {0xfedcba9876543210, 0x7, 0x311938e88fa4b8ec},
      {0xfedcba9876543210, 0x100000005, 0x76a7f7ce79a6eef9},
  };
  for (const auto& k : known) {
    generator g(generator_state{k.key, 4, 2, k.number});
    const auto children = g.spawn(1);
    CHECK(children[0].state() == generator_state{k.child, 0, 0, 0});
    CHECK(g.state() == generator_state{k.key, 4, 2, k.number + 1});
  }
  generator g(5);
  const auto first = g.spawn(3), later = g.spawn(2);
  std::set<std::uint64_t> keys{5};
  for (const auto* list : {&first, &later})
    for (const generator& child : *list) {
      keys.insert(child.state().key);
      generator parent(child);
      keys.insert(parent.spawn(1)[0].state().key);
    }
  CHECK(keys.size() == 11);
}

TEST_CASE("random: threads that draw from one generator get blocks of their own") {
  generator g(21);
  std::vector<word_list> got(8);
  std::vector<std::thread> threads;
  for (word_list& to : got)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k)
        for (const std::uint32_t w : words(g, 64).to_vector<std::uint32_t>()) to.push_back(w);
    });
  for (auto& t : threads) t.join();
  word_list all;
  for (const word_list& part : got) all.insert(all.end(), part.begin(), part.end());
  word_list reference = drawn_words(generator(21), 8 * 20 * 64);
  std::sort(all.begin(), all.end());
  std::sort(reference.begin(), reference.end());
  CHECK(all == reference);
}

TEST_CASE("random: the process has a generator of its own, which can be seeded") {
  const generator_state before = random::get_state();
  random::seed(5);
  const auto first = random::normal(1, 2, 10).to_vector<double>();
  CHECK(first == generator(5).normal(1, 2, 10).to_vector<double>());
  random::set_state(before);
  CHECK(random::default_generator().state() == before);
  CHECK(generator().state().key != generator().state().key);
  CHECK(random::default_rng(7).state() == generator(7).state());
}

TEST_CASE("random: an element is the same whether its position is one number or a sum") {
  const sn::random_stream s{11, (std::uint64_t{5} << 32) - 3000, 2};
  const std::int64_t start = 8192;
  REQUIRE_FALSE(sn::share_upper_half<float>(s, start, 8192));
  REQUIRE(sn::share_upper_half<float>(s, start - 4096, 2048));
  REQUIRE(sn::share_upper_half<float>(s, start + 4096, 8192));
  CHECK_FALSE(sn::share_upper_half<double>(s, 4096, 2048));
  CHECK(sn::share_upper_half<double>(s, 6144, 2048));
  for (const std::int64_t chunk : {std::int64_t{4096}, start + 4096})
    for (int of = 0; of < 2048; of += 4)
      for (int l = 0; l < 4; ++l) {
        // Threads take 1, 2 or 4 neighbours.
        const std::int64_t position = chunk + of + l, thread = of % 512;
        for (const int lanes : {1, 2, 4}) {
          const int own = l / lanes * lanes;
          const sn::random_place p{chunk + thread + own, (of - int(thread)) | (l - own)};
          REQUIRE(sn::position_of(p) == position);
          REQUIRE(sn::random_bits<unsigned>(p, s) == sn::random_bits<unsigned>(position, s));
          REQUIRE(sn::random_normal<float>(p, s) == sn::random_normal<float>(position, s));
          REQUIRE(sn::random_exponential<float>(p, s) == sn::random_exponential<float>(position, s));
          REQUIRE(sn::random_below<unsigned>(p, 9u << 28, s) == sn::random_below<unsigned>(position, 9u << 28, s));
          REQUIRE(sn::random_uniform<float>(p, s) == sn::random_uniform<float>(position, s));
        }
      }
  for (int k = 0; k < 2048; ++k) {
    const sn::random_place p{6144 + k % 512, k - k % 512};
    REQUIRE(sn::random_bits<unsigned long long>(p, s) == sn::random_bits<unsigned long long>(6144 + k, s));
    REQUIRE(sn::random_normal<double>(p, s) == sn::random_normal<double>(6144 + k, s));
    REQUIRE(sn::random_exponential<double>(p, s) == sn::random_exponential<double>(6144 + k, s));
    REQUIRE(sn::random_uniform<double>(p, s) == sn::random_uniform<double>(6144 + k, s));
    REQUIRE(sn::random_below<unsigned long long>(p, 1ull << 63, s) ==
            sn::random_below<unsigned long long>(6144 + k, 1ull << 63, s));
  }
}
