// src/ops/sparse: sparse arrays. What a handle refers to, and its parts as the kernels of devices take them.
//
// A csc array is handled as the csr array of its transpose: "majors" are the rows of csr and the columns of csc, "minors"
// the other extent.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "ops/base/access.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "runtime/algorithms/sparse.hpp"
#include "sinter/literals.hpp"
#include "sinter/sparse_array.hpp"

namespace sinter::inline v0 {
namespace sparse::detail {

/// What is known of the order of entries: sorted: those of each major ascend; canonical: and no place is there twice. Of coo:
/// in C order.
enum class entry_order : int { unknown = -1, none = 0, sorted = 1, canonical = 2 };

/// What is found out about places, for all arrays that have them.
template <class T>
class shared_fact {
 public:
  explicit shared_fact(T x) : at_(std::make_shared<std::atomic<T>>(x)) {}
  shared_fact(const shared_fact&) = delete;
  shared_fact& operator=(const shared_fact&) = delete;
  void operator=(T x) { *at_ = x; }
  T load() const { return at_->load(); }
  operator T() const { return load(); }
  /// The same fact from here on.
  void share(const shared_fact& other) { at_ = other.at_; }

 private:
  std::shared_ptr<std::atomic<T>> at_;
};

/// Never changes, but for what is found out about it.
struct sparse_state {
  sparse::format format{};
  std::int64_t rows = 0, columns = 0;
  ndarray data;
  ndarray first;   // csr, csc: indptr; coo: rows
  ndarray second;  // csr, csc: indices; coo: columns
  mutable shared_fact<entry_order> order{entry_order::unknown};
  mutable shared_fact<std::int64_t> longest{-1};  // a bound of the entries of a major, if one is known
  mutable std::mutex mutex;
  mutable std::shared_ptr<const sparse_state>
      regrouped;  // by minors: for products of devices that need it; of coo: csr
};

}  // namespace sparse::detail
}  // namespace sinter::inline v0

namespace sinter::ops {

using idx::_;
using idx::newaxis;
using sparse::sparse_array;
using sparse::detail::entry_order;
using sparse::detail::sparse_state;
using state_ref = std::shared_ptr<const sparse_state>;

struct sparse_access {
  static sparse_array make(state_ref s) {
    sparse_array a;
    a.state_ = std::move(s);
    return a;
  }
  static const state_ref& ref(const sparse_array& a) { return a.state_; }
};

/// value_error where the handle is undefined.
const state_ref& state_of(const sparse_array& a, const char* function);

inline std::int64_t majors_of(const sparse_state& s) { return s.format == sparse::format::csc ? s.columns : s.rows; }
inline std::int64_t minors_of(const sparse_state& s) { return s.format == sparse::format::csc ? s.rows : s.columns; }
inline bool is_compressed(const sparse_state& s) { return s.format != sparse::format::coo; }
inline runtime::device_id device_of(const sparse_state& s) { return view_of(s.data, "sparse").device(); }
inline std::int64_t entries_of(const sparse_state& s) { return s.data.shape()[0]; }
inline dtype index_of(const sparse_state& s) { return s.second.dtype(); }

/// The array as it is now, without what is written to it later.
ndarray snapshot_of(const ndarray& x);
/// Parts that the library made or has checked: index arrays of one dtype.
state_ref make_state(sparse::format f, std::int64_t rows, std::int64_t columns, ndarray data, ndarray first,
                     ndarray second, entry_order order);
/// The same places with other elements.
state_ref with_elements(const sparse_state& s, ndarray data);
/// Whether a derivative or a vmap follows the elements: then they are moved by recorded operations only.
bool elements_are_followed(const sparse_state& s);
/// Notes that the index arrays of a compressed array are given to others.
void note_handed_out(const state_ref& s);
/// An array that lives and has these very index arrays, which never change: whoever makes another one of them need not check
/// them. Null where none of those is known that were handed out last on this thread.
state_ref checked_before(const ndarray& indices, const ndarray& indptr);
/// The transpose, of the same parts.
state_ref flipped(const sparse_state& s);
/// The index dtype for extents and a number of entries.
dtype index_for(std::int64_t rows, std::int64_t columns, std::int64_t entries);
/// Indices cast to a dtype.
state_ref with_index_dtype(const state_ref& s, dtype index);
/// The dtype that sparse arrays have for one: float32 of 16-bit floats.
dtype element_dtype(dtype t);
/// What sums of elements of this dtype are taken in by kernels: int64 of integers and bools.
dtype sum_dtype(dtype t);

/// csr or csc, converted where it is coo (csr then), entries of equal place added up.
state_ref compressed(const state_ref& s);
/// The same; what is made of coo is kept with the array for the next product.
state_ref kept_compressed(const state_ref& s);
state_ref in_format(const state_ref& s, sparse::format f);
/// csr (csc) entries grouped by minors: the same matrix in the other format, sorted. Order within a minor is that of the
/// majors.
state_ref regrouped(const state_ref& s);
/// The same, made once and kept with the array.
state_ref kept_regrouped(const state_ref& s);
/// Order of the entries; looked up where it is not known.
entry_order order_of(const sparse_state& s);
/// A bound of the entries of a major, for products of devices; waits where it has to be looked up, -1 where that cannot be.
std::int64_t longest_of(const sparse_state& s);
/// Sorted, and entries of equal place added up; csr or csc.
state_ref canonical(const state_ref& s);
state_ref sorted(const state_ref& s);
/// Canonical if the elements are bools: those of equal place are or-ed, which sums of what is made of each are not.
inline state_ref bools_joined(const state_ref& s) { return is_bool(s->data.dtype()) ? canonical(s) : s; }
/// The major coordinate of each entry of csr or csc.
ndarray majors_of_entries(const sparse_state& s);
ndarray rows_of_entries(const sparse_state& s);
ndarray columns_of_entries(const sparse_state& s);

/// A compressed matrix with its parts in memory; the data in `type`.
struct ready_matrix {
  value data, indices, indptr;
  runtime::sparse_matrix matrix;
  void pass_faults(const value& to) const;
};
ready_matrix ready(const sparse_state& s, dtype type);
/// The backend's sparse kernels.
runtime::sparse& kernels_of(const sparse_state& s);
/// The dense array.
ndarray dense_of(const sparse_state& s);
/// Without entries that are zero; waits.
state_ref without_zeros(const state_ref& s);
/// The entries at some positions, which ascend.
state_ref kept_entries(const sparse_state& s, const ndarray& positions);
/// The entries where a mask is true.
state_ref kept_where(const sparse_state& s, const ndarray& mask);
/// The first elements of a leaf that has been written: a view where most are, else a copy.
ndarray first_elements(const value& all, std::int64_t count);
/// Sums of segments: entries starts[k] to starts[k + 1] - 1 of data, in data's dtype. `starts` is one longer than there
/// are segments, int32 or int64.
ndarray segment_sums(const ndarray& data, const ndarray& starts);

}  // namespace sinter::ops
