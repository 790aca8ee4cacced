// Raw kernels without a GPU: a module made of C++ functions replaces the compiled one, and the arrays are on the CPU.
#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/base/hooks.hpp"
#include "ops/raw/state.hpp"
#include "sinter/sinter.hpp"
#include "support/message_of.hpp"

namespace raw_test {

namespace sn = sinter;
namespace runtime = sinter::runtime;
using sn::ndarray;

struct fake_kernel {
  std::function<void(const runtime::raw_launch&, void**)> run;
  runtime::function_figures figures;
  std::optional<std::vector<std::size_t>> bytes;
};

/// The contents of the fake device: kernels and variables by their names in the compiled code.
struct fake_device {
  std::map<std::string, fake_kernel> kernels;
  std::map<std::string, std::vector<float>> variables;
  std::vector<std::pair<std::string, std::string>> lowered;
  int loaded = 0;
};
inline fake_device* device = nullptr;

class fake_function final : public runtime::raw_function {
 public:
  explicit fake_function(const fake_kernel& k) : kernel_(k) {}
  const runtime::function_figures& figures() const override { return kernel_.figures; }
  std::optional<std::vector<std::size_t>> parameter_bytes() const override { return kernel_.bytes; }
  int occupancy(const runtime::extents3& block, std::size_t shared) override {
    return static_cast<int>(2048 / (block.x * block.y * block.z)) - (shared > 0 ? 1 : 0);
  }
  void launch(const runtime::raw_launch& how, void** arguments) override { kernel_.run(how, arguments); }

 private:
  const fake_kernel& kernel_;
};

class fake_module final : public runtime::raw_module {
 public:
  fake_module() {
    kernels_.emplace();
    variables_.emplace();
    for (const auto& [name, k] : device->kernels) kernels_->push_back(name);
    for (const auto& [name, v] : device->variables) variables_->push_back(name);
  }
  const std::vector<std::pair<std::string, std::string>>& lowered_names() const override { return device->lowered; }
  const std::optional<std::vector<std::string>>& kernels() const override { return kernels_; }
  const std::optional<std::vector<std::string>>& variables() const override { return variables_; }
  std::shared_ptr<runtime::raw_function> get_function(const std::string& lowered, const std::string&) override {
    return std::make_shared<fake_function>(device->kernels.at(lowered));
  }
  std::optional<runtime::raw_variable> get_variable(const std::string& lowered) override {
    auto& v = device->variables.at(lowered);
    return runtime::raw_variable{v.data(), v.size() * sizeof(float)};
  }

 private:
  std::optional<std::vector<std::string>> kernels_, variables_;
};

/// During its lifetime modules are fake, and the CPU is the default device, whose memory they use.
struct fake : fake_device {
  sn::device before = sn::default_device();
  fake() {
    device = this;
    sn::set_default_device(sn::cpu);
    sinter::ops::load_modules_with_for_tests([](runtime::device_id, const runtime::module_source&) {
      ++device->loaded;
      return std::shared_ptr<runtime::raw_module>(std::make_shared<fake_module>());
    });
  }
  ~fake() {
    sinter::ops::load_modules_with_for_tests(nullptr);
    sn::set_default_device(before);
  }

  void add(const std::string& name, std::function<void(const runtime::raw_launch&, void**)> run) {
    fake_kernel& k = kernels[name];
    k.run = std::move(run);
    k.figures.registers = 40;
    k.figures.max_threads = 1024;
    k.figures.max_grid = {2147483647, 65535, 65535};
    k.figures.max_block = {1024, 1024, 64};
    k.figures.max_dynamic_shared = 200 << 10;
    k.figures.shared_bytes = 128;
    k.figures.cooperative = k.figures.clusters = true;
  }
};

template <class T>
T value(void** arguments, int k) {
  T v;
  std::memcpy(&v, arguments[k], sizeof v);
  return v;
}

/// A separate module for each test: raw_kernel objects of the same text share theirs.
inline sn::raw_module module_of(const char* source) { return sn::raw_module(source); }

inline ndarray floats(std::initializer_list<sn::list_node> list) {
  return sn::array(list, {.dtype = sn::float32, .device = sn::cpu});
}
inline ndarray ramp(std::int64_t n) { return sn::arange(0, n, 1, {.dtype = sn::float32, .device = sn::cpu}); }

using list = std::vector<float>;
inline list values(const ndarray& x) { return x.to_vector<float>(); }

using sinter_test::message_of;

}  // namespace raw_test
