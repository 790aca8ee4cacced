// The functions, structs and constants of libzip (1.0 and newer) that the library uses. They are declared here, so that
// a build does not need libzip's header; where there is one, zip_functions_test.cpp compares them. NAME_type is the
// type of NAME.
#pragma once
#include <cstdint>
#include <ctime>

namespace sinter::io {

struct zip_archive;  // zip_t
struct zip_source;   // zip_source_t
struct zip_member;   // zip_file_t

struct zip_failure {  // zip_error_t
  int code, system_code;
  char* text;
};
struct zip_about {      // zip_stat_t
  std::uint64_t valid;  // which of the other members are valid: has_...
  const char* name;
  std::uint64_t index, size, compressed_size;
  std::time_t time;
  std::uint32_t checksum;
  std::uint16_t compression, encryption;
  std::uint32_t flags;
};
struct zip_fragment {  // zip_buffer_fragment_t
  std::uint8_t* data;
  std::uint64_t length;
};

namespace zip {
inline constexpr int create = 1, truncate = 8, read_only = 16;  // of zip_open
inline constexpr std::uint32_t name_is_utf8 = 2048;             // of zip_file_add
inline constexpr int stored = 0, deflated = 8;                  // compression methods
inline constexpr int unencrypted = 0;                           // an encryption method
inline constexpr std::uint64_t has_size = 4, has_compressed_size = 8, has_compression = 64, has_encryption = 128;
}  // namespace zip

using zip_open_type = zip_archive*(const char* path, int flags, int* error);
using zip_open_from_source_type = zip_archive*(zip_source*, int flags, zip_failure*);
using zip_close_type = int(zip_archive*);
using zip_discard_type = void(zip_archive*);
using zip_strerror_type = const char*(zip_archive*);
using zip_error_init_type = void(zip_failure*);
using zip_error_init_with_code_type = void(zip_failure*, int code);
using zip_error_strerror_type = const char*(zip_failure*);
using zip_error_fini_type = void(zip_failure*);
using zip_source_buffer_create_type = zip_source*(const void*, std::uint64_t bytes, int free, zip_failure*);
using zip_source_buffer_fragment_type = zip_source*(zip_archive*, const zip_fragment*, std::uint64_t count, int free);
using zip_source_free_type = void(zip_source*);
using zip_get_num_entries_type = std::int64_t(zip_archive*, std::uint32_t flags);
using zip_get_name_type = const char*(zip_archive*, std::uint64_t index, std::uint32_t flags);
using zip_stat_index_type = int(zip_archive*, std::uint64_t index, std::uint32_t flags, zip_about*);
using zip_fopen_index_type = zip_member*(zip_archive*, std::uint64_t index, std::uint32_t flags);
using zip_fread_type = std::int64_t(zip_member*, void* to, std::uint64_t bytes);
using zip_fclose_type = int(zip_member*);
using zip_file_strerror_type = const char*(zip_member*);
using zip_file_add_type = std::int64_t(zip_archive*, const char* name, zip_source*, std::uint32_t flags);
using zip_set_file_compression_type = int(zip_archive*, std::uint64_t index, std::int32_t method, std::uint32_t level);
using zip_file_set_dostime_type = int(zip_archive*, std::uint64_t index, std::uint16_t time, std::uint16_t date,
                                      std::uint32_t flags);

}  // namespace sinter::io
