// Checked mode: an index out of range in a user's text is an index_error that names the array, and touches no other
// memory.
#include "support/kernel_test.hpp"

#include <cstring>

#include "graph/plan/plan.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/program/fault_words.hpp"
#include "jit/program/index_check.hpp"
#include "runtime/backend.hpp"
#include "support/fresh_cache.hpp"

using namespace sinter;
using namespace sinter::test;
using sinter_test::no_compiler;

namespace {

struct checked {
  bool before = jit::checks_index();
  device device_before = default_device();
  explicit checked(bool on = true) {
    jit::set_checks_index(on);
    set_default_device(device("cpu"));
  }
  ~checked() {
    jit::set_checks_index(before);
    set_default_device(device_before);
  }
};

/// What evaluating says, up to where it names the kernel that found it.
template <class Call>
std::string refusal(Call call) {
  const std::string text = message_of<index_error>([&] {
    call();
    synchronize();
  });
  return text.substr(0, text.find(" (found by"));
}

}  // namespace

TEST_CASE("checked index: a read by position or by coordinates names function, argument, axis and extent") {
  if (no_compiler()) return;
  const checked mode;
  const elementwise_kernel at("raw T x, int64 k", "T z", "z = x[k];", "at");
  const elementwise_kernel at2("T w, raw T other, raw T x, int64 k, int64 j", "T z", "z = w + other[0] + x(k, j);",
                               "at2");
  const ndarray x = arange(10.0), m = reshape(arange(12.0), {3, 4}), w = zeros({1});
  const auto read = [&](std::int64_t k) { eval(at(x, full({5}, k))); };
  CHECK(refusal([&] { read(12); }) == "[at] index 12 of argument x is out of range for extent 10");
  CHECK(refusal([&] { read(10); }) == "[at] index 10 of argument x is out of range for extent 10");
  CHECK(refusal([&] { read(-1); }) == "[at] index -1 of argument x is out of range for extent 10");
  CHECK(refusal([&] { read(INT64_MIN); }).find("index -9223372036854775808 of argument x") != std::string::npos);
  CHECK(refusal([&] { read(INT64_MAX); }).find("index 9223372036854775807 of argument x") != std::string::npos);
  CHECK(refusal([&] { eval(at(zeros({0}), zeros({2}, {.dtype = int64}))); }) ==
        "[at] index 0 of argument x is out of range for extent 0");
  const auto read2 = [&](int k, int j) { eval(at2(w, x, m, std::int64_t{k}, std::int64_t{j})); };
  CHECK(refusal([&] { read2(3, 0); }) == "[at2] index 3 of argument x is out of range for axis 0 with extent 3");
  CHECK(refusal([&] { read2(0, -2); }) == "[at2] index -2 of argument x is out of range for axis 1 with extent 4");
  // Elements in range are unchanged, and the fault is cleared.
  CHECK(elements<double>(at(x, arange(10))) == x.to_vector<double>());
  CHECK(at2(w, x, m, std::int64_t{2}, std::int64_t{3}).item<double>() == 11);
}

TEST_CASE("checked index: writes and atomic operations out of range change nothing, those in range happen") {
  if (no_compiler()) return;
  const checked mode;
  for (const dtype t : {int8, int32, float32, float64, float16, bfloat16, uint8, bool_, complex64, complex128}) {
    CAPTURE(t);
    const elementwise_kernel put("T v, int64 k", "raw T z", "z[k] = v;", "put");
    // Before and after the array that is written there are others, which must not change.
    ndarray all = zeros({64}, {.dtype = t});
    eval(all);
    const ndarray part = all(slice(16, 32));
    const ndarray where = array({0, 3, 16, -1, 15, 1000000000, -1000000000});
    CHECK(refusal([&] {
            put(ones({7}, {.dtype = t}), where, {.out = {part}});
          }).find("of argument z is out of range") != std::string::npos);
    const auto hit = nonzero(all)[0].to_vector<std::int64_t>();
    CHECK(hit == longs{16, 19, 31});
  }
  const elementwise_kernel count("int64 k", "raw int32 h", "atomic_add(h, k, 1); atomic_max(h, k + 100, 7);", "count");
  const ndarray h = zeros({4}, {.dtype = int32});
  CHECK(refusal([&] {
          count(array({0, 1, 1, 5}), {.out = {h}});
        }) == "[count] index 100 of argument h is out of range for extent 4");
  CHECK(elements<std::int32_t>(h) == ints{1, 2, 0, 0});
  const elementwise_kernel plus2("int64 k", "raw float32 h", "h(k, 1) += 2; h(k, 0) = h(k, 1);", "plus2");
  const ndarray h2 = ones({3, 2}, {.dtype = float32});
  CHECK(refusal([&] {
          plus2(array({2, 3}), {.out = {h2}});
        }) == "[plus2] index 3 of argument h is out of range for axis 0 with extent 3");
  CHECK(elements<float>(h2) == floats{1, 1, 1, 1, 3, 3});
}

TEST_CASE("checked index: sub-arrays of generalised kernels are checked by themselves, by the user's names and axes") {
  if (no_compiler()) return;
  const checked mode;
  const generalized_kernel row("(n,m)->()", "T x", "T z", "z = x(0, m);", "row");
  const generalized_kernel flat("(n)->()", "T x", "T z", "z = x[n];", "flat");
  const generalized_kernel before("(n)->()", "T x", "T z", "z = x[-1];", "before");
  const generalized_kernel fill("(n)->(n)", "T x", "T z", "for (long long k = 0; k <= n; ++k) z[k] = x[k % n];",
                                "fill");
  CHECK(refusal([&] {
          eval(row(ones({5, 2, 3})));
        }) == "[row] index 3 of argument x is out of range for axis 1 with extent 3");
  CHECK(refusal([&] { eval(flat(ones({5, 4}))); }) == "[flat] index 4 of argument x is out of range for extent 4");
  CHECK(refusal([&] { eval(before(ones({5, 4}))); }) == "[before] index -1 of argument x is out of range for extent 4");
  CHECK(refusal([&] { eval(fill(ones({5, 4}))); }) == "[fill] index 4 of argument z is out of range for extent 4");
}

TEST_CASE("checked index: the first fault of a kernel is told once, and others of the library's come as before") {
  if (no_compiler()) return;
  const checked mode;
  const function pick("T pick(raw T x, int64 k)", "return x[k];");
  const ndarray x = arange(5);
  CHECK(refusal([&] { eval(pick(x, arange(7))); }) == "[pick] index 5 of argument x is out of range for extent 5");
  CHECK_NOTHROW(synchronize());
  CHECK(refusal([&] { eval(take(x, array({9}))); }).find("[index]") == 0);
  CHECK_NOTHROW(eval(pick(x, arange(5))));
}

TEST_CASE("checked index: checked and unchecked kernels have keys of their own in one process") {
  if (no_compiler()) return;
  const function pick("T pick_key(raw T x, int64 k)", "return x[k];");
  const ndarray x = arange(5, {.device = "cpu"}), inside = arange(5, {.device = "cpu"});
  const auto source = [&] { return explain(pick(x, inside), {.source = true}); };
  std::string with, without;
  for (int round = 0; round < 2; ++round) {
    {
      const checked off(false);
      without = source();
      CHECK(pick(x, inside).to_vector<std::int64_t>() == longs{0, 1, 2, 3, 4});
    }
    const checked on;
    with = source();
    CHECK(contains(refusal([&] { eval(pick(x, inside + 1)); }), "index 5 of argument x"));
  }
  CHECK(contains(with, "sn::checked("));
  CHECK_FALSE(contains(without, "sn::checked("));
}

TEST_CASE(
    "checked index: a function is found by the hash in its symbol, and an unknown one is described all the same") {
  jit::user_function f;
  f.name = "found";
  f.inputs.push_back({.name = "a", .type = dtype::f32, .opaque = {}});
  f.inputs.push_back({.name = "b", .type = dtype::f32, .raw = true, .rank = 1, .opaque = {}});
  f.outputs.push_back({.name = "c", .type = dtype::f32, .opaque = {}});
  f.outputs.push_back({.name = "d", .type = dtype::f32, .raw = true, .rank = 2, .opaque = {}});
  const jit::user_function* known = jit::intern(f);
  const std::uint64_t hash = std::stoull(known->symbol.substr(known->symbol.size() - 16), nullptr, 16);
  CHECK(jit::find_function(hash) == known);
  CHECK(jit::describe({hash, 1, -1, 7, 3}) == "[found] index 7 of argument b is out of range for extent 3");
  CHECK(jit::describe({hash, 2, 1, -7, 3}) ==
        "[found] index -7 of argument d is out of range for axis 1 with extent 3");
  CHECK(jit::find_function(hash + 1) == nullptr);
  CHECK(jit::describe({hash + 1, 0, -1, 7, 3}) == "[kernel] index 7 of argument an array is out of range for extent 3");
  CHECK(jit::checked_array("x", "a->fault", *known, 2) ==
        "sn::checked(x, a->fault, 0x" + known->symbol.substr(4) + "ull, 2)");
}

TEST_CASE("checked index: a kernel with calls may find a fault in each of them, and in checked mode only") {
  jit::program p;
  CHECK(graph::fault_count(p) == 0);
  p.calls.resize(2);
  CHECK(graph::fault_count(p) == 0);
  p.flags.check_index = true;
  CHECK(graph::fault_count(p) == 2);
}

TEST_CASE("checked index: the words of a fault come back as they were written") {
  const std::uint64_t function = 0xfedcba9876543210u;
  const std::int64_t value = -5000000000, extent = 6000000000;
  int words[jit::fault_words] = {static_cast<int>(runtime::data_fault::user_index), 3 * 256 + 2 + 1};
  std::memcpy(words + 2, &value, sizeof value);
  std::memcpy(words + 4, &extent, sizeof extent);
  std::memcpy(words + 6, &function, sizeof function);
  runtime::bad_index bad;
  CHECK(runtime::read_fault(words, &bad) == runtime::data_fault::user_index);
  CHECK(bad.access.function == function);
  CHECK(bad.access.operand == 3);
  CHECK(bad.access.axis == 2);
  CHECK(bad.access.value == value);
  CHECK(bad.access.extent == extent);
}
