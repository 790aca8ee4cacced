// CUDA C++ kernels written by hand, compiled while the program runs (NVRTC; no nvcc) and launched on arrays.
//
//   const sn::raw_kernel axpy(R"(
//   extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
//     int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) y[i] += a * x[i];
//   })", "axpy");
//   axpy({.grid = {(n + 255) / 256}, .block = {256}}, 2.0f, x, y, n);
//
// A launch is enqueued on the current stream (stream.hpp), after all earlier work on its arrays, and returns at once;
// arrays are evaluated as needed, and lazy expressions may be made of them before and after.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/device.hpp"
#include "sinter/keywords.hpp"
#include "sinter/launch.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {
struct raw_source;  // a module: what it is made from, and where it is loaded
struct raw_entry;   // a kernel of a module, with its function on each device
struct raw_kernel_access;
}  // namespace sinter::ops

namespace sinter::inline v0 {

class raw_module;

namespace detail {

/// An array that a kernel only reads.
struct in_array {
  ndarray array;
};
/// An array that a kernel reaches through its strides.
struct strided_array {
  ndarray array;
  bool readonly = false;
};

enum class argument_kind : std::uint8_t { array, in, strided, number, pointer, object };
/// An argument of a launch; it refers to what the caller passed.
struct kernel_argument {
  const void* value = nullptr;  // an array's handle, else the bytes of the value
  std::uint32_t bytes = 0;      // of the value
  argument_kind kind = argument_kind::object;
  bool readonly = false;                // in, strided, pointer to const
  std::optional<sinter::dtype> type{};  // number; pointer to elements
};

template <class T>
kernel_argument as_argument(const T& v) noexcept {
  if constexpr (std::derived_from<T, ndarray>) {
    return {static_cast<const ndarray*>(&v), 0, argument_kind::array};
  } else if constexpr (std::same_as<T, in_array>) {
    return {&v.array, 0, argument_kind::in, true};
  } else if constexpr (std::same_as<T, strided_array>) {
    return {&v.array, 0, argument_kind::strided, v.readonly};
  } else if constexpr (std::is_null_pointer_v<T>) {
    return {&v, sizeof v, argument_kind::pointer};
  } else if constexpr (std::is_pointer_v<T>) {
    using element = std::remove_pointer_t<T>;
    kernel_argument a{&v, sizeof v, argument_kind::pointer, std::is_const_v<element>};
    if constexpr (element_type<element>) a.type = dtype_of<element>;
    return a;
  } else if constexpr (element_type<T>) {
    return {&v, sizeof v, argument_kind::number, false, dtype_of<T>};
  } else {
    return {&v, sizeof v, argument_kind::object};
  }
}

template <class T>
concept object_pointer = std::is_null_pointer_v<T> ||
    (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>);
/// What a struct parameter or a variable of a module may be copied from.
template <class T>
concept plain_object = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_null_pointer_v<T> &&
                       !std::is_array_v<T> && !std::is_function_v<T> && !std::is_member_pointer_v<T> &&
                       !std::same_as<T, long double> && !std::same_as<T, std::complex<long double>>;
template <class T>
concept plain_range = requires(const T& r) {
  std::span(r);
  requires plain_object<typename decltype(std::span(r))::value_type>;
};

}  // namespace detail

/// `x`, which the kernel only reads: it may be a pending expression (evaluated first, fused), a strided view (copied to
/// C order if the kernel takes a pointer) or read-only; readers and other holders of its elements are left alone.
inline detail::in_array in(const ndarray& x) { return {x}; }
/// `x` with its shape and strides: the parameter is a `sinter::strided<T, N>` by value, N being x.ndim(). No copy is
/// made of a view. The definition is put before every raw source:
///
///   template <class T, int N> struct strided {
///     T* data;                            // the first element
///     long long shape[N], strides[N];     // strides in elements
///     T& operator()(i, j, ...) const;     // N indices, not checked
///     long long size() const;
///   };
///
/// The elements of an array that is written may not share memory (a broadcast view): value_error.
inline detail::strided_array strided(const ndarray& x) { return {x, false}; }
/// The same, only read: the parameter is a `sinter::strided<const T, N>`.
inline detail::strided_array strided(const detail::in_array& x) { return {x.array, true}; }
inline detail::strided_array in(const detail::strided_array& x) { return {x.array, true}; }

/// What a kernel can be launched with:
///  - an array: the address of its first element, C-contiguous. It is read and written, unless the parameter is a
///    pointer to const or it is wrapped as `sn::in(x)`. A view that is not contiguous is a value_error where it is
///    written (pass `sn::strided(x)`, or a copy) and copied where it is read;
///  - `sn::in(x)`, `sn::strided(x)`, `sn::strided(sn::in(x))`;
///  - a number, in its own C++ type: 2.0f for a float, 2.0 for a double, an int for an int. sinter::half and
///    sinter::bfloat are __half and __nv_bfloat16, std::complex<float> is float2 or any complex type of that layout;
///  - a pointer: a device address, taken as it is;
///  - any other trivially copyable value, for a struct of the same layout.
template <class T>
concept raw_argument = std::derived_from<T, ndarray> || std::same_as<T, detail::in_array> ||
    std::same_as<T, detail::strided_array> || detail::object_pointer<T> || detail::plain_object<T>;

/// Keywords of raw kernels and modules.
struct raw_kw {
  kwonly _kw{};
  /// Options of NVRTC: "-DN=4", "-I/path", "--maxrregcount=32", "-std=c++20" (c++17 otherwise).
  std::vector<std::string> options{};
  /// Name expressions of the templates (kernels or variables) that are wanted: "axpy<float>", "my::kernel<4, 2>".
  std::vector<std::string> names{};
  /// Contraction and approximate functions: --use_fast_math. Without it NVRTC's defaults hold.
  bool fast_math = false;
};

/// What a compiled kernel uses and allows on one device.
struct kernel_attributes {
  int registers = 0;                         ///< of each thread
  int max_threads_per_block = 0;             ///< with that many registers
  std::size_t shared_bytes = 0;              ///< static shared memory of a block
  std::size_t max_dynamic_shared_bytes = 0;  ///< dynamic shared memory that a block may request
  std::size_t constant_bytes = 0;            ///< user-written __constant__ memory
  std::size_t local_bytes = 0;               ///< local memory of each thread (spilled registers, arrays)
  int binary_version = 0;                    ///< 90: code for compute capability 9.0
  int ptx_version = 0;                       ///< of the virtual architecture it came from
};

/// A kernel: of a raw_module, or with a source of its own. A handle: copies share what is compiled. Compiled and loaded
/// at the first use on each device, through the disk cache. Kernels with sources of their own that are the same share
/// one loaded module, kept as long as the process: making such a kernel again where it is used costs little.
class raw_kernel {
 public:
  /// No kernel; using it throws value_error.
  raw_kernel() = default;
  /// `source` is CUDA C++ (or PTX text). `name` is the kernel's: of an extern "C" function, of a C++ function
  /// ("scale", "my::scale"), or a template's name expression ("scale<float>"), which need not be in kw.names.
  raw_kernel(std::string_view source, std::string_view name, const raw_kw& kw = {});

  /// Enqueues the kernel on the device of its arrays (without any: the default device) and returns.
  ///
  /// Checked before anything is evaluated or run, as far as the parameters are known (from the mangled name of C++
  /// kernels, from the declaration of extern "C" ones): the number of arguments (value_error), dtypes, kinds and the
  /// rank of strided arrays (dtype_error), devices (device_error), the launch's extents and shared memory against the
  /// kernel's and the device's limits (value_error). Without a GPU: device_error. The first use compiles:
  /// compile_error with NVRTC's log, whose lines are those of the source; value_error if it has no such kernel.
  ///
  /// Arrays that are written keep no trace of it: pending expressions recorded before see the old elements (which are
  /// copied for them), views of the same memory see the new ones, and what is recorded afterwards stays lazy.
  template <raw_argument... A>
  void operator()(const launch& how, const A&... arguments) const {
    const detail::kernel_argument list[] = {detail::as_argument(arguments)..., detail::kernel_argument{}};
    start(how, list, sizeof...(A));
  }

  /// Compiles and loads if need be; of the default device, or of `on`.
  kernel_attributes attributes(const std::optional<device>& on = {}) const;
  /// Blocks of that many threads and bytes of dynamic shared memory that are resident on one multiprocessor at a time;
  /// 0 if such a block cannot run.
  int occupancy(const dims& block, std::size_t shared_mem = 0, const std::optional<device>& on = {}) const;
  /// The name as it was asked for.
  std::string name() const;
  bool defined() const noexcept { return entry_ != nullptr; }

 private:
  friend class raw_module;
  friend struct ops::raw_kernel_access;
  std::shared_ptr<ops::raw_entry> entry_;

  void start(const launch& how, const detail::kernel_argument* arguments, std::size_t count) const;
};

/// CUDA C++, PTX or a cubin with any number of kernels and variables. A handle: copies share what is compiled. A module
/// is compiled and loaded at the first use on each device, where it has its own variables; it stays loaded as long as
/// the module or a kernel of it is held, and letting go of the last one waits for the device.
class raw_module {
 public:
  /// No module; using it throws value_error.
  raw_module() = default;
  /// CUDA C++. Nothing is compiled yet. Sources may include the toolkit's headers (cuda_fp16.h, cooperative_groups.h,
  /// cub/cub.cuh) where it is installed.
  explicit raw_module(std::string_view source, const raw_kw& kw = {});
  /// A file, read now: a cubin, a fatbin or PTX by its content, CUDA C++ otherwise, whose errors then name the file and
  /// whose #include "..." look beside it. io_error if it cannot be read.
  static raw_module from_file(std::string_view path, const raw_kw& kw = {});
  /// The bytes of a cubin, a fatbin, or PTX (copied). value_error if they are none of these.
  static raw_module from_binary(std::span<const std::byte> image);

  /// A kernel by name; whether it exists shows at its first use.
  raw_kernel get(std::string_view name) const;

  /// Writes a __constant__ or __device__ variable: an array or vector, or one value. The bytes must be as many as the
  /// variable has: value_error. Kernels launched before still see the old value, on whatever stream. `name` is the
  /// variable's ("table", "my::table") or a name expression. On the default device, or `on`.
  template <detail::plain_range R>
  void set_global(std::string_view name, const R& values, const std::optional<device>& on = {}) const {
    const auto bytes = std::as_bytes(std::span(values));
    write_global(name, bytes.data(), bytes.size(), on);
  }
  template <detail::plain_object T>
    requires(!detail::plain_range<T>)
  void set_global(std::string_view name, const T& value, const std::optional<device>& on = {}) const {
    write_global(name, &value, sizeof value, on);
  }
  /// From an array, on its device; nothing waits for it, unless the program holds streams of its own.
  void set_global(std::string_view name, const ndarray& values) const;
  /// The whole variable. Synchronises. value_error if its size is not a multiple of T's.
  template <detail::plain_object T>
  std::vector<T> get_global(std::string_view name, const std::optional<device>& on = {}) const {
    const std::vector<std::byte> bytes = read_global(name, sizeof(T), on);
    const T* first = reinterpret_cast<const T*>(bytes.data());
    return std::vector<T>(first, first + bytes.size() / sizeof(T));
  }

  bool defined() const noexcept { return source_ != nullptr; }

 private:
  std::shared_ptr<ops::raw_source> source_;

  void write_global(std::string_view name, const void* from, std::size_t bytes, const std::optional<device>& on) const;
  std::vector<std::byte> read_global(std::string_view name, std::size_t element, const std::optional<device>& on) const;
};

}  // namespace sinter::inline v0
