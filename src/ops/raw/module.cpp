// Modules of hand-written kernels: where their source comes from, where they are loaded, their variables.
#include <atomic>
#include <fstream>
#include <sstream>

#include "graph/run/flush.hpp"
#include "ops/base/access.hpp"
#include "ops/base/hooks.hpp"
#include "ops/raw/state.hpp"
#include "runtime/device_image.hpp"

namespace sinter::ops {
namespace {

std::atomic<module_loader> loader{nullptr};

/// Rethrows a compilation's error with the kernel's name as the prefix of the message instead of the compiler's.
[[noreturn]] void rethrow_for(const std::string& who, const compile_error& e) {
  const std::string_view text = e.what();
  fail<compile_error>(who, text.substr(text.starts_with("[") ? text.find("] ") + 2 : 0));
}

}  // namespace

void load_modules_with_for_tests(module_loader l) noexcept { loader = l; }

void require_gpu(runtime::device_id id, const std::string& who, const std::string& which) {
  if (loader.load(std::memory_order_relaxed)) return;
  if (id.kind == runtime::device_kind::cuda && id.index >= 0 && id.index < runtime::device_count(id.kind)) return;
  const std::string why = runtime::why_no_device(runtime::device_kind::cuda);
  fail<device_error>(who, "raw kernels need a CUDA device: ",
                     (!why.empty()                            ? why
                      : id.kind == runtime::device_kind::cuda ? "there is no " + runtime::to_string(id)
                                                              : which + runtime::to_string(id)));
}

runtime::device_id raw_device(const std::optional<device>& on, const std::string& who) {
  const runtime::device_id id = on ? to_id(*on) : runtime::default_device();
  require_gpu(id, who, on ? "the device asked for is " : "the default device is ");
  return id;
}

runtime::module_source source_of(std::string_view text, const raw_kw& kw) {
  const bool is_ptx = runtime::image_kind_of(text) == runtime::image_kind::ptx;
  return {std::string(text), is_ptx, "", kw.options, kw.names, kw.fast_math};
}

std::shared_ptr<runtime::raw_module> raw_source::on(runtime::device_id device, const std::string& who) try {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<runtime::raw_module>& slot = loaded_[device.index];
  if (slot) return slot;
  const module_loader test = loader.load();
  slot = test ? test(device, from) : runtime::get_backend(device).load_module(from);
  return slot;
} catch (const compile_error& e) {
  rethrow_for(who, e);
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace {

ops::raw_source& defined_source(const std::shared_ptr<ops::raw_source>& source) {
  return ops::defined(source, "raw_module", "the module");
}

/// A global variable; its size must be that of the value, if one is given.
runtime::raw_variable variable_of(runtime::raw_module& module, const std::string& name,
                                  std::optional<std::size_t> bytes) {
  const auto found = module.get_variable(ops::lowered_variable(module, name));
  if (!found) ops::fail<value_error>(name, "the module has no variable of this name");
  if (bytes && *bytes != found->bytes)
    ops::fail<value_error>(name, "the variable has ", found->bytes, " bytes, the value ", *bytes);
  return *found;
}

}  // namespace

raw_module::raw_module(std::string_view source, const raw_kw& kw)
    : source_(std::make_shared<ops::raw_source>(ops::source_of(source, kw))) {}

raw_module raw_module::from_file(std::string_view path, const raw_kw& kw) {
  const std::string name(path);
  std::ifstream in(name, std::ios::binary);
  std::stringstream text;
  // An empty file sets the output stream's failbit, which is not a read error.
  if (!in || (in.peek() != std::ifstream::traits_type::eof() && !(text << in.rdbuf())) || in.bad())
    ops::fail<io_error>("from_file", "cannot read '", name, "'");
  raw_module m(text.str(), kw);
  runtime::module_source& from = m.source_->from;
  from.file = name;
  from.image = runtime::image_kind_of(from.text) != runtime::image_kind::none;
  if (from.image && (!kw.options.empty() || !kw.names.empty() || kw.fast_math))
    ops::fail<value_error>("from_file", "'", name, "' is compiled already: options and names do not apply to it");
  return m;
}

raw_module raw_module::from_binary(std::span<const std::byte> image) {
  const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
  if (runtime::image_kind_of(bytes) == runtime::image_kind::none)
    ops::fail<value_error>("from_binary", bytes.size(), " bytes that are no cubin, fatbin or PTX");
  raw_module m(bytes);
  m.source_->from.image = true;
  return m;
}

raw_kernel raw_module::get(std::string_view name) const {
  defined_source(source_);
  raw_kernel k;
  k.entry_ = std::make_shared<ops::raw_entry>(source_, name);
  return k;
}

namespace {

/// Waits for all streams, since it is not known which kernels on which streams use a variable.
void wait_for_streams(runtime::backend& device) {
  if (device.held_streams != 0 && !graph::is_capturing()) device.synchronize();
}

}  // namespace

void raw_module::set_global(std::string_view name, const ndarray& values) const {
  ops::raw_source& source = defined_source(source_);
  const std::string who(name);
  const graph::array_view& v = ops::view_of(values, "set_global");
  const runtime::device_id device = v.device();
  ops::require_gpu(device, who, "the array is on ");
  const auto module = source.on(device, who);
  const auto bytes = static_cast<std::size_t>(core::element_count(v.shape)) * itemsize(v.type);
  const runtime::raw_variable to = variable_of(*module, who, bytes);
  const graph::exposed from = graph::begin_read(v, false);
  graph::flush(std::span(&from.held, 1));
  runtime::backend& b = runtime::get_backend(device);
  wait_for_streams(b);
  b.copy(to.address, graph::address_of(from), bytes);
  wait_for_streams(b);
}

void raw_module::write_global(std::string_view name, const void* from, std::size_t bytes,
                              const std::optional<device>& on) const {
  ops::raw_source& source = defined_source(source_);
  const std::string who(name);
  const runtime::device_id device = ops::raw_device(on, who);
  const auto module = source.on(device, who);
  const runtime::raw_variable to = variable_of(*module, who, bytes);
  wait_for_streams(runtime::get_backend(device));
  runtime::get_backend(device).copy_from_host(to.address, from, bytes);
}

std::vector<std::byte> raw_module::read_global(std::string_view name, std::size_t element,
                                               const std::optional<device>& on) const {
  ops::raw_source& source = defined_source(source_);
  const std::string who(name);
  const runtime::device_id device = ops::raw_device(on, who);
  const auto module = source.on(device, who);
  const runtime::raw_variable from = variable_of(*module, who, std::nullopt);
  if (from.bytes % element != 0)
    ops::fail<value_error>(who, "the variable has ", from.bytes, " bytes, no multiple of the ", element, " asked for");
  std::vector<std::byte> bytes(from.bytes);
  wait_for_streams(runtime::get_backend(device));
  runtime::get_backend(device).copy_to_host(bytes.data(), from.address, from.bytes);
  return bytes;
}

}  // namespace sinter::inline v0
