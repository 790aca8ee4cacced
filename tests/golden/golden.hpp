// Reader of the golden files that tests/golden/make/make_golden.py writes, and the comparison of arrays with their
// contents.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/sinter.hpp"
#include "support/ulp.hpp"

namespace sinter::test {

/// Elements in host memory, C order.
struct host_array {
  dtype type{};
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  std::int64_t size() const noexcept;
};

/// Calls f with a value-initialised element of the dtype's C++ type.
template <class F>
decltype(auto) with_element(dtype t, F&& f) {
  switch (t) {
    case dtype::b1: return f(bool{});
    case dtype::i8: return f(std::int8_t{});
    case dtype::i16: return f(std::int16_t{});
    case dtype::i32: return f(std::int32_t{});
    case dtype::i64: return f(std::int64_t{});
    case dtype::u8: return f(std::uint8_t{});
    case dtype::u16: return f(std::uint16_t{});
    case dtype::u32: return f(std::uint32_t{});
    case dtype::u64: return f(std::uint64_t{});
    case dtype::f16: return f(half{});
    case dtype::bf16: return f(bfloat{});
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::c64: return f(std::complex<float>{});
    case dtype::c128: break;
  }
  return f(std::complex<double>{});
}

ndarray upload(const host_array& a);
host_array download(const ndarray& a);

/// One file: the primitives described in the format's README, read in order.
class golden_file {
 public:
  /// Opens `name` in the folder of the environment variable SINTER_GOLDEN_DIR, else in that of the build. Throws
  /// io_error.
  explicit golden_file(std::string_view name);
  /// Any file of the same primitives that begins with `magic`.
  golden_file(std::string_view path, std::string_view magic);

  int cases() const noexcept { return cases_; }
  bool at_end() const noexcept { return at_ == bytes_.size(); }
  std::size_t position() const noexcept { return at_; }
  std::uint8_t u8();
  std::int64_t varint();
  double f64();
  std::string text();
  dtype type() { return static_cast<dtype>(u8()); }
  std::vector<std::int64_t> dims();
  host_array array();
  policy tolerance();
  std::vector<index> key();
  /// One item of a key, after the number of its kind.
  index key_item(std::uint8_t kind);
  /// The next `n` bytes.
  std::string_view raw(std::size_t n);

 private:
  std::string path_;
  std::string bytes_;
  std::size_t at_ = 0;
  int cases_ = 0;

  void load();
};

/// x(key...), for keys known only at run time; up to 10 items.
subarray at(const ndarray& x, const std::vector<index>& key);
std::string to_string(const std::vector<index>& key);

/// Element `i` in decimal and hexadecimal.
std::string show(const host_array& a, std::int64_t i);
std::string show_shape(const std::vector<std::int64_t>& shape);
/// Small arrays in full, others by their first elements.
std::string show(const host_array& a);

/// Empty if dtype and shape agree and the policy accepts each element except those that `unknown` marks; else a
/// description, with `inputs` at the first difference.
std::string difference(const host_array& got, const host_array& expected, const policy& p,
                       const std::vector<const host_array*>& inputs = {}, const host_array* unknown = nullptr);

}  // namespace sinter::test
