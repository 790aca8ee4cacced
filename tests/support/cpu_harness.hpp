// For tests of the CPU backend: builds programs by hand and launches them in every way that must give bit-identical
// results.
#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/program/launch.hpp"
#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"

namespace cpu_test {

using namespace sinter;
using core::dims;
using jit::instr;
using jit::launch;
using jit::opcode;
using jit::program;
using jit::reduce_op;

inline runtime::backend& device() { return runtime::get_backend({}); }

/// Builds programs one instruction at a time.
struct builder {
  program p;
  std::uint16_t emit(opcode op, dtype type, dtype arg, int a = 0, int b = 0, int c = 0) {
    p.code.push_back({op, type, arg, 0, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b),
                      static_cast<std::uint16_t>(c), 0});
    return static_cast<std::uint16_t>(p.code.size() - 1);
  }
  std::uint16_t load(dtype t) {
    p.inputs.push_back({t, 0, {0, 0}});
    return emit(opcode::load, t, t, static_cast<int>(p.inputs.size()) - 1);
  }
  std::uint16_t param(dtype t) {
    p.param_types.push_back(t);
    ++p.params;
    return emit(opcode::param, t, t, p.params - 1);
  }
  std::uint16_t coord(int axis) { return emit(opcode::coord, dtype::i64, dtype::i64, axis); }
  std::uint16_t unary(opcode op, dtype t, int a) { return emit(op, t, t, a); }
  std::uint16_t binary(opcode op, dtype t, int a, int b) { return emit(op, t, t, a, b); }
  program elementwise(std::initializer_list<std::uint16_t> outputs) {
    for (auto reg : outputs) p.outputs.push_back({p.code[reg].type, 0, reg});
    p.epilogue = static_cast<std::uint16_t>(p.code.size());
    return p;
  }
  void reduce(reduce_op op, dtype type, int reg) {
    p.kind = jit::kernel_kind::reduce;
    p.reductions.push_back(
        {op, type, p.code[static_cast<std::size_t>(reg)].type, 0, static_cast<std::uint16_t>(reg), 0});
  }
  /// Stores the result of every reduction.
  program reductions() {
    p.epilogue = static_cast<std::uint16_t>(p.code.size());
    for (std::size_t k = 0; k < p.reductions.size(); ++k) {
      auto reg = emit(opcode::reduced, p.reductions[k].type, p.reductions[k].type, static_cast<int>(k));
      p.outputs.push_back({p.reductions[k].type, 0, reg});
    }
    return p;
  }
};

inline jit::scalar number(double v, dtype t = dtype::f64) {
  jit::scalar s;
  s.type = t;
  if (is_integer(t)) s.i = static_cast<std::int64_t>(v);
  else s.f[0] = v;
  return s;
}

template <class T>
jit::operand at(const std::vector<T>& v, dims strides, std::int64_t offset = 0) {
  jit::operand o;
  o.base = const_cast<T*>(v.data());
  o.offset = offset;
  o.strides = std::move(strides);
  return o;
}

inline launch space(const program& p, dims extents, int kept = -1, bool reduces_last = true) {
  launch l;
  l.code = &p;
  l.kept = kept < 0 ? extents.size() : kept;
  l.reduces_last = reduces_last;
  l.extents = std::move(extents);
  return l;
}

inline void run(const launch& l) {
  const runtime::prepared* ready[1] = {};
  device().prepare({&l, 1}, ready);
  std::vector<char> scratch(device().scratch_bytes(*ready[0], l) + 64);
  device().run(*ready[0], l, scratch.data());
}

/// Restores the settings of the backend at the end of its scope.
struct settings {
  ~settings() {
    cpu::set_tier(cpu::tier::automatic);
    cpu::set_tier_threshold(0);
    cpu::set_skip_tails(true);
    runtime::set_thread_count(0);
  }
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
std::vector<T> random_values(std::size_t n, double low, double high, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> v(n);
  for (auto& x : v) x = static_cast<T>(uniform(engine));
  return v;
}

/// Runs the launch in both tiers and with 1, 2 and 7 threads, and requires bit-identical `out`.
template <class T>
std::vector<T> in_all_ways(const launch& l, std::vector<T>& out) {
  settings restore;
  std::vector<T> first;
  for (auto tier : {cpu::tier::interpreted, cpu::tier::compiled})
    for (int threads : {1, 2, 7}) {
      cpu::set_tier(tier);
      runtime::set_thread_count(threads);
      std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(T));
      run(l);
      if (first.empty()) first = out;
      CAPTURE(threads);
      CAPTURE(static_cast<int>(tier));
      CHECK(same_bits(first, out));
    }
  return first;
}

}  // namespace cpu_test
