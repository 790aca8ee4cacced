// Calls of public functions with the extremes of their integer parameters. integer_parameters.sh fails if a header has
// an integer parameter that is missing in the tables.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "sinter/sinter.hpp"

namespace hostile {

namespace sn = sinter;
using sn::ndarray;
using std::int64_t;

inline constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
inline constexpr int64_t two_to_31 = int64_t{1} << 31, two_to_32 = int64_t{1} << 32;
inline constexpr int64_t extremes[] = {least, least + 1,     -two_to_32, -two_to_31 - 1, -two_to_31,    -1,       0,
                                       1,     two_to_31 - 1, two_to_31,  two_to_32,      two_to_32 + 1, most - 1, most};

/// A function (or field of keywords: "diff_kw.n") and a call of it. The text after a blank distinguishes calls.
struct extreme_case {
  template <class F>
  extreme_case(const char* n, F f) : name(n), call([f](int64_t k) { return arrays_of(f, k); }) {}
  std::string name;
  std::function<std::vector<ndarray>(int64_t)> call;

 private:
  template <class F>
  static std::vector<ndarray> arrays_of(const F& f, int64_t k) {
    using result = decltype(f(k));
    if constexpr (std::is_convertible_v<result, ndarray>) return {ndarray(f(k))};
    else if constexpr (std::is_same_v<result, std::vector<ndarray>>) return f(k);
    else return static_cast<void>(f(k)), std::vector<ndarray>();
  }
};

/// Evaluates arrays of few elements.
inline void evaluate_small(const std::vector<ndarray>& arrays) {
  std::size_t looked_at = 0;
  for (const ndarray& a : arrays) {
    if (!a.defined() || a.size() > 100000 || ++looked_at > 4) continue;
    sn::eval(a);
    sn::synchronize(a.device());
  }
}

/// Selects the CPU, with its memory limited to what tests intend to allocate, so that the memory size of the machine
/// does not matter.
struct little_memory {
  const sn::device before = sn::default_device();
  little_memory() {
    sn::set_default_device(sn::cpu);
    sn::memory_pool(sn::cpu).set_limit(std::size_t{256} << 20);
  }
  ~little_memory() {
    sn::memory_pool(sn::cpu).set_limit(0);
    sn::set_default_device(before);
  }
};

/// Processor time of the calling thread in seconds.
inline double thread_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Checks that each call returns, or throws an error of the library's types, within two seconds of processor time.
inline void check_extremes(const std::vector<extreme_case>& cases) {
  const little_memory limit;
  for (const extreme_case& c : cases)
    for (const int64_t k : extremes) {
      INFO(c.name << " with " << k);
      const double begin = thread_seconds();
      std::string other;
      bool base = false;
      try {
        evaluate_small(c.call(k));
      } catch (const sn::error& e) {
        base = typeid(e) == typeid(sn::error);  // the base class itself
        other = base ? e.what() : "";
      } catch (const std::exception& e) {
        other = e.what();
      }
      CHECK(other == "");
      CHECK(thread_seconds() - begin < 2);
    }
}

}  // namespace hostile
