// Reading golden data, moving elements between host and arrays, and describing differences.
#include "golden/golden.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <memory>
#include <sstream>

#ifndef SINTER_GOLDEN_DIR
#define SINTER_GOLDEN_DIR SINTER_TEST_SOURCE_DIR "/golden/data"
#endif

namespace sinter::test {

std::int64_t host_array::size() const noexcept {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  return n;
}

ndarray upload(const host_array& a) {
  return with_element(a.type, [&](auto element) {
    using T = decltype(element);
    const auto n = static_cast<std::size_t>(a.size());
    const auto aligned = std::make_unique<T[]>(n + 1);
    if (n > 0) std::memcpy(static_cast<void*>(aligned.get()), a.bytes.data(), n * sizeof(T));
    return array(aligned.get(), shape_t(a.shape));
  });
}

host_array download(const ndarray& a) {
  host_array out;
  out.type = a.dtype();
  for (auto n : a.shape()) out.shape.push_back(n);
  out.bytes.resize(static_cast<std::size_t>(out.size()) * itemsize(out.type));
  with_element(out.type, [&](auto element) {
    const auto view = a.host<decltype(element)>();
    if (view.size() > 0) std::memcpy(out.bytes.data(), view.data(), out.bytes.size());
  });
  return out;
}

namespace {
std::string golden_path(std::string_view name) {
  const char* folder = std::getenv("SINTER_GOLDEN_DIR");
  return std::string(folder && *folder ? folder : SINTER_GOLDEN_DIR) + "/" + std::string(name);
}
}  // namespace

golden_file::golden_file(std::string_view name) : path_(golden_path(name)) {
  load();
  if (raw(8) != "SNGOLD1\n") throw io_error("[golden] " + path_ + " is no golden file");
  text();
  std::uint32_t n = 0;
  std::memcpy(&n, raw(4).data(), 4);
  cases_ = static_cast<int>(n);
}

golden_file::golden_file(std::string_view path, std::string_view magic) : path_(path) {
  load();
  if (raw(magic.size()) != magic) throw io_error("[golden] " + path_ + " does not begin as expected");
}

void golden_file::load() {
  std::ifstream in(path_, std::ios::binary);
  if (!in) throw io_error("[golden] cannot read " + path_);
  bytes_.assign(std::istreambuf_iterator<char>(in), {});
}

std::string_view golden_file::raw(std::size_t n) {
  if (n > bytes_.size() - at_) throw io_error("[golden] " + path_ + " ends early");
  const std::string_view out(bytes_.data() + at_, n);
  at_ += n;
  return out;
}

std::uint8_t golden_file::u8() { return static_cast<std::uint8_t>(raw(1)[0]); }

std::int64_t golden_file::varint() {
  std::uint64_t v = 0;
  for (int shift = 0;; shift += 7) {
    const auto b = u8();
    v |= std::uint64_t{b & 127u} << shift;
    if (b < 128) break;
  }
  return v & 1 ? -static_cast<std::int64_t>(v >> 1) - 1 : static_cast<std::int64_t>(v >> 1);
}

double golden_file::f64() {
  double v;
  std::memcpy(&v, raw(8).data(), 8);
  return v;
}

std::string golden_file::text() { return std::string(raw(static_cast<std::size_t>(varint()))); }

std::vector<std::int64_t> golden_file::dims() {
  std::vector<std::int64_t> out(static_cast<std::size_t>(varint()));
  for (auto& v : out) v = varint();
  return out;
}

host_array golden_file::array() {
  host_array a;
  a.type = type();
  a.shape = dims();
  const auto data = raw(static_cast<std::size_t>(a.size()) * itemsize(a.type));
  a.bytes.resize(data.size());
  if (!data.empty()) std::memcpy(a.bytes.data(), data.data(), data.size());
  return a;
}

policy golden_file::tolerance() {
  policy p;
  p.kind = static_cast<closeness>(u8());
  p.bound = f64();
  p.zero_sign_free = u8() & 1;
  return p;
}

index golden_file::key_item(std::uint8_t kind) {
  switch (kind) {
    case 0: return varint();
    case 1: {
      const int given = u8();
      bound b[3] = {none_t{0}, none_t{0}, none_t{0}};
      for (int i = 0; i < 3; ++i)
        if (given >> i & 1) b[i] = varint();
      return slice(b[0], b[1], b[2]);
    }
    case 2: return newaxis_t{};
    default: return ellipsis_t{};
  }
}

std::vector<index> golden_file::key() {
  std::vector<index> out;
  for (auto n = varint(); n > 0; --n) out.push_back(key_item(u8()));
  return out;
}

subarray at(const ndarray& x, const std::vector<index>& key) { return x(key); }

std::string to_string(const std::vector<index>& key) {
  std::ostringstream out;
  out << "[";
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (i) out << ", ";
    const auto& r = key[i].range();
    switch (key[i].kind()) {
      case index_kind::integer: out << key[i].integer(); break;
      case index_kind::newaxis: out << "None"; break;
      case index_kind::ellipsis: out << "..."; break;
      case index_kind::array: out << "array" << key[i].array().shape(); break;
      case index_kind::list: out << "list" << key[i].items().shape(); break;
      case index_kind::slice:
        if (r.start.given) out << r.start.value;
        out << ":";
        if (r.stop.given) out << r.stop.value;
        if (r.step.given) out << ":" << r.step.value;
    }
  }
  return out.str() + "]";
}

namespace {
template <class T>
void print(std::ostream& out, T v) {
  if constexpr (std::is_same_v<T, bool>) {
    out << (v ? "true" : "false");
  } else if constexpr (std::is_integral_v<T>) {
    out << std::dec << +v << " (0x" << std::hex << +static_cast<std::make_unsigned_t<T>>(v) << std::dec << ")";
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) {
    out << std::setprecision(6) << static_cast<float>(v) << " (0x" << std::hex << v.bits << std::dec << ")";
  } else if constexpr (std::is_floating_point_v<T>) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    out << std::setprecision(std::numeric_limits<T>::max_digits10) << v << " (0x" << std::hex << std::bit_cast<bits>(v)
        << std::dec << ")";
  } else {
    print(out, v.real());
    out << " + ";
    print(out, v.imag());
    out << "j";
  }
}

template <class T>
T element(const host_array& a, std::int64_t i) {
  T v;
  std::memcpy(static_cast<void*>(&v), a.bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return v;
}
}  // namespace

std::string show(const host_array& a, std::int64_t i) {
  std::ostringstream out;
  with_element(a.type, [&](auto e) { print(out, element<decltype(e)>(a, i)); });
  return out.str();
}

std::string show_shape(const std::vector<std::int64_t>& shape) { return sinter::to_string(shape_t(shape)); }

std::string show(const host_array& a) {
  std::string out = std::string(name(a.type)) + show_shape(a.shape) + " {";
  const auto n = std::min<std::int64_t>(a.size(), 40);
  for (std::int64_t i = 0; i < n; ++i) out += (i ? ", " : "") + show(a, i);
  return out + (n < a.size() ? ", ...}" : "}");
}

std::string difference(const host_array& got, const host_array& expected, const policy& p,
                       const std::vector<const host_array*>& inputs, const host_array* unknown) {
  if (got.type != expected.type) {
    return "dtype " + std::string(name(got.type)) + ", expected " + std::string(name(expected.type));
  }
  if (got.shape != expected.shape) {
    return "shape " + show_shape(got.shape) + ", expected " + show_shape(expected.shape);
  }
  std::int64_t wrong = 0;
  std::string out;
  with_element(got.type, [&](auto e) {
    using T = decltype(e);
    for (std::int64_t i = 0; i < got.size(); ++i) {
      if (unknown && element<bool>(*unknown, i)) continue;
      if (close(element<T>(got, i), element<T>(expected, i), p)) continue;
      if (wrong++ >= 3) continue;
      out += "\n  element " + std::to_string(i) + ":";
      for (const auto* in : inputs) {
        if (in->size() == got.size()) out += " " + std::string(name(in->type)) + " " + show(*in, i) + ",";
      }
      out += " expected " + show(expected, i) + ", got " + show(got, i);
    }
  });
  return wrong ? std::to_string(wrong) + " of " + std::to_string(got.size()) + " differ:" + out : out;
}

}  // namespace sinter::test
