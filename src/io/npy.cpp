// load and save: .npy files from and to arrays.
#include "io/npy.hpp"

#include <algorithm>
#include <istream>
#include <ostream>
#include <vector>

#include "io/replace_file.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/error.hpp"

namespace sinter::io {
namespace {

using ops::ndarray_access;

constexpr std::size_t chunk = std::size_t{8} << 20;

/// The shape of the elements as stored, in C order.
core::dims stored_shape(const npy_header& h) {
  core::dims s = h.shape;
  if (h.fortran) std::reverse(s.begin(), s.end());
  return s;
}

/// The array that `load` returns: the axes in the header's order, converted to the dtype that the caller requests.
ndarray presented(const ndarray& stored, const npy_header& h, const load_kw& kw) {
  const ndarray x = h.fortran ? stored.T() : stored;
  return kw.dtype ? x.astype(*kw.dtype, false) : x;
}

/// Reads into memory of the device, by way of memory of the host where that cannot write it.
void read_into(byte_source& from, const npy_header& h, runtime::backend& device, std::byte* to) {
  const bool direct = device.host_addressable();
  std::vector<std::byte> staging(direct ? 0 : std::min<std::size_t>(chunk, h.bytes));
  for (std::size_t at = 0; at < h.bytes; at += chunk) {
    const std::size_t n = std::min<std::size_t>(chunk, h.bytes - at);
    std::byte* const part = direct ? to + at : staging.data();
    from.read(part, n);
    normalise_elements(part, n, h);
    if (!direct) device.copy_from_host(to + at, part, n);
  }
}

/// A stream has no known size, so memory grows with the data read.
ndarray read_unknown(byte_source& from, const npy_header& h, runtime::device_id device) {
  std::vector<std::byte> bytes;
  while (bytes.size() < h.bytes) {
    const std::size_t at = bytes.size(), n = std::min<std::size_t>(std::max(chunk, at), h.bytes - at);
    bytes.resize(at + n);
    from.read(bytes.data() + at, n);
    normalise_elements(bytes.data() + at, n, h);
  }
  return ndarray_access::make(graph::from_host(bytes.data(), stored_shape(h), h.type, device));
}

ndarray read_stored(byte_source& from, const npy_header& h, runtime::device_id id) {
  if (from.left() == byte_source::unknown) return read_unknown(from, h, id);
  runtime::backend& device = runtime::get_backend(id);
  auto memory = std::make_shared<runtime::buffer>(device, h.bytes);
  read_into(from, h, device, static_cast<std::byte*>(memory->data()));
  return ndarray_access::make(graph::make_array(graph::make_leaf(std::move(memory), 0, stored_shape(h), h.type)));
}

ndarray map_npy(file_source& file, const load_kw& kw) {
  const bool keeps = kw.mmap_mode == "r", shared = kw.mmap_mode == "r+";
  if (!keeps && !shared && kw.mmap_mode != "c")
    ops::fail<value_error>("load", "mmap_mode is '", kw.mmap_mode, "'; r, r+ and c are known");
  if (kw.device && kw.device->kind != device_kind::cpu)
    throw value_error("[load] a mapped file lies in the CPU's memory: move the array with to_device");
  const npy_header h = read_npy_header(file, kw.dtype);
  if (h.swapped) file.fail("cannot be mapped: its elements are big-endian");
  if (h.bytes == 0) return presented(read_stored(file, h, {}), h, kw);
  if (h.offset % itemsize(h.type) != 0)
    file.fail("cannot be mapped: its elements begin at byte " + std::to_string(h.offset) + ", which does not suit " +
              std::string(name(h.type)));
  std::shared_ptr<void> mapping = file.map(h.offset + h.bytes, !keeps, shared);
  std::byte* const data = static_cast<std::byte*>(mapping.get()) + h.offset;
  if (h.type == dtype::b1 && std::any_of(data, data + h.bytes, [](std::byte b) { return b > std::byte{1}; }))
    file.fail("cannot be mapped: it has bools that are neither 0 nor 1");
  auto memory = std::make_shared<runtime::buffer>(runtime::get_backend({}), data, h.bytes, std::move(mapping), keeps);
  const core::dims shape = stored_shape(h);
  return presented(ndarray_access::make(graph::from_buffer(std::move(memory), core::element_count(shape), h.type, shape,
                                                           core::contiguous_strides(shape), 0, shared, keeps)),
                   h, kw);
}

}  // namespace

std::string title_of(const char* function, const std::string& path) { return ops::message(function, "'", path, "'"); }

ndarray read_npy(byte_source& from, const load_kw& kw) {
  const npy_header h = read_npy_header(from, kw.dtype);
  return presented(read_stored(from, h, ops::chosen(kw.device)), h, kw);
}

npy_image npy_image_of(const ndarray& x, const char* function) {
  const graph::array_view& v = ops::view_of(x, function);
  const ndarray turned = x.T();
  const core::dims backwards = ops::view_of(turned, function).shape;
  // An array is in Fortran order if its transpose is C-contiguous; if both are, the file says C.
  const bool fortran = !core::is_contiguous(v.shape, v.strides) &&
                       core::is_contiguous(backwards, ops::view_of(turned, function).strides);
  npy_image image;
  image.header = npy_header_bytes(v.type, v.shape, fortran);
  image.bytes = static_cast<std::size_t>(core::element_count(v.shape)) * itemsize(v.type);
  const auto block = ndarray_access::host(fortran ? turned : x);
  image.elements = static_cast<const std::byte*>(detail::host_data(*block));
  image.keep = block;
  return image;
}

}  // namespace sinter::io

namespace sinter::inline v0 {

ndarray load(const std::string& path, const load_kw& kw) {
  io::file_source file(path, io::title_of("load", path), kw.mmap_mode == "r+");
  return kw.mmap_mode.empty() ? io::read_npy(file, kw) : io::map_npy(file, kw);
}

ndarray load(std::istream& in, const load_kw& kw) {
  if (!kw.mmap_mode.empty()) throw value_error("[load] a stream cannot be mapped");
  io::stream_source source(in, "[load] the stream");
  return io::read_npy(source, kw);
}

void save(const std::string& path, const ndarray& x) {
  const std::string file = path.ends_with(".npy") ? path : path + ".npy";
  const io::npy_image image = io::npy_image_of(x, "save");
  io::replace_file replacement(file, io::title_of("save", file));
  replacement.write(image.header.data(), image.header.size());
  replacement.write(image.elements, image.bytes);
  replacement.finish();
}

void save(std::ostream& out, const ndarray& x) {
  const io::npy_image image = io::npy_image_of(x, "save");
  out.write(image.header.data(), static_cast<std::streamsize>(image.header.size()));
  out.write(reinterpret_cast<const char*>(image.elements), static_cast<std::streamsize>(image.bytes));
  if (!out) throw io_error("[save] the stream takes no more");
}

}  // namespace sinter::inline v0
