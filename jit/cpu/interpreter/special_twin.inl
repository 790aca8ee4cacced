// sn::twin: two vectors of doubles side by side, for texts that are long chains of steps: while one vector waits for a step's result
// the other one computes. To be included after special_lanes.inl; the includer's block operations are instantiated with it.
namespace sn {
namespace {

#if SINTER_ISA_LEVEL > 0
struct twin_mask {
  lane_mask a, b;
};
struct twin_words {
  lane_words a, b;
  [[gnu::always_inline]] twin_words(lane_words x, lane_words y) : a(x), b(y) {}
  [[gnu::always_inline]] explicit twin_words(unsigned long long x) : a(x), b(x) {}
};
struct twin {
  lanes a, b;
  twin() = default;
  [[gnu::always_inline]] twin(lanes x, lanes y) : a(x), b(y) {}
  [[gnu::always_inline]] explicit twin(double x) : a(x), b(x) {}
};
#define SN_TWIN(type, op) \
  SN_FN type operator op(type x, type y) { return {x.a op y.a, x.b op y.b}; }
SN_TWIN(twin, +)
SN_TWIN(twin, -)
SN_TWIN(twin, *)
SN_TWIN(twin, /)
SN_TWIN(twin_words, +)
SN_TWIN(twin_words, -)
SN_TWIN(twin_words, &)
SN_TWIN(twin_words, |)
SN_TWIN(twin_mask, &)
SN_TWIN(twin_mask, |)
#undef SN_TWIN
#define SN_TWIN(op) \
  SN_FN twin_mask operator op(twin x, twin y) { return {x.a op y.a, x.b op y.b}; }
SN_TWIN(<)
SN_TWIN(<=)
SN_TWIN(>)
SN_TWIN(>=)
SN_TWIN(==)
SN_TWIN(!=)
#undef SN_TWIN
SN_FN twin operator-(twin x) { return {-x.a, -x.b}; }
SN_FN twin_mask operator!(twin_mask x) { return {!x.a, !x.b}; }
SN_FN twin_words operator<<(twin_words x, int n) { return {x.a << n, x.b << n}; }
SN_FN twin_words operator>>(twin_words x, int n) { return {x.a >> n, x.b >> n}; }
SN_FN bool sf_any(twin_mask x) { return sf_any(x.a | x.b); }
SN_FN twin sf_if(twin_mask m, twin x, twin y) { return {sf_if(m.a, x.a, y.a), sf_if(m.b, x.b, y.b)}; }
SN_FN twin sf_fma(twin x, twin y, twin z) { return {sf_fma(x.a, y.a, z.a), sf_fma(x.b, y.b, z.b)}; }
SN_FN twin sf_abs(twin x) { return {sf_abs(x.a), sf_abs(x.b)}; }
SN_FN twin sf_sqrt(twin x) { return {sf_sqrt(x.a), sf_sqrt(x.b)}; }
SN_FN twin sf_floor(twin x) { return {sf_floor(x.a), sf_floor(x.b)}; }
SN_FN twin sf_rint(twin x) { return {sf_rint(x.a), sf_rint(x.b)}; }
SN_FN twin sf_min(twin x, twin y) { return {sf_min(x.a, y.a), sf_min(x.b, y.b)}; }
SN_FN twin sf_max(twin x, twin y) { return {sf_max(x.a, y.a), sf_max(x.b, y.b)}; }
#if SINTER_ISA_LEVEL == 2
SN_FN twin sf_scale(twin x, twin k) { return {sf_scale(x.a, k.a), sf_scale(x.b, k.b)}; }
#endif
SN_FN twin_words sf_bits(twin x) { return {sf_bits(x.a), sf_bits(x.b)}; }
SN_FN twin sf_number(twin_words x) { return {sf_number(x.a), sf_number(x.b)}; }
SN_FN double sf_most(twin x) {
  const double p = sf_most(x.a), q = sf_most(x.b);
  return p > q ? p : q;
}
SN_FN twin sf_library_sin(twin x) { return {sf_library_sin(x.a), sf_library_sin(x.b)}; }
SN_FN twin sf_library_cos(twin x) { return {sf_library_cos(x.a), sf_library_cos(x.b)}; }
template <class T> SN_FN twin load_twin(const T* from) { return {load_lanes(from), load_lanes(from + lanes::count)}; }
template <class T> SN_FN void store_twin(T* to, twin x) {
  store_lanes(to, x.a);
  store_lanes(to + lanes::count, x.b);
}
#else
typedef double twin;
template <class T> SN_FN double load_twin(const T* from) { return double(*from); }
template <class T> SN_FN void store_twin(T* to, double x) { *to = T(x); }
#endif

}  // namespace
}  // namespace sn
