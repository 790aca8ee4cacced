// libzip, opened on first use.
#pragma once
#include "io/zip_functions.hpp"
#include "platform/optional_library.hpp"

namespace sinter::io {

// clang-format off
#define SINTER_ZIP_FUNCTIONS(F)                                                                                       \
  F(zip_open) F(zip_open_from_source) F(zip_close) F(zip_discard) F(zip_strerror) F(zip_error_init)                   \
  F(zip_error_init_with_code) F(zip_error_strerror) F(zip_error_fini) F(zip_source_buffer_create)                     \
  F(zip_source_buffer_fragment) F(zip_source_free) F(zip_get_num_entries) F(zip_get_name) F(zip_stat_index)           \
  F(zip_fopen_index) F(zip_fread) F(zip_fclose) F(zip_file_strerror) F(zip_file_add) F(zip_set_file_compression)      \
  F(zip_file_set_dostime)
// clang-format on

SINTER_DECLARED_TABLE(zip_api, SINTER_ZIP_FUNCTIONS);

/// Throws io_error, with the prefix `function`, that lists what was tried and what to install.
const zip_api& zip_library(const char* function);
std::string zip_error_text(const zip_api& api, int code);

}  // namespace sinter::io
