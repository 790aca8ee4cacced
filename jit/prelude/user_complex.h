// sinter prelude: complex numbers in users' text. With SN_USER_COMPLEX, complex.h gives the type constructors and
// operators; this part has the names of C's functions. Behind complex_math.h and user.h.
namespace sn {

template <class R> SN_FN R abs(cx<R> z) { return absolute(z); }
template <class R> SN_FN R arg(cx<R> z) { return arctan2(z.im, z.re); }
template <class R> SN_FN R norm(cx<R> z) { return SN_ROUNDED(z.re * z.re) + SN_ROUNDED(z.im * z.im); }
template <class R> SN_FN cx<R> asin(cx<R> z) { return arcsin(z); }
template <class R> SN_FN cx<R> acos(cx<R> z) { return arccos(z); }
template <class R> SN_FN cx<R> atan(cx<R> z) { return arctan(z); }
template <class R> SN_FN cx<R> asinh(cx<R> z) { return arcsinh(z); }
template <class R> SN_FN cx<R> acosh(cx<R> z) { return arccosh(z); }
template <class R> SN_FN cx<R> atanh(cx<R> z) { return arctanh(z); }
template <class R> struct plain { typedef R type; };
template <class R> SN_FN cx<R> pow(cx<R> a, cx<R> b) { return power(a, b); }
template <class R> SN_FN cx<R> pow(cx<R> a, typename plain<R>::type b) { return power(a, cx<R>(b)); }
template <class R> SN_FN cx<R> pow(typename plain<R>::type a, cx<R> b) { return power(cx<R>(a), b); }

}  // namespace sn

namespace sn_user {
typedef sn::c64 complex64;
typedef sn::c128 complex128;
}  // namespace sn_user
