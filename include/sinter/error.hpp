// Exception types. Every message names the function and the shapes, dtypes, axes or paths involved.
#pragma once
#include <stdexcept>
#include <string>

namespace sinter::inline v0 {

/// Base of everything that sinter throws on purpose.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Shapes that do not fit: broadcasting, reshape, ambiguous truth value.
class shape_error : public error {
  using error::error;
};
/// A dtype that the function does not take, or a value that does not fit its dtype.
class dtype_error : public error {
  using error::error;
};
/// An index or axis out of range, or an axis given twice.
class index_error : public error {
  using error::error;
};
/// An argument value that NumPy refuses with ValueError (empty argmin, integer to a negative power, ...).
class value_error : public error {
  using error::error;
};
/// Memory exhausted: the message carries the pool's figures.
class memory_error : public error {
  using error::error;
};
/// No such device, a missing library, or a failed device call.
class device_error : public error {
  using error::error;
};
/// Run-time compilation failed: the log, the numbered source and the options.
class compile_error : public error {
  using error::error;
};
/// A singular matrix, a factorisation that does not exist.
class linalg_error : public error {
  using error::error;
};
/// A file that cannot be read or written.
class io_error : public error {
  using error::error;
};

}  // namespace sinter::inline v0
