// Reading and listing fuzz programs.
#include "fuzz/program.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#ifndef SINTER_FUZZ_DIR
#define SINTER_FUZZ_DIR SINTER_TEST_SOURCE_DIR "/fuzz"
#endif

namespace sinter::fuzz {

namespace {

struct tables {
  std::vector<std::string> functions, families, names, signatures;
};

const char* const op_names[opcode_count] = {"data",         "full",
                                            "arange",       "view",
                                            "transpose",    "reshape",
                                            "flip",         "moveaxis",
                                            "squeeze",      "expand_dims",
                                            "broadcast_to", "copy",
                                            "astype",       "unary",
                                            "binary",       "weak",
                                            "where",        "clip",
                                            "iop",          "iweak",
                                            "set",          "set_weak",
                                            "iset",         "iset_weak",
                                            "reduce",       "take_along_axis",
                                            "take",         "drop",
                                            "eval",         "read",
                                            "alias",        "fails",
                                            "pin",          "mark",
                                            "launches",     "held",
                                            "true",         "pick",
                                            "pick_set",     "pick_set_weak",
                                            "pick_iset",    "pick_iset_weak",
                                            "pick_add",     "set_part",
                                            "masked",       "ternary",
                                            "stored",       "part"};

std::vector<std::string> read_names(test::golden_file& f) {
  std::vector<std::string> out(static_cast<std::size_t>(f.varint()));
  for (auto& s : out) s = f.text();
  return out;
}

tables read_tables(test::golden_file& f) {
  tables t;
  t.functions = read_names(f);
  t.families = read_names(f);
  t.names = read_names(f);
  for (auto& name : t.names) {
    const auto at = static_cast<std::size_t>(&name - t.names.data());
    if (at >= opcode_count || name != op_names[at]) throw io_error("[fuzz] unknown instruction " + name);
    t.signatures.push_back(f.text());
  }
  return t;
}

/// A key some of whose items are arrays in registers: newaxis holds their places.
void read_picking_key(test::golden_file& f, instruction& out) {
  for (auto n = f.varint(); n > 0; --n) {
    const std::uint8_t kind = f.u8();
    out.key.push_back(kind == 4 ? index(newaxis_t{}) : f.key_item(kind));
    out.key_registers.push_back(kind == 4 ? f.u8() : -1);
  }
}

instruction read_instruction(test::golden_file& f, const tables& t) {
  instruction out;
  const auto op = f.u8();
  out.op = static_cast<opcode>(op);
  for (char kind : t.signatures.at(op)) {
    switch (kind) {
      case 'r': out.registers.push_back(f.u8()); break;
      case 't': out.type = f.u8(); break;
      case 'b': out.flags = f.u8(); break;
      case 'i': out.numbers.push_back(f.varint()); break;
      case 's': out.shape = f.dims(); break;
      case 'k': out.key = f.key(); break;
      case 'K': read_picking_key(f, out); break;
      case 'f': out.function = t.functions.at(static_cast<std::size_t>(f.varint())); break;
      default: out.value = f.f64();
    }
  }
  return out;
}

expected_read read_expected(test::golden_file& f) {
  expected_read e;
  e.small.type = f.type();
  e.small.shape = f.dims();
  std::memcpy(&e.checksum, f.raw(4).data(), 4);
  if (f.u8()) {
    const auto data = f.raw(static_cast<std::size_t>(e.small.size()) * itemsize(e.small.type));
    e.small.bytes.resize(data.size());
    if (!data.empty()) std::memcpy(e.small.bytes.data(), data.data(), data.size());
  }
  return e;
}

}  // namespace

std::vector<program> load_programs() {
  const char* folder = std::getenv("SINTER_FUZZ_DIR");
  const std::string path = std::string(folder && *folder ? folder : SINTER_FUZZ_DIR) + "/programs.bin";
  test::golden_file f(path, "SNFUZZ1\n");
  f.text();
  std::uint32_t count = 0;
  std::memcpy(&count, f.raw(4).data(), 4);
  const tables t = read_tables(f);
  std::vector<program> out(count);
  for (auto& p : out) {
    p.number = static_cast<int>(f.varint());
    p.family = t.families.at(f.u8());
    p.exact = f.u8();
    const auto bytes = static_cast<std::size_t>(f.varint());
    for (const auto end = f.position() + bytes; f.position() < end;) p.code.push_back(read_instruction(f, t));
    if (!p.exact) continue;
    p.reads.resize(static_cast<std::size_t>(f.varint()));
    for (auto& e : p.reads) e = read_expected(f);
  }
  return out;
}

std::string listing(const instruction& i) {
  std::ostringstream out;
  std::size_t from = 0;
  const bool writes = (i.op >= opcode::pick_set && i.op < opcode::masked) || i.op == opcode::iop ||
                      i.op == opcode::iweak || i.op == opcode::set || i.op == opcode::set_weak ||
                      i.op == opcode::iset || i.op == opcode::iset_weak || i.op == opcode::read ||
                      i.op == opcode::drop || i.op == opcode::pin || i.op == opcode::true_ || i.op == opcode::stored;
  if (!writes && !i.registers.empty()) out << "r" << i.registers[from++] << " = ";
  out << op_names[static_cast<int>(i.op)];
  if (!i.function.empty()) out << " " << i.function;
  for (; from < i.registers.size(); ++from) out << " r" << i.registers[from];
  if (!i.key.empty()) out << " " << test::to_string(i.key);
  for (int r : i.key_registers)
    if (r >= 0) out << " by r" << r;
  if (!i.shape.empty()) out << " " << test::show_shape(i.shape);
  for (auto n : i.numbers) out << " " << n;
  if (i.type != 255) out << " " << name(static_cast<dtype>(i.type));
  if (i.flags) out << " flags " << i.flags;
  if (i.op == opcode::weak || i.op == opcode::iweak || i.op == opcode::set_weak || i.op == opcode::iset_weak ||
      i.op == opcode::pick_set_weak || i.op == opcode::pick_iset_weak) {
    out << " value " << i.value;
  }
  return out.str();
}

std::string listing(const program& p) {
  std::string out = "program " + std::to_string(p.number) + " (" + p.family + (p.exact ? ", exact" : "") +
                    "); replay with SINTER_FUZZ_CASE=" + std::to_string(p.number) + "\n";
  for (std::size_t i = 0; i < p.code.size(); ++i) out += "  " + std::to_string(i) + ": " + listing(p.code[i]) + "\n";
  return out;
}

namespace {

const std::array<std::uint32_t, 256>& crc_table() {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  return table;
}

/// One spelling for each value: +0 for both zeros, one bit pattern for NaN.
template <class T>
T canonical(T v) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) {
    const bool nan = std::isnan(static_cast<float>(v));
    if (nan) v.bits = 0x7fff;
    else if ((v.bits & 0x7fff) == 0) v.bits = 0;
    return v;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(v) ? std::numeric_limits<T>::quiet_NaN() : v == 0 ? T(0) : v;
  } else if constexpr (std::is_integral_v<T>) {
    return v;
  } else {
    return T(canonical(v.real()), canonical(v.imag()));
  }
}

}  // namespace

std::uint32_t checksum(test::host_array a) {
  test::with_element(a.type, [&](auto e) {
    using T = decltype(e);
    if constexpr (std::is_integral_v<T>) return;
    for (std::size_t at = 0; at < a.bytes.size(); at += sizeof(T)) {
      T v;
      std::memcpy(static_cast<void*>(&v), a.bytes.data() + at, sizeof(T));
      v = canonical(v);
      std::memcpy(a.bytes.data() + at, static_cast<const void*>(&v), sizeof(T));
    }
  });
  std::uint32_t c = 0xFFFFFFFFu;
  for (auto b : a.bytes) c = crc_table()[(c ^ std::to_integer<std::uint32_t>(b)) & 255] ^ (c >> 8);
  return ~c;
}

}  // namespace sinter::fuzz
