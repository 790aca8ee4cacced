// Walks over trees as kernels from text, for every device.
#include <map>
#include <mutex>
#include <string>

#include "jit/prelude_text.hpp"
#include "ops/base/errors.hpp"
#include "ops/spatial/walks.hpp"
#include "sinter/creation.hpp"
#include "sinter/kernel.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/scan.hpp"

namespace sinter::ops {
namespace {

using std::int64_t;

/// The kernels of a process; each text is one kernel.
elementwise_kernel kernel_of(const std::string& name, const std::string& inputs, const std::string& outputs,
                             const std::string& body) {
  static std::mutex guard;
  static auto& known = *new std::map<std::string, elementwise_kernel>;
  const std::lock_guard lock(guard);
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const std::string preamble =
      std::string(jit::prelude_text("spatial_tree")) + std::string(jit::prelude_text("spatial_components"));
  return known.emplace(name, elementwise_kernel(inputs, outputs, body, name, {.preamble = preamble})).first->second;
}

/// What all walks take, the tree in the text, and the norm.
const char* const tree_inputs =
    "raw T points, raw int32 places, raw T boxes, raw int32 least, int64 count, int32 leaves, int32 bucket, float64 p";

struct walk_text {
  std::string dimensions, kind, tree, norm, name;

  walk_text(const char* what, const point_tree& t, walk_norm of)
      : dimensions(std::to_string(t.dimensions)),
        kind(std::to_string(of.kind)),
        tree("const sn_tree::tree<T, " + dimensions +
             "> tree{points.data, places.data, boxes.data, least.data, count, leaves, bucket}; "),
        norm("const sn_tree::norm<T, " + kind + "> norm{p}; "),
        name(std::string(what) + "_" + dimensions + "d_norm_" + kind) {}
  /// "sn_tree::nearest<T, 2, 2>".
  std::string call(const char* function) const {
    return std::string("sn_tree::") + function + "<T, " + dimensions + ", " + kind + ">";
  }
  /// "row * 2".
  std::string first_of(const char* row) const { return std::string(row) + " * " + dimensions; }
};

ndarray room(const shape_t& shape, dtype type, const ndarray& like) {
  return empty(shape, {.dtype = type, .device = like.device()});
}
ndarray counted_up(int64_t n, dtype type, const ndarray& like) {
  return arange(n, {.dtype = type, .device = like.device()});
}
/// The ids along the curve as numbers of rows.
ndarray places_of(const point_tree& t) { return counted_up(t.count, dtype::i64, t.points); }

class walks_by_text final : public tree_walks {
 public:
  ndarray places(const ndarray& points, const ndarray& cells) const override {
    const std::string d = std::to_string(points.shape(1));
    const auto k = kernel_of("curve_places_" + d + "d", "int64 row, raw T points, raw T cells", "uint64 place",
                             "place = sn_tree::place_of<T, " + d + ">(points.data + row * " + d + ", cells.data);");
    return k(counted_up(points.shape(0), dtype::i64, points), points, cells);
  }

  void make_boxes(point_tree& t) const override {
    const std::string d = std::to_string(t.dimensions);
    const int64_t nodes = int64_t{2} * t.leaves;
    t.boxes = room({nodes, 2, t.dimensions}, t.points.dtype(), t.points);
    t.least = room({nodes}, dtype::i32, t.points);
    const auto leaf = kernel_of("tree_leaves_" + d + "d",
                                "int32 leaf, raw T points, raw int32 places, int64 count, int32 leaves, int32 bucket",
                                "raw T boxes, raw int32 least",
                                "const sn_tree::tree<T, " + d +
                                    "> tree{points.data, places.data, boxes.data, least.data, count, leaves, bucket}; "
                                    "sn_tree::make_leaf(tree, boxes.data, least.data, leaf);");
    leaf.call(counted_up(t.leaves, dtype::i32, t.points), t.points, t.ids, t.count, t.leaves, t.bucket,
              {.out = {t.boxes, t.least}});
    const auto node = kernel_of("tree_nodes_" + d + "d", "int32 node", "raw T boxes, raw int32 least",
                                "sn_tree::make_node<T, " + d + ">(boxes.data, least.data, node);");
    for (int first = t.leaves / 2; first > 0; first /= 2)
      node.call(arange(first, 2 * first, {.dtype = dtype::i32, .device = t.points.device()}),
                {.out = {t.boxes, t.least}});
  }

  nearest_found nearest(const point_tree& t, walk_norm of, const ndarray& queries, const ndarray& order, int64_t k,
                        double bound) const override {
    const walk_text text("tree_nearest", t, of);
    const auto kernel =
        kernel_of(text.name, std::string("int64 row, ") + tree_inputs + ", raw T queries, int32 k, float64 bound",
                  "raw T distances, raw int64 found",
                  text.tree + text.norm +
                      "const sn_tree::nearest_list<T, long long> list{distances.data + row * k, found.data + row * k, "
                      "k, T(bound)}; " +
                      text.call("nearest") + "(tree, norm, queries.data + " + text.first_of("row") + ", list);");
    const int64_t m = queries.shape(0);
    const nearest_found out{room({m, k}, t.points.dtype(), t.points), room({m, k}, dtype::i64, t.points)};
    kernel.call(order, t.points, t.ids, t.boxes, t.least, t.count, t.leaves, t.bucket, of.p, queries, k, bound,
                {.out = {out.distances, out.ids}});
    return out;
  }

  ndarray count(const point_tree& t, walk_norm of, const ball_query& ball, int64_t limit) const override {
    const walk_text text("tree_count", t, of);
    const auto kernel = kernel_of(
        text.name, std::string("int64 row, ") + tree_inputs + ", raw T queries, raw T radii, int64 limit, int32 after",
        "raw int64 counts",
        text.tree + text.norm + "counts[row] = " + text.call("count_within") + "(tree, norm, queries.data + " +
            text.first_of("row") + ", radii[row], limit, after ? row : -1);");
    const ndarray out = room({ball.queries.shape(0)}, dtype::i64, t.points);
    kernel.call(ball.order, t.points, t.ids, t.boxes, t.least, t.count, t.leaves, t.bucket, of.p, ball.queries,
                ball.radii, limit, ball.after ? 1 : 0, {.out = {out}});
    return out;
  }

  /// By two walks: neighbours are counted first.
  all_found within(const point_tree& t, walk_norm of, const ball_query& ball) const override {
    const ndarray indptr = cumulative_sum(count(t, of, ball, t.count), {.include_initial = true});
    const walk_text text("tree_fill", t, of);
    const auto kernel = kernel_of(
        text.name,
        std::string("int64 row, ") + tree_inputs + ", raw T queries, raw T radii, raw int64 indptr, int32 after",
        "raw int64 indices, raw T distances",
        text.tree + text.norm + "const long long begin = indptr[row]; " + text.call("fill_within") +
            "(tree, norm, queries.data + " + text.first_of("row") +
            ", radii[row], after ? row : -1, indptr[row + 1] - begin, indices.data + begin, distances.data + begin);");
    const int64_t total = indptr(-1).item<int64_t>();
    const all_found out{indptr, room({total}, dtype::i64, t.points), room({total}, t.points.dtype(), t.points)};
    kernel.call(ball.order, t.points, t.ids, t.boxes, t.least, t.count, t.leaves, t.bucket, of.p, ball.queries,
                ball.radii, indptr, ball.after ? 1 : 0, {.out = {out.indices, out.distances}});
    return out;
  }

  ndarray join(const point_tree& t, walk_norm of, double radius, const ndarray& core) const override {
    const walk_text text("tree_join", t, of);
    const auto kernel = kernel_of(
        text.name, std::string("int64 place, ") + tree_inputs + ", float64 radius, raw uint8 core", "raw int32 forest",
        text.tree + text.norm + text.call("join_within") + "(tree, norm, place, T(radius), core.data, forest.data);");
    const ndarray forest = counted_up(t.count, dtype::i32, t.points).copy();
    kernel.call(places_of(t), t.points, t.ids, t.boxes, t.least, t.count, t.leaves, t.bucket, of.p, radius, core,
                {.out = {forest}});
    return forest;
  }

  ndarray label(const point_tree& t, walk_norm of, double radius, const ndarray& core, const ndarray& labels,
                int64_t none) const override {
    const walk_text text("tree_label", t, of);
    const auto kernel = kernel_of(
        text.name,
        std::string("int64 place, ") + tree_inputs + ", float64 radius, raw uint8 core, raw int64 labels, int64 none",
        "raw int64 found",
        text.tree + text.norm + "const int id = places[place]; found[id] = core[id] ? labels[id] : " +
            text.call("label_within") + "(tree, norm, place, T(radius), core.data, labels.data, none);");
    const ndarray out = room({t.count}, dtype::i64, t.points);
    kernel.call(places_of(t), t.points, t.ids, t.boxes, t.least, t.count, t.leaves, t.bucket, of.p, radius, core,
                labels, none, {.out = {out}});
    return out;
  }

  ndarray join_lists(const ndarray& indptr, const ndarray& indices, const ndarray& core) const override {
    const auto kernel =
        kernel_of("lists_join", "int32 own, raw int64 indptr, raw int64 list, raw uint8 core", "raw int32 forest",
                  "sn_tree::join_list(list.data, indptr[own], indptr[own + 1], own, core.data, forest.data);");
    const ndarray forest = counted_up(core.shape(0), dtype::i32, core).copy();
    kernel.call(counted_up(core.shape(0), dtype::i32, core), indptr, indices, core, {.out = {forest}});
    return forest;
  }

  ndarray label_lists(const ndarray& indptr, const ndarray& indices, const ndarray& core, const ndarray& labels,
                      int64_t none) const override {
    const auto kernel = kernel_of(
        "lists_label", "int64 row, raw int64 indptr, raw int64 list, raw uint8 core, raw int64 labels, int64 none",
        "int64 found",
        "found = core[row] ? labels[row] : "
        "sn_tree::label_list(list.data, indptr[row], indptr[row + 1], core.data, labels.data, none);");
    return kernel(counted_up(core.shape(0), dtype::i64, core), indptr, indices, core, labels, none);
  }
};

bool by_text_for_tests = false;

}  // namespace

const tree_walks& text_walks() {
  static const auto& walks = *new walks_by_text;  // outlives static arrays
  return walks;
}
bool served_by_host(const ndarray& x) { return x.device().kind == device_kind::cpu && !by_text_for_tests; }
const tree_walks& walks_for(const ndarray& x) { return served_by_host(x) ? host_walks() : text_walks(); }
void walk_by_text_for_tests(bool on) noexcept { by_text_for_tests = on; }

}  // namespace sinter::ops
