// How users' kernel texts are read: tokens, parameter lists, type names, signatures, and what mistakes say.
#include "ops/kernels/text.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using ops::kernel_text;
using ops::token_kind;

kernel_text text(std::string_view t) { return {t, "[k] text"}; }

std::string words(std::string_view t) {
  std::string list;
  for (const ops::token& k : ops::tokenize(text(t))) {
    if (k.kind == token_kind::end) break;
    list += (list.empty() ? "" : " ") + std::string(k.text);
  }
  return list;
}

std::string refused_list(std::string_view t) {
  return message_of<value_error>([&] { ops::parse_parameters(text(t)); });
}
std::string refused_signature(std::string_view t) {
  return message_of<value_error>([&] { ops::parse_core_signature(text(t)); });
}

}  // namespace

TEST_CASE("kernel text: tokens are identifiers, numbers, literals and marks, without comments") {
  CHECK(words("a+b1*_c") == "a + b1 * _c");
  CHECK(words("x->y::z.w") == "x -> y :: z . w");
  CHECK(words("1e-5f+.5-0x1p+3f 1'000'000 3.") == "1e-5f + .5 - 0x1p+3f 1'000'000 3.");
  CHECK(words("a // b\n c /* d \n e */ f") == "a c f");
  CHECK(words("a // b") == "a");
  CHECK(words(R"("a b \" c" 'x' '\'' z)") == R"("a b \" c" 'x' '\'' z)");
  CHECK(words("") == "");
  CHECK(words(" \t\n ") == "");
  CHECK(words("\xc3\xa9").size() > 0);
}

TEST_CASE("kernel text: comments and quotes without end are refused with their position") {
  const auto refused = [](std::string_view t) { return message_of<value_error>([&] { ops::tokenize(text(t)); }); };
  CHECK(contains(refused("a /* b"), "a comment without end at position 2 of \"a /* b\""));
  CHECK(contains(refused("/*/"), "a comment without end at position 0"));
  CHECK(contains(refused("ab \"c\nd\""), "a quote without end at position 3"));
  CHECK(contains(refused("'"), "a quote without end at position 0"));
  CHECK(contains(refused("\"\\"), "a quote without end at position 0"));
  CHECK(contains(refused(std::string_view("a\0b", 3)), "a null character at position 1"));
}

TEST_CASE("kernel text: variables are found as whole identifiers that are not members") {
  const auto mentions = [](std::string_view t) { return ops::mentions(text(t), "i"); };
  CHECK(mentions("z = i;"));
  CHECK(mentions("z = y[i]"));
  CHECK(mentions("i"));
  CHECK(mentions("1-i"));
  CHECK_FALSE(mentions("z = ii + i2 + _i"));
  CHECK_FALSE(mentions("z = s.i + p->i + N::i"));
  CHECK_FALSE(mentions("z = 1; // i"));
  CHECK_FALSE(mentions("/* i */ f(\"i\", 'i')"));
  CHECK_FALSE(mentions("1i 0xi"));
}

TEST_CASE("kernel text: brackets must nest, but preprocessor lines may split them") {
  const auto refused = [](std::string_view t) {
    return message_of<value_error>([&] { ops::check_brackets(text(t)); });
  };
  CHECK_NOTHROW(ops::check_brackets(text("if (a[1]) { f(b); } // }")));
  CHECK_NOTHROW(ops::check_brackets(text("f(\")\")")));
  CHECK_NOTHROW(ops::check_brackets(text("#if 1\n{\n#else\n{\n#endif\n}")));
  CHECK(contains(refused("f(a"), "'(' that is not closed at position 1"));
  CHECK(contains(refused("f(a]"), "']' that closes nothing at position 3"));
  CHECK(contains(refused("}"), "'}' that closes nothing at position 0"));
  CHECK(contains(refused("z = 1; } void g() {"), "'}' that closes nothing at position 7"));
}

TEST_CASE("kernel text: the last statement is closed where it ends") {
  const auto closed = [](std::string_view t) { return ops::as_statements(text(t)); };
  CHECK(closed("z = x") == "z = x;");
  CHECK(closed("z = x; ") == "z = x; ");
  CHECK(closed("z = x // done") == "z = x; // done");
  CHECK(closed("if (x) {\n}\n") == "if (x) {\n};\n");
  CHECK(closed(" /* nothing */ ") == "");
  CHECK(closed("z = 1;\n#ifdef A\nz = 2;\n#endif") == "z = 1;\n#ifdef A\nz = 2;\n#endif\n;");
}

TEST_CASE("kernel text: types are NumPy's names, C++'s names and letters") {
  struct spelled {
    const char* text;
    dtype type;
  };
  const spelled known[] = {{"bool", bool_},
                           {"bool_", bool_},
                           {"int8", int8},
                           {"uint16", uint16},
                           {"float16", float16},
                           {"half", float16},
                           {"bfloat16", bfloat16},
                           {"float32", float32},
                           {"float", float32},
                           {"double", float64},
                           {"float64", float64},
                           {"complex64", complex64},
                           {"int", int32},
                           {"signed", int32},
                           {"unsigned", uint32},
                           {"unsigned int", uint32},
                           {"long", int64},
                           {"long long", int64},
                           {"long long int", int64},
                           {"unsigned long", uint64},
                           {"long unsigned", uint64},
                           {"unsigned long long", uint64},
                           {"short", int16},
                           {"unsigned short int", uint16},
                           {"char", int8},
                           {"signed char", int8},
                           {"unsigned char", uint8},
                           {"size_t", uint64},
                           {"int64_t", int64},
                           {"uint8_t", uint8},
                           {"ptrdiff_t", int64},
                           {"complex128", complex128}};
  for (const spelled& s : known) {
    CAPTURE(s.text);
    const auto type = ops::parse_type(text(s.text));
    REQUIRE(type.has_value());
    CHECK(type->letter == 0);
    CHECK(type->type == s.type);
    const auto list = ops::parse_parameters(text(std::string(s.text) + " x"));
    REQUIRE(list.size() == 1);
    CHECK(list[0].type.type == s.type);
    CHECK(list[0].name == "x");
  }
  CHECK(ops::parse_type(text("T"))->letter == 'T');
  for (const char* unknown :
       {"", "t", "TT", "long short", "unsigned signed", "long long long", "char int", "int int", "long double",
        "float32 x", "unsigned float", "vector", "1", "\"int\"", "T*", "const int"})
    CHECK_FALSE(ops::parse_type(text(unknown)).has_value());
}

TEST_CASE("kernel text: parameter lists") {
  CHECK(ops::parse_parameters(text("")).empty());
  CHECK(ops::parse_parameters(text(" /* nothing */ ")).empty());
  const auto list = ops::parse_parameters(text("T x, raw unsigned long long  y,\n float32 z_2"));
  REQUIRE(list.size() == 3);
  CHECK(ops::to_string(list[0]) == "T x");
  CHECK(ops::to_string(list[1]) == "raw uint64 y");
  CHECK(ops::to_string(list[2]) == "float32 z_2");
  CHECK(list[1].raw);
  CHECK_FALSE(list[2].raw);
}

TEST_CASE("kernel text: garbage in parameter lists is named with its position") {
  CHECK(contains(refused_list("T"), "[k] text: expected a name after 'T' at position 1 of \"T\""));
  CHECK(contains(refused_list("T , y"), "expected a name after 'T' instead of ',' at position 2"));
  CHECK(contains(refused_list("T x,"), "expected a type at position 4"));
  CHECK(contains(refused_list(", T x"), "expected a type instead of ',' at position 0"));
  CHECK(contains(refused_list("T x;"), "expected ',' instead of ';' at position 3"));
  CHECK(contains(refused_list("T x T y"), "'T x T' is not a type at position 0"));
  CHECK(contains(refused_list("T *x"), "expected a name after 'T' instead of '*' at position 2"));
  CHECK(contains(refused_list("const T x"), "'const T' is not a type at position 0"));
  CHECK(contains(refused_list("raw x"), "expected a name after 'x'"));
  CHECK(contains(refused_list("raw"), "expected a type at position 3"));
  CHECK(contains(refused_list("raw raw T x"), "'raw T' is not a type"));
  CHECK(contains(refused_list("T raw"), "'raw' is a keyword at position 2"));
  CHECK(contains(refused_list("float32 int"), "'int' is a keyword at position 8"));
  CHECK(contains(refused_list("floot32 x"), "'floot32' is not a type at position 0"));
  CHECK(contains(refused_list("T _x"), "'_x' is a reserved name at position 2"));
  CHECK(contains(refused_list("T a__b"), "'a__b' is a reserved name"));
  CHECK(contains(refused_list("T sn_x"), "'sn_x' is a reserved name"));
  CHECK(contains(refused_list("T x, U x"), "'x' is named twice at position 5"));
  CHECK(contains(refused_list("T 1x"), "expected a name after 'T' instead of '1x' at position 2"));
  CHECK(contains(refused_list("T x[3]"), "expected ',' instead of '[' at position 3"));
  CHECK(contains(refused_list("T \"x\""), "instead of '\"x\"' at position 2"));
  CHECK(contains(refused_list("T x /* "), "a comment without end at position 4"));
}

TEST_CASE("kernel text: declarations of functions") {
  const ops::declaration d = ops::parse_declaration(text("unsigned int f(T x, raw float y)"));
  CHECK(d.name == "f");
  CHECK(d.result.type == uint32);
  REQUIRE(d.parameters.size() == 2);
  CHECK(d.parameters[1].raw);
  CHECK(ops::parse_declaration(text("T f()")).parameters.empty());
  const auto refused = [](std::string_view t) {
    return message_of<value_error>([&] { ops::parse_declaration(text(t)); });
  };
  CHECK(contains(refused(""), "expected a type at position 0"));
  CHECK(contains(refused("f(T x)"), "expected the function's name after 'f' instead of '(' at position 1"));
  CHECK(contains(refused("T f"), "expected '(' at position 3"));
  CHECK(contains(refused("T f(T x"), "expected ',' or ')' at position 7"));
  CHECK(contains(refused("T f(T x))"), "expected the end instead of ')' at position 8"));
  CHECK(contains(refused("T f(T x,)"), "expected a type instead of ')' at position 8"));
  CHECK(contains(refused("T f(T x) {"), "expected the end instead of '{' at position 9"));
  CHECK(contains(refused("void f(T x)"), "'void' is not a type at position 0"));
  CHECK(contains(refused("raw T f(T x)"), "'raw T' is not a type at position 0"));
  CHECK(contains(refused("T int(T x)"), "'int' is a keyword"));
}

TEST_CASE("kernel text: core signatures") {
  const ops::core_signature s = ops::parse_core_signature(text("(n,k), (m , 3),()->(n,m),(2)"));
  REQUIRE(s.inputs.size() == 3);
  REQUIRE(s.outputs.size() == 2);
  CHECK(s.inputs[0][1].name == "k");
  CHECK(s.inputs[1][1].name.empty());
  CHECK(s.inputs[1][1].extent == 3);
  CHECK(s.inputs[2].empty());
  CHECK(s.outputs[1][0].extent == 2);
  CHECK(contains(refused_signature(""), "expected '(' at position 0"));
  CHECK(contains(refused_signature("(n)"), "expected '->' at position 3"));
  CHECK(contains(refused_signature("(n)->"), "expected '(' at position 5"));
  CHECK(contains(refused_signature("(n->(n)"), "expected ',' or ')' instead of '->' at position 2"));
  CHECK(contains(refused_signature("(n,)->(n)"), "expected a dimension's name or extent instead of ')' at position 3"));
  CHECK(contains(refused_signature("(n)(m)->(n)"), "expected '->' instead of '(' at position 3"));
  CHECK(contains(refused_signature("(n)->(n) x"), "expected ',' or the end instead of 'x' at position 9"));
  CHECK(contains(refused_signature("(1.5)->()"), "expected an integer instead of '1.5' at position 1"));
  CHECK(contains(refused_signature("(99999999999999999999)->()"), "expected an integer"));
  CHECK(contains(refused_signature("(int)->()"), "'int' is a keyword at position 1"));
  CHECK(contains(refused_signature("(n?)->()"), "expected ',' or ')' instead of '?' at position 2"));
}
