// Functions of arrays that are recorded once and run again as they were planned: jit of JAX, compile of MLX.
// Not part of sinter.hpp.
//
//   const auto step = sn::compile([&](const params& p, const ndarray& x, const ndarray& y) {
//     auto [value, slope] = sn::value_and_grad(loss)(p, x, y);
//     return std::pair(value, params{p.w - 0.1 * slope.w, p.b - 0.1 * slope.b});
//   });
//   for (...) std::tie(value, p) = step(p, x, y);
//
// The first call with arguments of some shapes and dtypes calls the function, as a capture (graph.hpp): what it evaluates is
// planned and compiled, and becomes a program. Later calls with such arguments run the program on their elements, without
// calling the function, recording, differentiating, planning or looking up anything. Kernels are the same, so results have
// the bits of an ordinary call whose arguments and results are evaluated.
//
// So the function is to be one of its arguments, and to do nothing but to return. What a program cannot know throws; what
// cannot be seen is that the function would do something else in another call (a counter of its own, the time).
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/array_tree.hpp"
#include "sinter/grad_arguments.hpp"
#include "sinter/loops.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace detail {

/// The programs of one function.
class compiled_calls {
 public:
  using arrays = std::span<ndarray* const>;
  /// The function has been called, on what `arguments` were meanwhile: its results.
  using giver = std::function<void(arrays results)>;
  using caller = std::function<std::shared_ptr<const void>(const giver& give)>;

  compiled_calls();
  /// Whether calls are to be ordinary ones: what they record is followed by a derivative, a vmap or a capture.
  static bool are_followed();
  /// The arrays of the results. `key`: everything about the arguments but their arrays. `call` is called where there is no
  /// program yet, gives its results and keeps none, and returns a structure to put them in, `structure`.
  std::vector<ndarray> run(std::string key, arrays arguments, const caller& call,
                           std::shared_ptr<const void>& structure) const;
  std::size_t size() const;

 private:
  struct table;
  std::shared_ptr<table> table_;
};

/// One address for each type.
template <class T>
inline constexpr char type_place = 0;

inline void add_to_key(std::string& key, const void* from, std::size_t bytes) {
  key.append(static_cast<const char*>(from), bytes);
}
template <class T>
void add_number_to_key(std::string& key, T x) {
  static_assert(std::is_trivially_copyable_v<T>);
  add_to_key(key, &x, sizeof x);
}
template <class K>
void add_name_to_key(std::string& key, const K& name) {
  if constexpr (std::is_convertible_v<const K&, std::string_view>) {
    const std::string_view text(name);
    add_number_to_key(key, text.size());
    key += text;
  } else {
    static_assert(std::is_arithmetic_v<K> || std::is_enum_v<K>,
                  "sinter: compile takes maps whose keys are numbers or strings");
    add_number_to_key(key, name);
  }
}

/// What a structure is but for its arrays: numbers, how many parts there are, names.
template <class T>
void describe(std::string& key, T& x) {
  if constexpr (std::derived_from<T, ndarray>) {
    key += 'a';
  } else if constexpr (std::is_floating_point_v<T>) {
    add_number_to_key(key, static_cast<double>(x));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    add_number_to_key(key, x);
  } else if constexpr (!std::is_empty_v<T>) {
    if constexpr (is_sequence_tree<T>::value || is_map_tree<T>::value) add_number_to_key(key, x.size());
    if constexpr (is_optional_tree<T>::value) key += x ? '1' : '0';
    if constexpr (is_map_tree<T>::value)
      for (const auto& entry : x) add_name_to_key(key, entry.first);
    each_part(x, [&](auto& part) { describe(key, part); });
  }
}

}  // namespace detail

/// A function of arrays, or structures of arrays (array_tree.hpp), that is called once for each kind of arguments. Copies share their
/// programs.
template <class F>
class compiled_function {
 public:
  explicit compiled_function(F f) : f_(std::make_shared<const F>(std::move(f))) {}

  /// The result of f(a...), computed when the call returns. Numbers of floating-point type become arrays of shape () first, so
  /// that they may change, unless f takes numbers there; those, integers, bools and enumerations belong to the kind, as shapes
  /// and dtypes do: a program for each of their values. Where a derivative, a vmap, or a capture follows the call, it is a call
  /// of f.
  ///
  /// device_error: f reads elements on the host (a condition, item(), printing), waits, launches a graph, or computes something
  /// that cannot be captured on its device (graph.hpp says what), or arguments on several devices; value_error: f draws random
  /// numbers, writes arrays that are not its own, or leaves arrays elsewhere than in its result. Then nothing has happened.
  template <class... A>
    requires detail::takes_arguments<F, A...>
  auto operator()(const A&... a) const {
    auto arguments = detail::arguments_of<F>(a...);
    using arguments_type = decltype(arguments);
    using result_type = detail::carried<decltype(std::apply(*f_, std::as_const(arguments)))>;
    if (detail::compiled_calls::are_followed()) return result_type(std::apply(*f_, std::as_const(arguments)));
    std::string key;
    detail::add_number_to_key(key, &detail::type_place<std::pair<arguments_type, result_type>>);
    detail::describe(key, arguments);
    std::shared_ptr<const void> structure;
    const auto call = [&](const detail::compiled_calls::giver& give) -> std::shared_ptr<const void> {
      auto result = std::make_shared<result_type>(std::apply(*f_, std::as_const(arguments)));
      const std::vector<ndarray*> arrays = detail::array_list(*result);
      give(arrays);
      for (ndarray* const r : arrays) *r = ndarray();
      return result;
    };
    const std::vector<ndarray> results = calls_.run(std::move(key), detail::array_list(arguments), call, structure);
    result_type result = *static_cast<const result_type*>(structure.get());
    std::size_t at = 0;
    detail::each_array(result, [&](ndarray& r) { r = results[at++]; });
    return result;
  }

  /// How many programs there are: at most 64, of which the one that has not been called for longest makes room.
  std::size_t size() const { return calls_.size(); }

 private:
  std::shared_ptr<const F> f_;
  detail::compiled_calls calls_;
};

/// f as a function that is recorded once for each kind of arguments, and run again from then on: compiled_function says
/// when, and what throws. `compile(grad(f))`, `compile(vmap(f))`, steps of optimisers with loops in them: all that calls of f
/// would record, differentiate and plan each time is done by the first one.
///
/// Arrays that f uses besides its arguments are constants. Where one has been written since, or been replaced by another under
/// its name, f is called again.
template <class F>
compiled_function<F> compile(F f) {
  return compiled_function<F>(std::move(f));
}

}  // namespace sinter::inline v0
