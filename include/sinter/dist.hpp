// Arrays that are distributed over several devices. A mesh is a device: an array on it is an ndarray like any other, with
// the shape of the whole, whose elements its devices have in parts. The operators and functions of the library record on it
// as always; an evaluation runs them part by part, and moves what one device needs of another. Not part of sinter.hpp.
//
//   namespace dist = sn::dist;
//   const dist::mesh m({4});
//   ndarray x = dist::shard(table, m, {dist::shard(0)});       // a quarter of the rows on each device
//   ndarray y = (x - x.mean(axes{0})) / x.std(axes{0});        // recorded; each device computes its rows
//   ndarray all = dist::gather(y);                             // an array of one device
//
// The bits of elementwise work, sums, means, extrema and random numbers are those of one device. What cannot run in parts
// throws device_error, which names the redistribution that would help; nothing is gathered silently, except operands of up
// to a megabyte where every device needs them. docs/distributed.md has the rules and the costs.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/random.hpp"

namespace sinter::inline v0 {
namespace dist {

/// What the positions along one axis of a mesh have of an array.
class placement {
 public:
  enum class kind : std::uint8_t { replicate, shard, partial };
  constexpr placement() = default;  // replicate
  constexpr placement(kind k, std::int64_t axis) noexcept : kind_(k), axis_(axis) {}
  constexpr kind what() const noexcept { return kind_; }
  /// Of shard: the axis of the array.
  constexpr std::int64_t axis() const noexcept { return axis_; }
  friend constexpr bool operator==(const placement&, const placement&) = default;

 private:
  kind kind_ = kind::replicate;
  std::int64_t axis_ = 0;
};
/// Parts along an axis of the array: all but the last ones have ceil(extent / positions) of it. Negative axes count from the
/// end.
constexpr placement shard(std::int64_t axis) noexcept { return {placement::kind::shard, axis}; }
/// The same on all positions.
constexpr placement replicate() noexcept { return {}; }
/// Each position has a term, an array of the whole shape (or of the part that other axes of the mesh shard); the array is
/// their sum, which is still to be made. Not of bool.
constexpr placement partial() noexcept { return {placement::kind::partial, 0}; }
/// "shard(0)", "replicate()", "partial()".
std::string to_string(const placement& p);
/// One for each axis of the mesh, in their order; axes without one replicate. An array's axis that several axes of the mesh
/// shard is divided by their product.
using placements = std::vector<placement>;

struct mesh_kw {
  kwonly _kw{};
  /// By position, in C order of the mesh; in a job this process's one. One device may stand at several positions. Empty: as many GPUs as there are
  /// positions, the first ones; where there is no GPU, the CPU at all positions.
  std::vector<sinter::device> devices{};
  /// An MPI_Comm of the program, as a number (the handle of MPICH, the address of Open MPI): the mesh's processes. 0: those
  /// of the job.
  std::uint64_t communicator = 0;
};

/// In a job of MPI (mpirun) the positions are the processes, each with one device: all processes run the same program and
/// make the same calls in the same order. Meshes of one position, and those of which two or more devices are named, are in
/// the process alone.
///
/// A grid of devices, which is a device of kind `mesh`. Meshes with the same extents, names and devices are equal, and their
/// arrays meet in one expression. Made of nothing: no device is touched.
class mesh {
 public:
  /// value_error: an extent below 1, more than 4,096 positions, another number of names than axes, of devices than
  /// positions; a device of kind mesh. device_error: there are fewer GPUs than positions, or a device is missing.
  explicit mesh(const shape_t& extents, const std::vector<std::string>& names = {}, const mesh_kw& kw = {});
  mesh(const shape_t& extents, const mesh_kw& kw) : mesh(extents, std::vector<std::string>{}, kw) {}
  explicit mesh(std::initializer_list<extent> extents, const std::vector<std::string>& names = {},
                const mesh_kw& kw = {})
      : mesh(shape_t(extents), names, kw) {}
  mesh(std::initializer_list<extent> extents, const mesh_kw& kw)
      : mesh(shape_t(extents), std::vector<std::string>{}, kw) {}
  sinter::device device() const noexcept { return {device_kind::mesh, index_}; }
  shape_t shape() const;
  std::int64_t size() const;
  std::vector<std::string> names() const;
  /// The devices by position, C order.
  std::vector<sinter::device> devices() const;
  friend bool operator==(const mesh&, const mesh&) = default;

 private:
  friend mesh mesh_of(const ndarray& x);
  mesh() = default;
  int index_ = 0;
};
/// The mesh of a distributed array. value_error: it is an ordinary one.
mesh mesh_of(const ndarray& x);
bool is_distributed(const ndarray& x);

// ---- arrays on a mesh. `how` has at most as many placements as the mesh has axes (value_error), whose axes are those of the
// array (index_error).

/// Parts of an ordinary array, copied to their devices. Evaluates it; waits as copies between devices do. The whole array is
/// not kept. value_error: it is distributed already (redistribute).
ndarray shard(const ndarray& x, const mesh& m, const placements& how);
/// As sn::full, zeros, ones: recorded, each device makes its part. dtype: `value`'s, float64.
ndarray full(const shape_t& shape, const operand& value, const mesh& m, const placements& how,
             const create_kw& kw = {});
ndarray zeros(const shape_t& shape, const mesh& m, const placements& how, const create_kw& kw = {});
ndarray ones(const shape_t& shape, const mesh& m, const placements& how, const create_kw& kw = {});
/// 0, 1, ..., n - 1, of int64 unless given.
ndarray arange(std::int64_t n, const mesh& m, const placements& how, const create_kw& kw = {});
/// Uniform in [0, 1), as generator::random: the numbers do not depend on the mesh. Each device draws its part.
ndarray random(sinter::random::generator& from, const shape_t& shape, const mesh& m, const placements& how,
               const create_kw& kw = {});
/// The array in a .npy file; each device's part is read where it lies in the file, nothing else. Errors as sn::load.
ndarray load(const std::string& path, const mesh& m, const placements& how);

/// The same elements in other parts; evaluates the array. Moves what a device does not have. Of a sum that is partial
/// replicate() makes an all-reduce and shard() a reduce-scatter, in the library's one order of additions: the elements have
/// the bits of one device, whenever the sum is made. A pending sum over sharded axes is made as `how` asks, so that
/// redistribute(sum(x, 0), {partial()}) moves nothing but edges, and redistribute(sum(x, 0), {shard(0)}) no more than each
/// device needs. To partial(): what is a sum already keeps its terms; of anything else the first position along
/// the mesh axis has the elements, and the others have zeros. dtype_error: partial() of bool.
ndarray redistribute(const ndarray& x, const placements& how);
/// An array of the parts that the program has, one for each position in their order (in a job: of this process), on the
/// positions' devices or copied there: the inverse of local(). Of partial() they are terms, which are added in the order of positions.
/// Shard() divides as dist::shard does: parts of the shapes that this gives. Evaluates the parts. value_error: another number of
/// parts than positions; shape_error, dtype_error: parts that do not fit together; dtype_error: partial() of bool.
ndarray from_local(const std::vector<ndarray>& parts, const shape_t& shape, const mesh& m, const placements& how);
/// An ordinary array with all elements, on the device of a position; in a job on that of each process. Evaluates.
ndarray gather(const ndarray& x, std::int64_t position = 0);
/// The parts by position (in a job those of this process), as ordinary arrays on their devices; of partial() the terms, which
/// of a sum in the library's order are sums of what each position has. Evaluates; nothing is copied, and writing to a part
/// does not change the array.
std::vector<ndarray> local(const ndarray& x);
/// One for each axis of the mesh. Evaluates. Parts of a slice lie where its elements were, so they need not be even.
placements placements_of(const ndarray& x);
/// Which position has what, as text: a drawing of the parts of up to two axes, then a line for each position. Evaluates.
std::string visualize(const ndarray& x);

}  // namespace dist
}  // namespace sinter::inline v0
