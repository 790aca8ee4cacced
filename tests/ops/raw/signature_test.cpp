// What the parameters of a kernel are, read from its demangled name and from its declaration.
#include <doctest/doctest.h>

#include <string>

#include "ops/raw/signature.hpp"

using namespace sinter;
using namespace sinter::ops;

namespace {

raw_parameter first(std::string_view list) {
  const auto s = signature_of_demangled("void k(" + std::string(list) + ")");
  REQUIRE(s);
  REQUIRE(s->parameters.size() == 1);
  return s->parameters[0];
}

raw_parameter declared(const std::string& parameter) {
  const auto s = signature_in_source("extern \"C\" __global__ void k(" + parameter + ") {}", "k");
  REQUIRE(s);
  REQUIRE(s->parameters.size() == 1);
  return s->parameters[0];
}

bool is_number(const raw_parameter& p, dtype t) {
  return p.kind == parameter_kind::number && p.element.count > 0 && p.element.types[0] == t;
}
bool is_pointer(const raw_parameter& p, dtype t, bool readonly) {
  return p.kind == parameter_kind::pointer && p.readonly == readonly && p.element.count > 0 && p.element.types[0] == t;
}

}  // namespace

TEST_CASE("raw signature: numbers of every dtype, as demanglers write them") {
  CHECK(is_number(first("bool"), dtype::b1));
  CHECK(is_number(first("char"), dtype::i8));
  CHECK(is_number(first("signed char"), dtype::i8));
  CHECK(is_number(first("unsigned char"), dtype::u8));
  CHECK(is_number(first("short"), dtype::i16));
  CHECK(is_number(first("unsigned short"), dtype::u16));
  CHECK(is_number(first("int"), dtype::i32));
  CHECK(is_number(first("unsigned int"), dtype::u32));
  CHECK(is_number(first("long"), dtype::i64));
  CHECK(is_number(first("unsigned long"), dtype::u64));
  CHECK(is_number(first("long long"), dtype::i64));
  CHECK(is_number(first("unsigned long long"), dtype::u64));
  CHECK(is_number(first("float"), dtype::f32));
  CHECK(is_number(first("double"), dtype::f64));
  CHECK(is_number(first("__half"), dtype::f16));
  CHECK(is_number(first("__nv_bfloat16"), dtype::bf16));
  CHECK(is_number(first("float2"), dtype::c64));
  CHECK(is_number(first("cuda::std::__4::complex<double>"), dtype::c128));
  CHECK(is_number(first("thrust::complex<float>"), dtype::c64));
}

TEST_CASE("raw signature: pointers, and what they point to") {
  CHECK(is_pointer(first("float*"), dtype::f32, false));
  CHECK(is_pointer(first("float const*"), dtype::f32, true));
  CHECK(is_pointer(first("unsigned long long const*"), dtype::u64, true));
  CHECK(is_pointer(first("__half const*"), dtype::f16, true));
  const raw_parameter vectors = first("float4 const*");
  CHECK(is_pointer(vectors, dtype::f32, true));
  CHECK(vectors.element.alignment == 16);
  CHECK(vectors.element.bytes == 16);
  CHECK(first("float3*").element.alignment == 4);
  CHECK(first("double4*").element.alignment == 16);
  const raw_parameter pairs = first("float2*");
  CHECK(pairs.element.accepts(dtype::c64));
  CHECK(pairs.element.accepts(dtype::f32));
  CHECK_FALSE(pairs.element.accepts(dtype::f64));
  const raw_parameter anything = first("void*");
  CHECK(anything.kind == parameter_kind::pointer);
  CHECK(anything.element.accepts(dtype::f64));
  CHECK(anything.element.accepts(dtype::b1));
  CHECK(first("my::point*").kind == parameter_kind::pointer);
  CHECK(first("my::point*").element.count == 0);
  CHECK(first("float**").kind == parameter_kind::pointer);
  CHECK(first("float**").element.count == 0);
  CHECK_FALSE(first("float const**").readonly);
  CHECK_FALSE(first("my::list<int const>*").readonly);
}

TEST_CASE("raw signature: strided arrays have an element type, a rank and perhaps a const") {
  const raw_parameter p = first("sinter::strided<float const, 2>");
  CHECK(p.kind == parameter_kind::strided);
  CHECK(p.rank == 2);
  CHECK(p.readonly);
  CHECK(p.element.types[0] == dtype::f32);
  const raw_parameter q = declared("strided<unsigned char, 12> image");
  CHECK(q.kind == parameter_kind::strided);
  CHECK(q.rank == 12);
  CHECK_FALSE(q.readonly);
  CHECK(q.element.types[0] == dtype::u8);
  CHECK(first("my::strided<float, 2>").kind == parameter_kind::unknown);
}

TEST_CASE("raw signature: declarations as users write them") {
  CHECK(is_number(declared("float a"), dtype::f32));
  CHECK(is_number(declared("const unsigned n"), dtype::u32));
  CHECK(is_number(declared("unsigned int"), dtype::u32));
  CHECK(is_number(declared("long long unsigned int n = 4"), dtype::u64));
  CHECK(is_number(declared("size_t n"), dtype::u64));
  CHECK(is_number(declared("std::int64_t n"), dtype::i64));
  CHECK(is_number(declared("uint32_t n"), dtype::u32));
  CHECK(is_number(declared("const half h"), dtype::f16));
  CHECK(is_number(declared("nv_bfloat16 h"), dtype::bf16));
  CHECK(is_number(declared("cuda::std::complex<float> z"), dtype::c64));
  CHECK(is_number(declared("cuDoubleComplex z"), dtype::c128));
  CHECK(is_pointer(declared("const float* __restrict__ x"), dtype::f32, true));
  CHECK(is_pointer(declared("float const * x"), dtype::f32, true));
  CHECK(is_pointer(declared("float *__restrict x"), dtype::f32, false));
  CHECK(is_pointer(declared("float* const x"), dtype::f32, false));
  CHECK(is_pointer(declared("const double x[]"), dtype::f64, true));
  CHECK(is_pointer(declared("double x[16]"), dtype::f64, false));
  CHECK(is_pointer(declared("float*"), dtype::f32, false));
  CHECK(is_pointer(declared("volatile int* flag"), dtype::i32, false));
  CHECK(is_pointer(declared("const /* in */ float* // the input\n  x"), dtype::f32, true));
  CHECK(declared("const float* __restrict__ x").text == "const float* __restrict__ x");
}

TEST_CASE("raw signature: types of the user's own are unknown, but count") {
  CHECK(declared("params p").kind == parameter_kind::unknown);
  CHECK(declared("const params p").kind == parameter_kind::unknown);
  CHECK(declared("my::half h").kind == parameter_kind::unknown);
  CHECK(declared("real* x").kind == parameter_kind::pointer);
  CHECK(declared("real* x").element.count == 0);
  CHECK(declared("void (*f)(int)").kind == parameter_kind::unknown);
  CHECK(declared("array<float, 4> a").kind == parameter_kind::unknown);
}

TEST_CASE("raw signature: the kernel's declaration is found in its source") {
  const char* source = R"cu(
    // __global__ void axpy(double wrong) {}
    const char* text = "__global__ void axpy(double wrong)";
    __device__ float axpy_one(float a, float x) { return a * x; }
    extern "C" __global__ void __launch_bounds__(256, 2)
    axpy(float a, const float* x, /* out */ float* y, int n = 3) {
      if (n) axpy_one(a, x[0]);
    }
    extern "C" { __global__ void other(void) {} __global__ void none() {} }
    template <class T> __global__ void generic(T* x) {}
  )cu";
  const auto axpy = signature_in_source(source, "axpy");
  REQUIRE(axpy);
  CHECK(axpy->text == "(float a, const float* x, float* y, int n)");
  REQUIRE(axpy->parameters.size() == 4);
  CHECK(is_pointer(axpy->parameters[1], dtype::f32, true));
  CHECK(is_pointer(axpy->parameters[2], dtype::f32, false));
  REQUIRE(signature_in_source(source, "other"));
  CHECK(signature_in_source(source, "other")->parameters.empty());
  CHECK(signature_in_source(source, "none")->text == "()");
  CHECK_FALSE(signature_in_source(source, "generic"));
  CHECK_FALSE(signature_in_source(source, "axpy_one"));
  CHECK_FALSE(signature_in_source(source, "missing"));
}

TEST_CASE("raw signature: what the preprocessor may change is not guessed") {
  CHECK_FALSE(signature_in_source("__global__ void k(PARAMETERS) {}", "k"));
  CHECK_FALSE(signature_in_source("__global__ void k(float* x\n#ifdef MORE\n, int n\n#endif\n) {}", "k"));
  CHECK_FALSE(signature_in_source(
      "#ifdef D\n__global__ void k(double* x) {}\n#else\n__global__ void k(float* x) {}\n#endif", "k"));
  const auto twice = signature_in_source("__global__ void k(float*);\n__global__ void k(float* x) {}", "k");
  REQUIRE(twice);
  CHECK(twice->text == "(float* x)");
}

TEST_CASE("raw signature: demangled names") {
  CHECK_FALSE(signature_of_demangled("axpy"));
  const auto s = signature_of_demangled(demangle("_ZN2my5plainEPfPKfxjmN6sinter7stridedIS1_Li2EEE"));
  REQUIRE(s);
  CHECK(s->text == "(float*, const float*, long long, unsigned int, unsigned long, sinter::strided<const float, 2>)");
  REQUIRE(s->parameters.size() == 6);
  CHECK(s->parameters[5].rank == 2);
  CHECK(signature_of_demangled("f(void (*)(int), float)")->parameters.size() == 2);
  CHECK(signature_of_demangled("(anonymous namespace)::f(float)")->parameters.size() == 1);
  CHECK(signature_of_demangled("f()")->parameters.empty());

  CHECK(qualified_name("void my::axpy<float, 4>(float, float const*)") == "my::axpy<float,4>");
  CHECK(qualified_name("plain(float)") == "plain");
  CHECK(qualified_name("(anonymous namespace)::f(float)") == "(anonymous namespace)::f");
  CHECK(qualified_name("void f<unsigned int>(unsigned int)") == "f<unsigned int>");
  CHECK(qualified_name("variable") == "variable");
  CHECK(without_arguments("my::axpy<a<b>,4>") == "my::axpy");
  CHECK(without_arguments("plain") == "plain");
  CHECK(squeezed(" axpy < unsigned  int , 4 > ") == "axpy<unsigned int,4>");
  CHECK(demangle("axpy") == "axpy");
}
