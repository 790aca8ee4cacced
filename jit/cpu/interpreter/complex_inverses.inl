// Inverse sines, cosines and tangents of complex numbers, circular and hyperbolic (complex_parts.inl).
#include "jit/cpu/interpreter/complex_parts.inl"

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#if SINTER_MVEC

template <class R>
SN_FN bool below_huge(R x, R y) {
  return bool(int(is_within(x, range<R>::huge)) & int(is_within(y, range<R>::huge)));
}
struct parts_arcsinh {
  static constexpr opcode code = opcode::arcsinh;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return bool(int(below_huge(x, y)) & int(has_modulus(R(1) - sn::absolute(y), x)));
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    R* const beside = w.a;
    each_lane(n, [=](int l) {
      const R a = sn::absolute(x[l]), b = sn::absolute(y[l]);
      const auto p = root<R>::of(R(1) - b, -a), q = root<R>::of(R(1) + b, a);
      beside[l] = p.re * q.re - p.im * q.im;
      u[l] = p.re * q.im - p.im * q.re;
      v[l] = b;
    });
    math_binary<R, vector_arctan2>(v, v, beside, nullptr, n, nullptr);
    each_of<vector_arcsinh>(u, u, n);
    each_lane(n, [=](int l) {
      u[l] = sn::copysign(u[l], x[l]);
      v[l] = sn::copysign(v[l], y[l]);
    });
  }
};
struct parts_arcsin {  // -i arcsinh(iz)
  static constexpr opcode code = opcode::arcsin;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return parts_arcsinh::ordinary(y, x);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    parts_arcsinh::run(y, x, v, u, w, n);
  }
};
struct parts_arccos {
  static constexpr opcode code = opcode::arccos;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return bool(int(below_huge(x, y)) & int(has_modulus(R(1) - x, y)) & int(has_modulus(R(1) + x, y)));
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    R* const beside = w.a;
    each_lane(n, [=](int l) {
      const R b = sn::absolute(y[l]);
      const auto p = root<R>::of(R(1) - x[l], -b), q = root<R>::of(R(1) + x[l], b);
      u[l] = p.re;
      beside[l] = q.re;
      v[l] = q.re * p.im - q.im * p.re;
    });
    math_binary<R, vector_arctan2>(u, u, beside, nullptr, n, nullptr);
    each_of<vector_arcsinh>(v, v, n);
    each_lane(n, [=](int l) {
      u[l] = R(2) * u[l];
      v[l] = -sn::copysign(v[l], y[l]);
    });
  }
};
struct parts_arccosh {
  static constexpr opcode code = opcode::arccosh;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return parts_arccos::ordinary(x, y);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    parts_arccos::run(x, y, v, u, w, n);
    each_lane(n, [=](int l) {
      u[l] = sn::absolute(u[l]);
      v[l] = sn::copysign(v[l], y[l]);
    });
  }
};
struct parts_arctanh {
  static constexpr opcode code = opcode::arctanh;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return bool(int(below_huge(x, y)) & int(has_modulus(R(1) - sn::absolute(x), y)) & int(y != 0) & int(x != 0));
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    R* const beside = w.a;
    each_lane(n, [=](int l) {
      const R a = sn::absolute(x[l]), b = sn::absolute(y[l]), d = R(1) - a, squares = b * b;
      u[l] = R(4) * a / (d * d + squares);
      v[l] = b + b;
      beside[l] = d * (R(1) + a) - squares;
    });
    each_of<vector_log1p>(u, u, n);
    math_binary<R, vector_arctan2>(v, v, beside, nullptr, n, nullptr);
    each_lane(n, [=](int l) {
      u[l] = sn::copysign(R(0.25) * u[l], x[l]);
      v[l] = sn::copysign(R(0.5) * v[l], y[l]);
    });
  }
};
struct parts_arctan {  // -i arctanh(iz)
  static constexpr opcode code = opcode::arctan;
  template <class R>
  SN_MEMBER bool ordinary(R x, R y) {
    return parts_arctanh::ordinary(y, x);
  }
  template <class R>
  SN_MEMBER void run(const R* x, const R* y, R* u, R* v, scratch<R>& w, int n) {
    parts_arctanh::run(y, x, v, u, w, n);
  }
};

#endif

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
