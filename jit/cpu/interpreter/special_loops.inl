// The block operations of one family of special functions. An includer has included its texts and defines
// SINTER_SPECIAL_<family>(name, operands) as SINTER_SPECIAL_FOUND(name, operands), and SINTER_SPECIAL_FIND as the name of the
// function that finds them. With SINTER_SPECIAL_TWIN it has included special_twin.inl.
#ifndef SINTER_SPECIAL_error
#define SINTER_SPECIAL_error(name, operands)
#endif
#ifndef SINTER_SPECIAL_gamma
#define SINTER_SPECIAL_gamma(name, operands)
#endif
#ifndef SINTER_SPECIAL_logistic
#define SINTER_SPECIAL_logistic(name, operands)
#endif
#ifndef SINTER_SPECIAL_bessel
#define SINTER_SPECIAL_bessel(name, operands)
#endif
#ifndef SINTER_SPECIAL_integrals
#define SINTER_SPECIAL_integrals(name, operands)
#endif
#ifndef SINTER_SPECIAL_incomplete
#define SINTER_SPECIAL_incomplete(name, operands)
#endif
#ifndef SINTER_SPECIAL_beta
#define SINTER_SPECIAL_beta(name, operands)
#endif
#ifndef SINTER_SPECIAL_zeta
#define SINTER_SPECIAL_zeta(name, operands)
#endif
#ifndef SINTER_SPECIAL_complex
#define SINTER_SPECIAL_complex(name, operands)
#endif
#ifndef SINTER_SPECIAL_legendre
#define SINTER_SPECIAL_legendre(name, operands)
#endif
#ifndef SINTER_SPECIAL_order
#define SINTER_SPECIAL_order(name, operands)
#endif
#ifndef SINTER_SPECIAL_inverse
#define SINTER_SPECIAL_inverse(name, operands)
#endif

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

// What the texts are instantiated with: one vector, or two of families whose texts are long chains of steps.
#ifdef SINTER_SPECIAL_TWIN
using special_lanes = sn::twin;
template <class T>
SN_FN special_lanes load_special(const T* from) {
  return sn::load_twin(from);
}
template <class T>
SN_FN void store_special(T* to, special_lanes x) {
  sn::store_twin(to, x);
}
#else
using special_lanes = sn::lanes;
template <class T>
SN_FN special_lanes load_special(const T* from) {
  return sn::load_lanes(from);
}
template <class T>
SN_FN void store_special(T* to, special_lanes x) {
  sn::store_lanes(to, x);
}
#endif
constexpr int lane_step = int(sizeof(special_lanes) / sizeof(double));

template <class F, class T, class... A>
void special_run(T* dst, int n, const A*... a) {
  for (int l = 0; l < n; l += lane_step) store_special(dst + l, F::of(load_special(a + l)...));
}

#ifdef SINTER_SPECIAL_SORTED
/// Whether a family sorts blocks of an operation (special_sorted.inl).
template <class F, class... V>
constexpr bool special_sorts = lane_step > 1 && requires(V... v) {
  special_key(special_tag<F::op>{}, v...);
};

template <class F, class T, class... A>
void special_sorted(T* dst, int n, const A*... a) {
  constexpr int room = sorted_elements + lane_step;
  double keys[room];
  for (int l = 0; l < n; l += lane_step)
    store_special(keys + l, special_key(special_tag<F::op>{}, load_special(a + l)...));
  std::uint16_t order[sorted_elements];
  if (n <= lane_step || !sort_keys(keys, n, order)) return special_run<F>(dst, n, a...);
  T operands[sizeof...(A)][room], results[room];
  int k = 0;
  const auto gather = [&](const T* from) {
    T* to = operands[k++];
    for (int l = 0; l < n; ++l) to[l] = from[order[l]];
    for (int l = n; l % lane_step != 0; ++l) to[l] = to[n - 1];
  };
  (gather(a), ...);
  if constexpr (sizeof...(A) == 1) special_run<F>(results, n, +operands[0]);
  else if constexpr (sizeof...(A) == 2) special_run<F>(results, n, +operands[0], +operands[1]);
  else special_run<F>(results, n, +operands[0], +operands[1], +operands[2]);
  for (int l = 0; l < n; ++l) dst[order[l]] = results[l];
}
#endif

template <class T, class F, class... A>
void special_any(T* dst, int n, const A*... a) {
#ifdef SINTER_SPECIAL_SORTED
  if constexpr (special_sorts<F, decltype(load_special(a))...>) {
    for (int l = 0; l < n; l += sorted_elements)
      special_sorted<F>(dst + l, n - l < sorted_elements ? n - l : sorted_elements, (a + l)...);
    return;
  }
#endif
  special_run<F>(dst, n, a...);
}

template <class T, class F>
void special_1(void* dst, const void* a, const void*, const void*, int n, int*) {
  special_any<T, F>(static_cast<T*>(dst), n, static_cast<const T*>(a));
}
constexpr int single_step = int(sizeof(sn::singles) / sizeof(float));
template <class F>
void special_single(void* dst, const void* a, const void*, const void*, int n, int*) {
  auto* x = static_cast<const float*>(a);
  for (int l = 0; l < n; l += single_step)
    sn::store_singles(static_cast<float*>(dst) + l, F::of(sn::load_singles(x + l)));
}
template <class T, class F>
void special_2(void* dst, const void* a, const void* b, const void*, int n, int*) {
  special_any<T, F>(static_cast<T*>(dst), n, static_cast<const T*>(a), static_cast<const T*>(b));
}
template <class T, class F>
void special_3(void* dst, const void* a, const void* b, const void* c, int n, int*) {
  special_any<T, F>(static_cast<T*>(dst), n, static_cast<const T*>(a), static_cast<const T*>(b),
                    static_cast<const T*>(c));
}

#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight) SINTER_SPECIAL_##family(name, operands)
#define SINTER_SPECIAL_FOUND(name, operands)   \
  struct special_##name {                      \
    static constexpr opcode op = opcode::name; \
    template <class... V>                      \
    SN_MEMBER special_lanes of(V... v) {       \
      return sn::sf_##name(v...);              \
    }                                          \
  };
#include "jit/program/opcodes.def"
#undef SINTER_SPECIAL_FOUND

#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight)
#define SPECIAL_BRIEF(family, name, operands, weight) SINTER_SPECIAL_##family(name, operands)
#define SINTER_SPECIAL_FOUND(name, operands)   \
  struct brief_##name {                        \
    static constexpr opcode op = opcode::name; \
    template <class... V>                      \
    SN_MEMBER special_lanes of(V... v) {       \
      return sn::brief_##name(v...);           \
    }                                          \
  };
#include "jit/program/opcodes.def"
#undef SINTER_SPECIAL_FOUND

#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight)
#define SPECIAL_SINGLE(family, name, operands, weight) SINTER_SPECIAL_##family(name, operands)
#define SINTER_SPECIAL_FOUND(name, operands)                                 \
  struct single_##name {                                                     \
    SN_MEMBER sn::singles of(sn::singles x) { return sn::single_##name(x); } \
  };
#include "jit/program/opcodes.def"
SINTER_SPECIAL_gamma(digamma, 1)  // a SPECIAL_OP of the list that has a text for float32, too
#undef SINTER_SPECIAL_FOUND

}  // namespace

block_op SINTER_SPECIAL_FIND(opcode op, dtype type) noexcept {
  if (type != dtype::f32 && type != dtype::f64) return nullptr;
  if (type == dtype::f32) {
    switch (op) {
#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight)
#define SPECIAL_SINGLE(family, name, operands, weight) SINTER_SPECIAL_##family(name, operands)
#define SINTER_SPECIAL_FOUND(name, operands) \
  case opcode::name:                         \
    return &special_single<single_##name>;
#include "jit/program/opcodes.def"
      SINTER_SPECIAL_gamma(digamma, 1)
#undef SINTER_SPECIAL_FOUND
#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight)
#define SPECIAL_BRIEF(family, name, operands, weight) SINTER_SPECIAL_##family(name, operands)
#define SINTER_SPECIAL_FOUND(name, operands) \
  case opcode::name:                         \
    return &special_##operands<float, brief_##name>;
#include "jit/program/opcodes.def"
#undef SINTER_SPECIAL_FOUND
      default: break;
    }
  }
  switch (op) {
#define OP(name, operands, weight)
#define SPECIAL_OP(family, name, operands, weight) SINTER_SPECIAL_##family(name, operands)
#define SINTER_SPECIAL_FOUND(name, operands)                               \
  case opcode::name:                                                       \
    return type == dtype::f32 ? &special_##operands<float, special_##name> \
                              : &special_##operands<double, special_##name>;
#include "jit/program/opcodes.def"
    default: return nullptr;
  }
}

}  // namespace sinter::jit::tier0::SINTER_ISA
