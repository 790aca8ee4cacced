// Arrays as text: str(), repr() and array2string() of NumPy 2 under its options; the options themselves.
#include <doctest/doctest.h>

#include <sstream>
#include <thread>

#include "golden/golden.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

/// Options as they lie in the file; the texts live in `o`.
struct stored_options {
  print_options o;
  explicit stored_options(golden_file& f) {
    o.precision = static_cast<int>(f.varint());
    o.threshold = f.varint();
    o.edgeitems = static_cast<int>(f.varint());
    o.linewidth = static_cast<int>(f.varint());
    o.suppress = f.u8() != 0;
    o.nanstr = f.text();
    o.infstr = f.text();
    o.sign = f.text()[0];
    o.floatmode = static_cast<floatmode>(f.u8());
  }
  print_kw all() const {
    return {.precision = o.precision,
            .threshold = o.threshold,
            .edgeitems = o.edgeitems,
            .linewidth = o.linewidth,
            .suppress = o.suppress,
            .nanstr = o.nanstr,
            .infstr = o.infstr,
            .sign = o.sign,
            .floatmode = o.floatmode};
  }
};

std::string text_of(const ndarray& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

}  // namespace

TEST_CASE("str and repr are NumPy's, under all options") {
  golden_file f("printing.bin");
  CHECK(f.cases() > 1500);
  for (int i = 0; i < f.cases(); ++i) {
    const stored_options options(f);
    const host_array a = f.array();
    const std::string str = f.text(), repr = f.text();
    const ndarray x = upload(a);
    const std::string what = "case " + std::to_string(i) + ", " + show(a);
    CHECK_MESSAGE(array_str(x, options.all()) == str, what);
    CHECK_MESSAGE(array_repr(x, options.all()) == repr, what);
    const printoptions scope(options.all());
    CHECK_MESSAGE(to_string(x) == str, what);
    CHECK_MESSAGE(array_repr(x) == repr, what);
  }
  CHECK(f.at_end());
}

TEST_CASE("array2string is NumPy's, with separators, prefix and suffix") {
  golden_file f("array2string.bin");
  for (int i = 0; i < f.cases(); ++i) {
    const stored_options options(f);
    const std::string separator = f.text(), prefix = f.text(), suffix = f.text();
    const host_array a = f.array();
    const std::string expected = f.text();
    CHECK_MESSAGE(
        array2string(upload(a),
                     {.separator = separator, .prefix = prefix, .suffix = suffix, .options = options.all()}) ==
            expected,
        "case ", i, ", ", show(a));
  }
  CHECK(f.at_end());
}

TEST_CASE("half of the last place is rounded by the exact value, not by the shortest digits") {
  // NumPy 2: 5e-7 lies below the middle, 5e-6 above it, 0.5 is a tie.
  const auto text = [](double x, dtype type, int precision) {
    return array_str(asarray({x}, {.dtype = type}), {.precision = precision, .suppress = true});
  };
  CHECK(text(0.05, float64, 1) == "[0.1]");
  CHECK(text(5e-6, float64, 5) == "[0.00001]");
  CHECK(text(5e-7, float64, 6) == "[0.]");
  CHECK(text(0.5, float64, 0) == "[0.]");
  CHECK(text(0.05, float32, 1) == "[0.1]");
  CHECK(text(0.005, float32, 2) == "[0.]");
  CHECK(text(0.05, float16, 1) == "[0.]");
  CHECK(text(0.005, float16, 2) == "[0.01]");
}

TEST_CASE("print options are set, restored by guards, and a thread's own") {
  const print_options before = get_printoptions();
  CHECK(before.precision == 8);
  const ndarray x = array({1 / 3.0, 2.0});
  {
    const printoptions outer({.precision = 3});
    CHECK(text_of(x) == "[0.333 2.   ]");
    {
      const printoptions inner({.sign = '+', .floatmode = floatmode::fixed});
      CHECK(text_of(x) == "[+0.333 +2.000]");
      CHECK(get_printoptions().precision == 3);
    }
    CHECK(text_of(x) == "[0.333 2.   ]");
    std::string elsewhere;
    std::thread([&] { elsewhere = text_of(x); }).join();
    CHECK(elsewhere == "[0.33333333 2.        ]");
  }
  CHECK(text_of(x) == "[0.33333333 2.        ]");
  set_printoptions({.precision = 1, .nanstr = "?"});
  CHECK(text_of(array({0.25, NAN})) == "[0.2   ?]");
  set_printoptions({.precision = before.precision, .nanstr = before.nanstr});
  CHECK(get_printoptions().nanstr == "nan");
}

TEST_CASE("print options that make no sense are refused and change nothing") {
  CHECK_THROWS_AS(set_printoptions({.precision = -1}), value_error);
  CHECK_THROWS_AS(set_printoptions({.precision = 2, .sign = '*'}), value_error);
  CHECK_THROWS_AS(set_printoptions({.threshold = -1}), value_error);
  CHECK_THROWS_AS(set_printoptions({.edgeitems = 0}), value_error);
  CHECK_THROWS_AS(printoptions({.linewidth = 0}), value_error);
  CHECK_THROWS_AS(array_str(arange(3), {.linewidth = -5}), value_error);
  CHECK(get_printoptions().precision == 8);
  CHECK_THROWS_WITH_AS(array2string(arange(3), {.options = {.sign = 'x'}}),
                       "[array2string] sign is 'x'; -, + and blank are known", value_error);
}

TEST_CASE("of an array above the threshold only the edges are computed and copied") {
  const ndarray x = where(arange(2000) == 1000, 1e-9, 1.0);
  CHECK(to_string(x) == "[1. 1. 1. ... 1. 1. 1.]");
  const printoptions scope({.threshold = 5, .edgeitems = 1});
  CHECK(to_string(reshape(arange(12), {3, 4})) == "[[ 0 ...  3]\n ...\n [ 8 ... 11]]");
}

TEST_CASE("bfloat16 prints the shortest digits that tell it from its neighbours") {
  const ndarray x = array({0.1, 1.0, 2.5}, {.dtype = bfloat16});
  CHECK(to_string(x) == "[0.1 1.  2.5]");
  CHECK(array_repr(x) == "array([0.1, 1. , 2.5], dtype=bfloat16)");
  CHECK(to_string(array(0.1, {.dtype = bfloat16})) == "0.1");
  const printoptions scope({.precision = 3, .floatmode = floatmode::fixed});
  CHECK(to_string(x) == "[0.100 1.000 2.500]");
}

TEST_CASE("views print in their own order, selections and pending values too") {
  CHECK(to_string(reshape(arange(6), {2, 3}).T()) == "[[0 3]\n [1 4]\n [2 5]]");
  CHECK(to_string(arange(5)["::-2"]) == "[4 2 0]");
  CHECK(text_of(arange(5)[list{3, 1}] * 2) == "[6 2]");
}

TEST_CASE("dtypes, shapes and devices go to streams by name") {
  std::ostringstream out;
  out << float32 << ' ' << bool_ << ' ' << bfloat16 << ' ' << complex128 << ' ' << shape_t{2, 3} << ' ' << cuda(1);
  CHECK(out.str() == "float32 bool bfloat16 complex128 (2, 3) cuda:1");
}
