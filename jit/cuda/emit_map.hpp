// What the elementwise CUDA kernels share: groups of lanes, from their loads to their stores.
#pragma once
#include <functional>
#include <string>

#include "jit/cuda/emit_body.hpp"

namespace sinter::jit::cuda {

/// A group is a vector of consecutive elements of the inner axis, which a thread processes at a time.
class map_writer {
 protected:
  map_writer(const program& p, const cuda_variant& v);

  const dtype& type(int k) const { return p_.inputs[static_cast<std::size_t>(k)].type; }
  access input_class(int k) const { return v_.inputs[static_cast<std::size_t>(k)]; }
  bool plain_uniform(int k) const { return input_class(k) == access::uniform && !is_gathered(p_, k); }
  bool is_staged(int k) const { return input_class(k) == access::staged; }

  /// The struct of parameters, the phase of an element, and the kernel's head up to its opening brace.
  void open();
  /// Variables u<k> of the inputs that have one value.
  void uniform_values(const std::string& in);
  /// Arrays z<k> (values or gather pointers) and k<j> (coordinates) of the lanes, then the phase over them. `u`: the
  /// index of the packs i<k> that hold the values.
  void lanes(const std::string& in, const std::string& u, const std::function<std::string(int)>& coordinate);
  /// Stores of the lanes; the address of each output.
  void stores(const std::string& in, const std::function<std::string(int)>& address);

  /// Where group u of a thread lies: text that declares its coordinates, and the condition that it is in the space.
  struct group_place {
    std::string coordinates, inside;
  };
  /// `count` groups of a strided space: all loads, then the phase and the stores of each. `tile_row`: for staged
  /// inputs the address of a group in shared memory.
  void groups(const std::string& in, int count, const group_place& at,
              const std::function<std::string(int)>& tile_row = {});
  /// Number of the row among all rows; not used at rank 1.
  std::string row_number() const;

  const program& p_;
  const cuda_variant& v_;
  int vec_, inner_;
  phase element_;
  text t_;

 private:
  std::string coordinate(int j) const;
  void load(const std::string& in, int k, const std::function<std::string(int)>& tile_row);
};

}  // namespace sinter::jit::cuda
