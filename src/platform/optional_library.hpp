// Vendors' libraries that are opened on first use: a table of functions typed by the vendor's header (the CUDA
// toolkit's libraries) or by declarations of this library (the distribution's), the places where a library may be, and
// a record of what was tried.
//
//   #define SINTER_CUFFT_FUNCTIONS(F) F(cufftCreate) F(cufftDestroy)
//   SINTER_FUNCTION_TABLE(cufft_api, SINTER_CUFFT_FUNCTIONS);
//
//   const cufft_api& cufft(const char* function) {
//     static const auto& opened = open_library<cufft_api>(toolkit_library("cuFFT", {SINTER_CUFFT_SONAME}));
//     return opened.usable_by(function);
//   }
#pragma once
#include <string>
#include <vector>

#include "platform/dynamic_library.hpp"

namespace sinter::platform {

/// Where a library may be found.
struct library_place {
  std::string title;                 // its name in messages: "cuBLAS"
  std::vector<std::string> sonames;  // names for the dynamic linker, in order of preference
  std::vector<std::string> folders;  // files in them are tried before the bare names
  std::string remedy;                // what makes it available: "install libopenblas0"
};

/// A library of the CUDA toolkit: in the toolkit of the build, in LD_LIBRARY_PATH, CUDA_PATH, CUDA_HOME and the usual
/// folders.
library_place toolkit_library(std::string title, std::vector<std::string> sonames);
/// A library of the distribution, found by the dynamic linker.
library_place host_library(std::string title, std::vector<std::string> sonames, const std::string& package);

/// What open_library tries, in order: first files that exist, since their identity can be determined without loading
/// them; then names, for libraries that only the dynamic linker's configuration finds.
std::vector<std::string> candidates(const library_place& place);

/// Throws the device_error for a library that could not be opened.
[[noreturn]] void raise_unusable(const char* function, const library_place& place, const std::string& tried);

/// The result of a search for a library. It lives as long as the process, like the library.
template <class Table>
struct optional_library {
  library_place place;
  Table api;
  bool usable = false;
  std::string path;   // if it is usable: the file or name that was opened
  std::string tried;  // if it is not: each file or name with the reason

  /// The table; if the library is unusable, throws device_error in the name of a public function, with what was tried
  /// and what to install.
  const Table& usable_by(const char* function) const {
    if (!usable) raise_unusable(function, place, tried);
    return api;
  }
};

/// Opens the first candidate that has all functions of the table. Never loads a second one afterwards.
template <class Table>
const optional_library<Table>& open_library(library_place place) {
  auto* const result = new optional_library<Table>;
  result->place = static_cast<library_place&&>(place);
  for (const std::string& candidate : candidates(result->place)) {
    std::string error;
    const dynamic_library library = dynamic_library::open(candidate, error);
    Table table;
    if (library && table.resolve(library, error)) {
      result->api = table;
      result->path = candidate;
      result->usable = true;
      return *result;
    }
    result->tried += (result->tried.empty() ? "" : "; ") + candidate + ": " + error;
  }
  return *result;
}

}  // namespace sinter::platform

// Names are expanded by two macros, since headers rename functions (cublasCreate is cublasCreate_v2).
#define SINTER_TABLE_MEMBER(name) decltype(&::name) name = nullptr;
#define SINTER_TABLE_RESOLVE(name)                        \
  if (!library.resolve(name, SINTER_SYMBOL_TEXT(name))) { \
    error = "has no function " SINTER_SYMBOL_TEXT(name);  \
    return false;                                         \
  }
#define SINTER_TABLE_DECLARED(name) name##_type* name = nullptr;
/// Defines a struct with one pointer for each function in LIST(F), given as F(name), and bool resolve(library, error).
#define SINTER_FUNCTION_TABLE(table, LIST) SINTER_TABLE_OF(table, LIST, SINTER_TABLE_MEMBER)
/// The same without a vendor's header: NAME_type is the type of function NAME.
#define SINTER_DECLARED_TABLE(table, LIST) SINTER_TABLE_OF(table, LIST, SINTER_TABLE_DECLARED)
#define SINTER_TABLE_OF(table, LIST, MEMBER)                                               \
  struct table {                                                                           \
    LIST(MEMBER)                                                                           \
    bool resolve(const ::sinter::platform::dynamic_library& library, std::string& error) { \
      LIST(SINTER_TABLE_RESOLVE)                                                           \
      return true;                                                                         \
    }                                                                                      \
  }
