// What goes between brackets: integers, slices, newaxis, ellipsis, arrays and lists of indices or bools, and subscripts
// checked at compile time.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sinter/scalar.hpp"
#include "sinter/shape.hpp"

namespace sinter::inline v0 {

/// `_`: a slice bound left out, or as an index the whole axis.
struct none_t {
  explicit constexpr none_t(int) noexcept {}
};
/// A new axis of extent 1.
struct newaxis_t {
  explicit newaxis_t() = default;
};
/// All axes that the other indices leave over.
struct ellipsis_t {
  explicit ellipsis_t() = default;
};

namespace detail {
template <int_like T>
constexpr std::int64_t saturate(T v) noexcept {
  return std::in_range<std::int64_t>(v) ? static_cast<std::int64_t>(v) : std::numeric_limits<std::int64_t>::max();
}
}  // namespace detail

/// A slice bound: an integer or nothing.
struct bound {
  std::int64_t value = 0;
  bool given = false;
  template <int_like T>
  constexpr bound(T v) noexcept : value(detail::saturate(v)), given(true) {}
  constexpr bound(none_t) noexcept {}
};

/// start:stop:step, each of which may be `_`. A step of zero is refused where the slice is used.
struct slice {
  bound start, stop, step;
  constexpr slice(bound last) noexcept : start(none_t{0}), stop(last), step(none_t{0}) {}
  constexpr slice(bound first, bound last, bound by = none_t{0}) noexcept : start(first), stop(last), step(by) {}
};

class list_node;

/// Indices or bools written in place: `x(list{0, 2, 5})`, `x(list{{0, 1}, {2, 3}}, _)`, `x(list{true, false})`; also
/// made of a vector of integers. Indices out of range throw index_error at once. shape_error: ragged lists; dtype_error:
/// other numbers, or numbers beside bools.
class list {
 public:
  list() : shape_(0) {}
  list(std::initializer_list<list_node> items);
  template <int_like T>
  list(const std::vector<T>& items) : shape_(items.size()) {
    for (const T i : items) numbers_.push_back(detail::saturate(i));
  }

  /// C order; of bools 0 and 1.
  const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }
  const shape_t& shape() const noexcept { return shape_; }
  bool is_mask() const noexcept { return mask_; }

 private:
  std::vector<std::int64_t> numbers_;
  shape_t shape_;
  bool mask_ = false;
};

enum class index_kind : std::uint8_t { integer, slice, newaxis, ellipsis, array, list };

namespace detail {
/// An index that is no array and no list.
struct basic_index {
  index_kind kind = index_kind::integer;
  sinter::slice range = bound(0);  // of an integer, its stop
};
}  // namespace detail

/// One index of `x(...)`. It keeps arrays and lists, so that keys can be made at run time: `std::vector<index>`.
class index {
 public:
  template <int_like T>
  index(T i) noexcept : basic_{index_kind::integer, bound(i)} {}
  index(const slice& s) noexcept : basic_{index_kind::slice, s} {}
  index(none_t) noexcept : basic_{index_kind::slice, bound(none_t{0})} {}
  index(newaxis_t) noexcept : basic_{index_kind::newaxis} {}
  index(ellipsis_t) noexcept : basic_{index_kind::ellipsis} {}
  index(const detail::basic_index& i) noexcept : basic_(i) {}
  /// Integers: positions along an axis. Bools: the elements where it is true.
  index(const ndarray& a);
  index(const sinter::list& l) : basic_{index_kind::list}, list_(std::make_shared<const sinter::list>(l)) {}
  // Moving copies, so that there is always an array where the kind says so.
  index(const index&) = default;
  index& operator=(const index&) = default;

  index_kind kind() const noexcept { return basic_.kind; }
  std::int64_t integer() const noexcept { return basic_.range.stop.value; }
  const sinter::slice& range() const noexcept { return basic_.range; }
  /// Only of their kinds.
  const ndarray& array() const noexcept { return *array_; }
  const sinter::list& items() const noexcept { return *list_; }

 private:
  detail::basic_index basic_;
  std::shared_ptr<const ndarray> array_;
  std::shared_ptr<const sinter::list> list_;
};
template <class T>
concept index_like = std::convertible_to<const T&, index>;

/// A whole subscript as text, parsed while compiling: "1:-1, ::2", "None, :, 0", "..., 3". Text that Python would not
/// take does not compile. At most 16 items.
class subscript {
 public:
  static constexpr int max_items = 16;

  template <std::size_t N>
  consteval subscript(const char (&text)[N]) : subscript(text, N - 1) {}

  constexpr const detail::basic_index* begin() const noexcept { return items_; }
  constexpr const detail::basic_index* end() const noexcept { return items_ + count_; }
  constexpr int size() const noexcept { return count_; }

 private:
  struct parser {
    const char* at;
    const char* end;

    constexpr void skip() {
      while (at != end && (*at == ' ' || *at == '\t')) ++at;
    }
    constexpr bool take(char c) {
      skip();
      if (at == end || *at != c) return false;
      ++at;
      return true;
    }
    constexpr bool take_word(const char* word) {
      skip();
      const char* p = at;
      for (; *word; ++word, ++p)
        if (p == end || *p != *word) return false;
      at = p;
      return true;
    }
    constexpr bound number() {
      skip();
      const bool minus = take('-');
      if (!minus) take('+');
      skip();
      if (at == end || *at < '0' || *at > '9') throw "sinter: subscript: a number is missing after the sign";
      std::int64_t v = 0;
      for (; at != end && *at >= '0' && *at <= '9'; ++at) {
        if (v > (std::numeric_limits<std::int64_t>::max() - 9) / 10) throw "sinter: subscript: number too large";
        v = v * 10 + (*at - '0');
      }
      return bound(minus ? -v : v);
    }
    constexpr bool at_number() {
      skip();
      return at != end && ((*at >= '0' && *at <= '9') || *at == '-' || *at == '+');
    }
    constexpr bound optional_number() { return at_number() ? number() : bound(none_t{0}); }
    constexpr detail::basic_index item() {
      if (take_word("...")) return {index_kind::ellipsis};
      if (take_word("None") || take_word("newaxis")) return {index_kind::newaxis};
      if (!at_number() && (at == end || *at != ':')) throw "sinter: subscript: unexpected character, or an empty item";
      const bound first = optional_number();
      if (!take(':')) return {index_kind::integer, first};
      const bound last = optional_number();
      bound by = none_t{0};
      if (take(':')) by = optional_number();
      if (by.given && by.value == 0) throw "sinter: subscript: slice step is zero";
      return {index_kind::slice, slice(first, last, by)};
    }
  };

  consteval subscript(const char* text, std::size_t length) {
    parser p{text, text + length};
    bool dots = false;
    do {
      if (count_ == max_items) throw "sinter: subscript: more than 16 items";
      items_[count_] = p.item();
      if (items_[count_].kind == index_kind::ellipsis) {
        if (dots) throw "sinter: subscript: two ellipses";
        dots = true;
      }
      ++count_;
    } while (p.take(','));
    p.skip();
    if (p.at != p.end) throw "sinter: subscript: unexpected character";
  }

  detail::basic_index items_[max_items]{};
  int count_ = 0;
};

// Before C++23 `x[a, b]` is `x[b]` by the comma operator. Comma operators of what is written between brackets only are
// deleted. Arrays and keys are more than that (`++i, x += y` is good C++), and the comma of two integers or texts is the
// language's own: there the compiler's warning becomes an error.
namespace detail {
template <class T, class... U>
concept one_of = (std::same_as<T, U> || ...);
template <class T>
concept index_token = one_of<T, slice, none_t, newaxis_t, ellipsis_t, list, subscript>;
}  // namespace detail
template <detail::index_token A, class B>
void operator,(const A&, const B&) = delete;
template <class A, detail::index_token B>
  requires(!detail::index_token<A>)
void operator,(const A&, const B&) = delete;

}  // namespace sinter::inline v0

#ifndef __cpp_multidimensional_subscript
#if defined(__clang__)
#pragma clang diagnostic error "-Wdeprecated-comma-subscript"
#elif defined(__GNUC__)
#pragma GCC diagnostic error "-Wcomma-subscript"
#endif
#endif
