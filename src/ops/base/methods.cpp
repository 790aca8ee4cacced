// The methods of ndarray that are functions of the same names.
#include "ops/base/axes.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/linalg.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/sort.hpp"

namespace sinter::inline v0 {

#define SINTER_REDUCTION(name, keywords) \
  ndarray ndarray::name(const keywords& kw) const { return sinter::name(*this, kw); }
SINTER_REDUCTION(sum, reduce_kw)
SINTER_REDUCTION(prod, reduce_kw)
SINTER_REDUCTION(mean, reduce_kw)
SINTER_REDUCTION(std, var_kw)
SINTER_REDUCTION(var, var_kw)
SINTER_REDUCTION(min, reduce_kw)
SINTER_REDUCTION(max, reduce_kw)
SINTER_REDUCTION(argmin, reduce_kw)
SINTER_REDUCTION(argmax, reduce_kw)
SINTER_REDUCTION(any, reduce_kw)
SINTER_REDUCTION(all, reduce_kw)
#undef SINTER_REDUCTION

ndarray ndarray::cumsum(const scan_kw& kw) const { return sinter::cumsum(*this, kw); }
ndarray ndarray::cumsum(optional_axis axis, const scan_kw& kw) const { return sinter::cumsum(*this, axis, kw); }
ndarray ndarray::cumprod(const scan_kw& kw) const { return sinter::cumprod(*this, kw); }
ndarray ndarray::cumprod(optional_axis axis, const scan_kw& kw) const { return sinter::cumprod(*this, axis, kw); }
ndarray ndarray::trace(std::int64_t offset) const { return sinter::trace(*this, {.offset = offset}); }

ndarray ndarray::reshape(const shape_t& shape, const reshape_kw& kw) const { return sinter::reshape(*this, shape, kw); }
ndarray ndarray::ravel(const order_kw& kw) const { return sinter::ravel(*this, kw); }
ndarray ndarray::flatten(const order_kw& kw) const { return sinter::flatten(*this, kw); }
ndarray ndarray::transpose(const axes& permutation) const { return sinter::transpose(*this, permutation); }
ndarray ndarray::squeeze(const axes& axis) const { return sinter::squeeze(*this, axis); }
ndarray ndarray::swapaxes(std::int64_t first, std::int64_t second) const {
  return sinter::swapaxes(*this, first, second);
}
ndarray ndarray::diagonal(std::int64_t offset) const { return sinter::diagonal(*this, offset); }
ndarray ndarray::repeat(std::int64_t repeats, optional_axis axis) const { return sinter::repeat(*this, repeats, axis); }
ndarray ndarray::take(const operand& indices, optional_axis axis) const { return sinter::take(*this, indices, axis); }

ndarray ndarray::clip(const optional_operand& low, const optional_operand& high) const {
  return sinter::clip(*this, low, high);
}
ndarray ndarray::round(std::int64_t decimals) const { return sinter::round(*this, decimals); }
ndarray ndarray::conj() const { return sinter::conj(*this); }
ndarray ndarray::dot(const ndarray& y) const { return sinter::dot(*this, y); }
ndarray ndarray::argsort(const sort_kw& kw) const { return sinter::argsort(*this, kw); }
ndarray ndarray::argsort(optional_axis axis, const sort_kw& kw) const { return sinter::argsort(*this, axis, kw); }
std::vector<ndarray> ndarray::nonzero() const { return sinter::nonzero(*this); }

void ndarray::sort(const sort_kw& kw) const {
  if (!kw.axis && ndim() != 1)
    ops::fail<value_error>("sort", "an array of shape ", shape(), " is sorted in place along an axis");
  (*this)(ellipsis_t{}) = sinter::sort(*this, kw);
}
void ndarray::sort(optional_axis axis, const sort_kw& kw) const {
  sort_kw with = kw;
  with.axis = axis;
  sort(with);
}
void ndarray::fill(const operand& value) const { (*this)(ellipsis_t{}) = value; }

void detail::require_rank(const shape_t& shape, int rank, const char* function) {
  if (shape.ndim() != rank)
    ops::fail<shape_error>(function, "an array of shape ", shape, " is no list of depth ", rank);
}

}  // namespace sinter::inline v0
