// Keys: integers, slices, newaxis and ellipsis give a view; arrays and lists among them give an indexed selection of
// that view.
#include <algorithm>

#include "graph/run/fresh_view.hpp"
#include "ops/base/promotion_args.hpp"
#include "ops/indexing/advanced_index.hpp"

namespace sinter::inline v0 {
namespace {

std::string in_shape(const core::dims& shape) { return " in shape " + core::to_string(shape); }

std::int64_t checked_index(std::int64_t i, int axis, const core::dims& shape) {
  const std::int64_t n = shape[axis];
  if (i < -n || i >= n)
    ops::fail<index_error>("index", "index ", i, " is out of range for axis ", axis, " with extent ", n,
                           in_shape(shape));
  return i < 0 ? i + n : i;
}

struct range {
  std::int64_t first, count, step;
};

/// The result of Python's slice.indices(n).
range resolve(const slice& s, std::int64_t n, int axis, const core::dims& shape) {
  if (!s.step.given) {
    const auto place = [n](const bound& b, std::int64_t otherwise) {
      if (!b.given) return otherwise;
      return std::clamp(b.value < 0 ? b.value + n : b.value, std::int64_t{0}, n);
    };
    const std::int64_t first = place(s.start, 0), last = place(s.stop, n);
    return first < last ? range{first, last - first, 1} : range{0, 0, 1};
  }
  const std::int64_t step = s.step.value;
  if (step == 0) ops::fail<value_error>("index", "slice step is zero for axis ", axis, in_shape(shape));
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto clamp = [&](const bound& b, std::int64_t otherwise) {
    if (!b.given) return otherwise;
    return std::clamp(b.value < 0 ? b.value + n : b.value, low, high);
  };
  const std::int64_t first = clamp(s.start, step > 0 ? low : high), last = clamp(s.stop, step > 0 ? high : low);
  if (step > 0 ? first >= last : first <= last) return {0, 0, step};
  // Unsigned, since -INT64_MIN does not exist.
  const auto distance = static_cast<std::uint64_t>(step > 0 ? last - first : first - last);
  const auto width = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const auto count = static_cast<std::int64_t>((distance - 1) / width + 1);
  return {first, count, count == 1 ? 1 : step};
}

/// How many axes an index consumes.
int axes_of(const index& i) {
  switch (i.kind()) {
    case index_kind::integer:
    case index_kind::slice: return 1;
    case index_kind::array: {
      const graph::array_view& v = ops::view_of(i.array(), "index");
      return is_bool(v.type) ? v.shape.size() : 1;
    }
    case index_kind::list: return i.items().is_mask() ? i.items().shape().ndim() : 1;
    default: return 0;
  }
}

void check_key(int used, int ellipses, const core::dims& shape) {
  if (ellipses > 1) ops::fail<index_error>("index", "more than one ellipsis for shape ", shape);
  if (used > shape.size())
    ops::fail<index_error>("index", "too many indices: ", used, " for rank ", shape.size(), in_shape(shape));
}

/// How many axes the indices consume; throws for too many of them and for a second ellipsis.
int count_axes(const index* first, std::size_t count, const core::dims& shape) {
  int used = 0, ellipses = 0;
  for (std::size_t i = 0; i < count; ++i) {
    used += axes_of(first[i]);
    ellipses += first[i].kind() == index_kind::ellipsis;
  }
  check_key(used, ellipses, shape);
  return used;
}

/// How many indices of each kind a key has.
class key_kinds {
 public:
  key_kinds(const index* first, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) ++counts_[static_cast<std::size_t>(first[i].kind())];
  }
  int operator[](index_kind k) const noexcept { return counts_[static_cast<std::size_t>(k)]; }

 private:
  int counts_[6] = {};
};

/// A list as an array on the device. Its indices are known on the host, so they are checked and made non-negative here.
graph::value list_values(const list& l, int axis, const core::dims& shape, runtime::device_id device) {
  const core::dims extents = ops::to_dims(l.shape());
  if (l.is_mask()) {
    const std::vector<char> flags(l.numbers().begin(), l.numbers().end());
    return graph::from_host(flags.data(), extents, dtype::b1, device)->store->now();
  }
  std::vector<std::int64_t> checked;
  for (const std::int64_t i : l.numbers()) checked.push_back(checked_index(i, axis, shape));
  return graph::from_host(checked.data(), extents, dtype::i64, device)->store->now();
}

graph::value array_values(const ndarray& a, runtime::device_id device) {
  const graph::array_view& v = ops::view_of(a, "index");
  ops::require_index_dtype(v.type, "index");
  ops::require_one_device("index", device, v.device());
  const graph::value values = graph::read(v);
  return is_bool(v.type) ? values : graph::record_cast(values, dtype::i64);
}

/// One array or list of the key, which indexes axes starting at `axis`; `place` is the position of that axis in the
/// selected view.
ops::index_entry entry_of(const index& i, int axis, int place, const graph::array_view& v) {
  ops::index_entry e;
  const bool listed = i.kind() == index_kind::list;
  e.values = listed ? list_values(i.items(), axis, v.shape, v.device()) : array_values(i.array(), v.device());
  e.mask = is_bool(e.values->type);
  e.in_range = !e.mask && (listed || ops::always_within(i.array().dtype(), v.shape[axis]));
  e.axes = e.mask ? e.values->shape.size() : 1;
  e.axis = place;
  e.reported_axis = axis;
  for (int k = 0; e.mask && k < e.axes; ++k)
    if (e.values->shape[k] != v.shape[axis + k] && e.values->shape[k] != 0)
      ops::fail<index_error>("index", "a mask of shape ", e.values->shape, " does not fit axis ", axis + k,
                             " with extent ", v.shape[axis + k], in_shape(v.shape));
  // As in NumPy a mask with extent 0 fits any axis: no element of it is true.
  const core::dims fitting(v.shape.data() + axis, e.axes);
  if (e.mask && !(e.values->shape == fitting))
    e.values = graph::record_scalar(ops::scalar_of(false, dtype::b1, "index"), dtype::b1, fitting, v.device());
  return e;
}

/// Where NumPy puts the selected axes: in place of the arrays if these are adjacent in the key, else first.
class selection_place {
 public:
  /// `kept`: axes of the result so far that no array indexes.
  void advanced(int kept) {
    if (state_ == none) front_ = kept;
    state_ = state_ == none || state_ == adjacent ? adjacent : (front_ = 0, separated);
  }
  void other() {
    if (state_ == adjacent) state_ = followed;
  }
  int front() const noexcept { return front_; }

 private:
  enum { none, adjacent, followed, separated } state_ = none;
  int front_ = 0;
};

/// The view of a key without arrays and lists.
graph::view_ref basic_view(const graph::array_view& v, const index* first, std::size_t count, const key_kinds& has) {
  const int used = has[index_kind::integer] + has[index_kind::slice];
  check_key(used, has[index_kind::ellipsis], v.shape);
  const int rank = v.shape.size() - has[index_kind::integer] + has[index_kind::newaxis];
  if (rank > core::max_rank) ops::fail<index_error>("index", "the result has rank ", rank, ", above ", core::max_rank);
  std::shared_ptr<graph::array_view> view = graph::begin_view(v, rank);
  const std::int64_t *const extents = v.shape.data(), *const steps = v.strides.data();
  std::int64_t *to = view->shape.data(), *step = view->strides.data();
  std::int64_t offset = v.offset;
  int axis = 0;
  const auto keep = [&](int n) {
    for (; n > 0; --n, ++axis) {
      *to++ = extents[axis];
      *step++ = steps[axis];
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    switch (first[i].kind()) {
      case index_kind::integer:
        offset += checked_index(first[i].integer(), axis, v.shape) * steps[axis];
        ++axis;
        break;
      case index_kind::newaxis:
        *to++ = 1;
        *step++ = 0;
        break;
      case index_kind::ellipsis: keep(v.shape.size() - used); break;
      default: {
        const range r = resolve(first[i].range(), extents[axis], axis, v.shape);
        offset += r.first * steps[axis];
        *to++ = r.count;
        *step++ = r.count == 0 ? steps[axis] : steps[axis] * r.step;
        ++axis;
      }
    }
  }
  keep(v.shape.size() - axis);
  return graph::end_view(std::move(view), v, offset);
}

}  // namespace

list::list(std::initializer_list<list_node> items) {
  std::vector<std::int64_t> extents;
  bool any_number = false;
  const auto fill = [&](auto& self, const list_node* first, std::size_t count, std::size_t depth) -> void {
    if (extents.size() == depth) extents.resize(depth + 1, static_cast<std::int64_t>(count));
    if (extents[depth] != static_cast<std::int64_t>(count)) throw shape_error("[list] lists of different lengths");
    for (std::size_t k = 0; k < count; ++k) {
      const list_node& node = first[k];
      if (node.is_list() != (k == 0 ? node.is_list() : first[0].is_list()) ||
          (!node.is_list() && extents.size() > depth + 1))
        throw shape_error("[list] numbers beside lists");
      if (node.is_list()) {
        self(self, node.begin(), node.size(), depth + 1);
        continue;
      }
      const scalar& s = node.number();
      if (s.kind() != scalar_kind::integer && s.kind() != scalar_kind::boolean)
        throw dtype_error("[list] indices must be integers or bools");
      const bool boolean = s.kind() == scalar_kind::boolean;
      if (boolean ? any_number : mask_) throw dtype_error("[list] numbers beside bools");
      (boolean ? mask_ : any_number) = true;
      numbers_.push_back(s.fits_int64() ? s.as_int64() : std::numeric_limits<std::int64_t>::max());
    }
  };
  fill(fill, items.begin(), items.size(), 0);
  shape_ = shape_t(extents);
}

subarray ndarray::operator()(const std::vector<ndarray>& indices) const {
  const std::vector<index> key(indices.begin(), indices.end());
  return at(key.data(), key.size());
}

namespace {

/// A key with arrays or lists.
[[gnu::noinline]] subarray selection_of(const graph::array_view& v, const index* first, std::size_t count) {
  const int used = count_axes(first, count, v.shape);
  ops::advanced_index selected;
  selection_place place;
  int kept = 0;  // axes of the result that no array indexes
  core::dims shape, strides;
  std::int64_t offset = v.offset;
  int axis = 0;
  const auto keep = [&](int n) {
    for (; n > 0; --n, ++axis) {
      shape.push_back(v.shape[axis]);
      strides.push_back(v.strides[axis]);
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    switch (first[i].kind()) {
      case index_kind::integer:
        offset += checked_index(first[i].integer(), axis, v.shape) * v.strides[axis];
        ++axis;
        place.advanced(kept);  // next to arrays an integer is an index array as well
        break;
      case index_kind::slice: {
        const range r = resolve(first[i].range(), v.shape[axis], axis, v.shape);
        offset += r.first * v.strides[axis];
        shape.push_back(r.count);
        strides.push_back(r.count == 0 ? v.strides[axis] : v.strides[axis] * r.step);
        ++axis;
        ++kept;
        place.other();
        break;
      }
      case index_kind::newaxis:
        shape.push_back(1);
        strides.push_back(0);
        ++kept;
        place.other();
        break;
      case index_kind::ellipsis:
        kept += v.shape.size() - used;
        keep(v.shape.size() - used);
        place.other();
        break;
      case index_kind::array:
      case index_kind::list:
        selected.entries.push_back(entry_of(first[i], axis, shape.size(), v));
        place.advanced(kept);
        keep(selected.entries.back().axes);
        break;
    }
  }
  keep(v.shape.size() - axis);
  if (shape.size() > core::max_rank)
    ops::fail<index_error>("index", "the result has rank ", shape.size(), ", above ", core::max_rank);
  graph::view_ref view = graph::make_view(v, std::move(shape), std::move(strides), offset);
  selected.source = graph::read(*view);
  selected.base = std::move(view);
  selected.selected_at = place.front();
  return ops::make_selection(std::move(selected));
}

}  // namespace

subarray ndarray::at(const index* first, std::size_t count) const {
  const graph::array_view& v = ops::view_of(*this, "index");
  const key_kinds has(first, count);
  if (has[index_kind::array] + has[index_kind::list] != 0) [[unlikely]]
    return selection_of(v, first, count);
  return ops::ndarray_access::make_sub(basic_view(v, first, count, has));
}

}  // namespace sinter::inline v0
