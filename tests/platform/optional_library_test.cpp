// Libraries that are opened at run time: what is tried, in which order, and what is said where nothing works.
#include <doctest/doctest.h>
#include <math.h>

#include <cstdlib>
#include <string>

#include "platform/host_libraries.hpp"
#include "platform/optional_library.hpp"
#include "sinter/error.hpp"
#include "support/scratch_folder.hpp"

extern "C" int sinter_test_missing_function(int);

using namespace sinter;

namespace {

// A header's macro precedes the name that the library has.
#define bessel_function jn
#define MATH_FUNCTIONS(F) F(bessel_function) F(lgamma_r)
SINTER_FUNCTION_TABLE(math_api, MATH_FUNCTIONS);
#define MISSING_FUNCTIONS(F) F(lgamma_r) F(sinter_test_missing_function)
SINTER_FUNCTION_TABLE(missing_api, MISSING_FUNCTIONS);

template <class F>
std::string message_of(F&& call) {
  try {
    call();
  } catch (const device_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a table is filled from the library of the first name that opens, with names as macros leave them") {
  static const auto& math =
      platform::open_library<math_api>({"mathematics", {"libm-of-nowhere.so.9", "libm.so.6"}, {}, "install libc6"});
  REQUIRE(math.usable);
  CHECK(math.path == "libm.so.6");
  CHECK(holds(math.tried, "libm-of-nowhere.so.9: "));
  CHECK(math.usable_by("test").jn(0, 0.0) == 1.0);
  int sign = 0;
  CHECK(math.api.lgamma_r(1.0, &sign) == 0.0);
  CHECK(sign == 1);
}

TEST_CASE(
    "a library that cannot be opened is a device_error with the function, each name that was tried, and the package") {
  static const auto& none =
      platform::open_library<math_api>({"Nowhere", {"libnowhere.so.1", "libnowhere.so.0"}, {}, "install libnowhere1"});
  CHECK(!none.usable);
  const std::string said = message_of([&] { none.usable_by("matmul"); });
  CHECK(holds(said, "[matmul] Nowhere cannot be loaded (install libnowhere1); tried libnowhere.so.1: "));
  CHECK(holds(said, "; libnowhere.so.0: "));
}

TEST_CASE("a library that lacks one function is not used, and the function is named") {
  static const auto& part = platform::open_library<missing_api>({"mathematics", {"libm.so.6"}, {}, "install libc6"});
  CHECK(!part.usable);
  CHECK(!part.api.lgamma_r);
  CHECK(
      holds(message_of([&] { part.usable_by("matmul"); }), "libm.so.6: has no function sinter_test_missing_function"));
}

TEST_CASE("files in the folders go before bare names, and damaged ones are passed over") {
  const sinter_test::scratch_folder folder;
  const std::string damaged = folder / "libm.so.6";
  REQUIRE(std::system(("echo nonsense >" + damaged).c_str()) == 0);
  const platform::library_place place{
      "mathematics", {"libm.so.6"}, {"/nonexistent", folder.path().string()}, "install libc6"};
  const auto list = platform::candidates(place);
  REQUIRE(list.size() == 2);
  CHECK(list[0] == damaged);
  CHECK(list[1] == "libm.so.6");
  static const auto& math = platform::open_library<math_api>(place);
  CHECK(math.usable);
  CHECK(math.path == "libm.so.6");
  CHECK(holds(math.tried, damaged + ": "));
}

TEST_CASE("libraries of the toolkit are looked for in its folders, those of the distribution by name") {
  const platform::library_place toolkit = platform::toolkit_library("cuBLAS", {"libcublas.so.13"});
  CHECK(toolkit.title == "cuBLAS");
  CHECK(holds(toolkit.remedy, "CUDA toolkit"));
  CHECK(!toolkit.folders.empty());
  const platform::library_place host = platform::host_library("OpenBLAS", {"libopenblas.so.0"}, "libopenblas0");
  CHECK(platform::candidates(host).back() == "libopenblas.so.0");
  CHECK(host.remedy == "install libopenblas0");
}

TEST_CASE("OpenBLAS computes with kernels for what the processor has") {
  CHECK(platform::is_fallback_of_openblas("Prescott"));
  CHECK_FALSE(platform::is_fallback_of_openblas("SkylakeX"));
  CHECK_FALSE(platform::is_fallback_of_openblas("Zen"));
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE") || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  const std::string kernels = platform::openblas_kernels();
  CAPTURE(kernels);
  CHECK_FALSE(platform::is_fallback_of_openblas(kernels));
  CHECK(std::getenv("OPENBLAS_CORETYPE") == nullptr);
#endif
}
