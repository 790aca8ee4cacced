// Functions of complex numbers for many lanes at a time: which there are, and the exponential, logarithmic, circular and
// hyperbolic ones (complex_parts.inl).
#include "jit/cpu/interpreter/complex_inverses.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#if SINTER_MVEC

// Each: `ordinary`, the lanes that `run` computes; run(x, y, u, v, n): u + iv = f(x + iy), u and v apart from x and y.
#define PRODUCT_OF_PARTS(name, LIMITED, OTHER, F1, F2, G1, G2, SIGN)                         \
  struct parts_##name {                                                                      \
    static constexpr opcode code = opcode::name;                                             \
    template <class R>                                                                       \
    SN_MEMBER bool ordinary(R x, R y) {                                                      \
      (void)x, (void)y;                                                                      \
      return bool(int(is_within(LIMITED, range<R>::exponent)) & int(is_finite_part(OTHER))); \
    }                                                                                        \
    template <class R>                                                                       \
    SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {           \
      R *const a = w.a, *const b = w.b;                                                      \
      each_of<vector_##F1>(u, x, n);                                                         \
      each_of<vector_##F2>(a, y, n);                                                         \
      each_of<vector_##G1>(v, x, n);                                                         \
      each_of<vector_##G2>(b, y, n);                                                         \
      each_lane(n, [=](int l) {                                                              \
        u[l] = u[l] * a[l];                                                                  \
        v[l] = SIGN(v[l] * b[l]);                                                            \
      });                                                                                    \
    }                                                                                        \
  };
PRODUCT_OF_PARTS(sin, y, x, sin, cosh, cos, sinh, +)
PRODUCT_OF_PARTS(cos, y, x, cos, cosh, sin, sinh, -)
PRODUCT_OF_PARTS(sinh, x, y, sinh, cos, cosh, sin, +)
PRODUCT_OF_PARTS(cosh, x, y, cosh, cos, sinh, sin, +)
#undef PRODUCT_OF_PARTS

struct parts_exp {
  static constexpr opcode code = opcode::exp;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return bool(int(is_within(x, range<R>::exponent)) & int(is_finite_part(y)));
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    R* const e = w.a;
    each_of<vector_exp>(e, x, n);
    each_of<vector_cos>(u, y, n);
    each_of<vector_sin>(v, y, n);
    each_lane(n, [=](int l) {
      u[l] = e[l] * u[l];
      v[l] = e[l] * v[l];
    });
  }
};
struct parts_exp2 {
  static constexpr opcode code = opcode::exp2;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return parts_exp::ordinary(x, y);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    constexpr R ln2 = R(0.69314718055994530942);
    R* const angle = w.b;
    each_lane(n, [=](int l) { angle[l] = y[l] * ln2; });
    each_of<vector_cos>(u, angle, n);
    each_of<vector_sin>(v, angle, n);
    R* const e = w.a;
    each_of<vector_exp2>(e, x, n);
    each_lane(n, [=](int l) {
      u[l] = e[l] * u[l];
      v[l] = e[l] * v[l];
    });
  }
};
struct parts_expm1 {
  static constexpr opcode code = opcode::expm1;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return parts_exp::ordinary(x, y);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    R *const a = w.a, *const half = w.b;
    each_lane(n, [=](int l) { half[l] = y[l] * R(0.5); });
    each_of<vector_sin>(half, half, n);
    each_of<vector_expm1>(a, x, n);
    each_of<vector_cos>(u, y, n);
    each_of<vector_sin>(v, y, n);
    each_lane(n, [=](int l) { u[l] = a[l] * u[l] - R(2) * half[l] * half[l]; });
    each_of<vector_exp>(a, x, n);
    each_lane(n, [=](int l) { v[l] = a[l] * v[l]; });
  }
};

/// log z * Scale.
template <opcode Code, int Base>
struct parts_of_log {
  static constexpr opcode code = Code;
  template <class R>
  static constexpr R scale = Base == 2 ? R(1.44269504088896340736) : R(0.43429448190325182765);
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return has_modulus(x, y);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>&, int n) {
    log_moduli(u, x, y, n);
    math_binary<R, vector_arctan2>(v, y, x, nullptr, n, nullptr);
    if constexpr (Base != 0)
      each_lane(n, [=](int l) {
        u[l] = u[l] * scale<R>;
        v[l] = v[l] * scale<R>;
      });
  }
};
using parts_log = parts_of_log<opcode::log, 0>;
using parts_log2 = parts_of_log<opcode::log2, 2>;
using parts_log10 = parts_of_log<opcode::log10, 10>;
struct parts_log1p {
  static constexpr opcode code = opcode::log1p;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return has_modulus(x + R(1), y);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    R* const more = w.a;
    each_lane(n, [=](int l) { more[l] = x[l] + R(1); });
    parts_log::run(more, y, u, v, w, n);
  }
};

struct parts_sqrt {
  static constexpr opcode code = opcode::sqrt;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return bool(int(has_modulus(x, y)) | (int(x == 0) & int(y == 0)));
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>&, int n) {
    each_lane(n, [=](int l) {
      const auto r = root<R>::of(x[l], y[l]);
      u[l] = r.re;
      v[l] = r.im;
    });
  }
};

/// tanh(x + iy), as Kahan writes it.
template <class R>
SN_FN void tanh_of_parts(const R* x, const R* y, R* u, R* v, R* s, int n) {
  each_of<vector_tan>(v, y, n);
  each_of<vector_sinh>(s, x, n);
  each_lane(n, [=](int l) {
    const R t = v[l], beta = R(1) + t * t, rho = sn::sqrt(R(1) + s[l] * s[l]), d = R(1) + beta * s[l] * s[l];
    u[l] = beta * rho * s[l] / d;
    v[l] = t / d;
  });
}
struct parts_tanh {
  static constexpr opcode code = opcode::tanh;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return bool(int(is_within(x, range<R>::saturate)) & int(is_finite_part(y)));
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    tanh_of_parts<R>(x, y, u, v, w.a, n);
  }
};
struct parts_tan {  // -i tanh(iz)
  static constexpr opcode code = opcode::tan;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return parts_tanh::ordinary(y, x);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    tanh_of_parts<R>(y, x, v, u, w.a, n);
  }
};

/// The lanes that `F` does not compute.
template <class R, class F>
[[gnu::noinline, gnu::cold]] void others_one_by_one(sn::cx<R>* to, const R* x, const R* y, int n) {
  const block_op op = complex_math_op(F::code, sizeof(R) == sizeof(float) ? dtype::c64 : dtype::c128);
  for (int l = 0; l < n; ++l) {
    if (F::ordinary(x[l], y[l])) continue;
    const sn::cx<R> z{x[l], y[l]};
    op(to + l, &z, nullptr, nullptr, 1, nullptr);
  }
}

template <class R>
SN_FN void join_parts(sn::cx<R>* to, const R* u, const R* v, int n) {
  each_lane(n, [=](int l) { put_lane(to, l, sn::cx<R>{u[l], v[l]}); });
}

template <class R, class F>
void by_parts(void* dst, const void* a, const void*, const void*, int n, int*) {
  alignas(64) R x[block_lanes], y[block_lanes], u[block_lanes], v[block_lanes];
  scratch<R> w;
  n &= -lane_multiple;
  part_of<R, 0>(x, a, nullptr, nullptr, n, nullptr);
  part_of<R, 1>(y, a, nullptr, nullptr, n, nullptr);
  F::run(x, y, u, v, w, n);
  auto* const to = static_cast<sn::cx<R>*>(dst);
  join_parts(to, u, v, n);
  int others = 0;
  SINTER_LANES(l, n) others |= !F::ordinary(x[l], y[l]);
  if (others) others_one_by_one<R, F>(to, x, y, n);
}

/// exp(b log a), where `a` has a modulus, `b` is no whole number that products serve, and the exponential is in range.
template <class R>
SN_FN bool ordinary_power(R x, R y, R c, R d, R p, R q) {
  const R whole = R(100);
  return bool(int(has_modulus(x, y)) & int(parts_exp::ordinary(p, q)) & int(is_finite_part(c)) &
              int(is_finite_part(d)) & (int(d != 0) | int(sn::absolute(c) >= whole) | int(sn::trunc(c) != c)));
}
template <class R>
[[gnu::noinline, gnu::cold]] void other_powers(sn::cx<R>* to, const R* x, const R* y, const R* c, const R* d,
                                               const R* p, const R* q, int n) {
  const block_op op = complex_math_op(opcode::power, sizeof(R) == sizeof(float) ? dtype::c64 : dtype::c128);
  for (int l = 0; l < n; ++l) {
    if (ordinary_power(x[l], y[l], c[l], d[l], p[l], q[l])) continue;
    const sn::cx<R> a{x[l], y[l]}, b{c[l], d[l]};
    op(to + l, &a, &b, nullptr, 1, nullptr);
  }
}
template <class R>
void power_by_parts(void* dst, const void* a, const void* b, const void*, int n, int*) {
  alignas(64) R x[block_lanes], y[block_lanes], c[block_lanes], d[block_lanes], p[block_lanes], q[block_lanes];
  alignas(64) R u[block_lanes], v[block_lanes];
  scratch<R> w;
  n &= -lane_multiple;
  part_of<R, 0>(x, a, nullptr, nullptr, n, nullptr);
  part_of<R, 1>(y, a, nullptr, nullptr, n, nullptr);
  part_of<R, 0>(c, b, nullptr, nullptr, n, nullptr);
  part_of<R, 1>(d, b, nullptr, nullptr, n, nullptr);
  parts_log::run<R>(x, y, u, v, w, n);
  each_lane(n, [=, p = &p[0], q = &q[0], c = &c[0], d = &d[0], u = &u[0], v = &v[0]](int l) {
    p[l] = c[l] * u[l] - d[l] * v[l];
    q[l] = c[l] * v[l] + d[l] * u[l];
  });
  parts_exp::run<R>(p, q, u, v, w, n);
  auto* const to = static_cast<sn::cx<R>*>(dst);
  join_parts(to, u, v, n);
  int others = 0;
  SINTER_LANES(l, n) others |= !ordinary_power(x[l], y[l], c[l], d[l], p[l], q[l]);
  if (others) other_powers(to, x, y, c, d, p, q, n);
}

template <class R>
block_op parts_op(opcode op) noexcept {
  switch (op) {
#define PARTS(name) \
  case opcode::name: return &by_parts<R, parts_##name>;
    PARTS(sqrt)
    PARTS(exp)
    PARTS(exp2)
    PARTS(expm1)
    PARTS(log)
    PARTS(log2)
    PARTS(log10)
    PARTS(log1p)
    PARTS(sin)
    PARTS(cos)
    PARTS(tan)
    PARTS(sinh)
    PARTS(cosh)
    PARTS(tanh)
    PARTS(arcsin)
    PARTS(arccos)
    PARTS(arctan)
    PARTS(arcsinh)
    PARTS(arccosh)
    PARTS(arctanh)
#undef PARTS
    case opcode::power: return &power_by_parts<R>;
    default: return nullptr;
  }
}
#endif

}  // namespace

block_op complex_function_op(opcode op, dtype arg) noexcept {
#if SINTER_MVEC
  if (arg == dtype::c64) return parts_op<float>(op);
  if (arg == dtype::c128) return parts_op<double>(op);
#endif
  (void)op, (void)arg;
  return nullptr;
}

}  // namespace sinter::jit::tier0::SINTER_ISA
