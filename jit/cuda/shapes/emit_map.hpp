// What the elementwise CUDA kernels share. A group is a vector of consecutive elements of the inner axis.
#pragma once
#include <functional>
#include <string>

#include "jit/cuda/emit_kernel.hpp"

namespace sinter::jit::cuda {

class map_writer : protected kernel_writer {
 protected:
  map_writer(const program& p, const cuda_variant& v);

  /// All up to the kernel's first statements, and the inputs that have one value. `blocks`: as head() takes it.
  void begin(int shared_bytes, int blocks = 0);
  /// Stores of a group; the address of each output.
  void stores(const text_of& address);
  /// `count` groups of a strided space: a statement that declares the coordinates of group u, and the condition that it
  /// is in the space. `tile_row`: for staged inputs the address of a group in shared memory.
  void groups(int count, const std::string& place, const std::string& inside, const text_of& tile_row = {});
  /// A loop over what lies outside of the two axes of a block, if anything does.
  void over_outer_axes(const std::function<void()>& coordinates, const std::function<void()>& body);
  /// Number of the row among all rows; not used at rank 1.
  std::string row_number() const;
  /// Declares, at the coordinates c<j>, the offsets o<k> of operands and the wraps wrap<k>, each once for those that share it.
  void shared_offsets();
  /// Address of an input's element at the coordinates c<j>.
  std::string place_of(int k) const;
  std::string place_of_output(int k) const;
  /// An operand's stride: of an input, or behind those an output.
  std::string stride_of(std::size_t operand, int axis) const;

  bool runs() const { return !v_.runs.empty(); }
  /// Whether all groups of a row are computed in one way, and only what runs have there is read lane by lane at a row's ends.
  bool reads_ends() const;

  int vec_, inner_, unroll_;
  phase element_;
  text_of value_ = [this](int k) { return fixed(k) ? "u" + num(k) : std::string(); };

 private:
  void store_run(int k, const text_of& address);
  void run_ends(int k);
  std::string coordinate(int j) const;
  std::string offset_of(std::size_t operand) const;
};

}  // namespace sinter::jit::cuda
