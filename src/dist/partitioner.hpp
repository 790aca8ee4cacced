// The partitioner: from pending values of a mesh to local values of its devices.
//
// Each pending node gets a layout from those of its operands, the one for which the fewest bytes move. Elementwise work
// goes piece by piece where an operand's part comes in pieces, so that what needs no halo does not wait for it and nothing
// is copied together. What any layout would do for (numbers, coordinates, draws, and what is computed from them) has
// none until somebody asks.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dist/slices.hpp"
#include "dist/transfers.hpp"
#include "graph/values/record.hpp"

namespace sinter::sharding {

using graph::node;
using graph::node_kind;

class partitioner {
 public:
  partitioner(const mesh_state& m, bool dry) : mesh_(m), mover_(m, dry) {}

  /// Local values for all roots; they stay pending. In the layouts that follow from their operands, or all in one.
  std::vector<shards> run(std::span<const value> roots, const layout* how = nullptr);
  /// Whether a root of enter_below() is a sum that nothing has needed yet, or elementwise work on one.
  bool waits(const value& root) { return at(root.get()).waits; }
  void enter_below(std::span<const value> roots);
  /// All elements of a root at one position.
  value run_at(const value& root, int position);
  /// Whether any layout does for a root of run().
  bool is_free_root(const value& root) { return at(root.get()).free; }
  mover& moves() noexcept { return mover_; }

  /// One value for each position; the position's box under a layout.
  std::vector<value> whole(node* n, const layout& how);
  /// The parts of a value under a layout: those that it has, or others, which `room` keeps.
  const std::vector<pieces>& get(node* n, const layout& how, std::vector<pieces>& room);

 private:
  struct entry {
    bool free = false;  // any layout will do
    bool waits =
        false;  // the parts are not there yet: `in` has the layout that they get if nobody asks for a finer one
    parts in;
    std::shared_ptr<const unmade_sum> sum = {};  // of a sum that is made in parts
    parts terms = {};                            // its
    std::vector<parts> finer = {};               // of one that waits: made in other layouts
  };

  /// Elementwise nodes of one shape that read each other. One layout for all of them, so that halos of operands move and
  /// nothing that has been computed of these.
  struct group {
    node* update = nullptr;            // that writes the result; null: none
    std::vector<node*> operands = {};  // of all nodes, which are no members
    bool is_decided = false;
    std::optional<layout> target = {};
  };
  static constexpr std::size_t most_operands = 64;  // that are looked at

  entry& at(node* n) { return entries_.at(n); }
  void enter(node* n);
  bool is_free(node* n);
  /// The layout of a value; of a free one that it gets if it is to be stored.
  layout layout_of(node* n);
  /// Even parts along the first axis that is long enough; small values are everywhere.
  layout spread(const dims& shape) const;

  /// For each position the pieces of a box. how: the layout of which these are the parts, if known.
  std::vector<pieces> fetch(node* n, const wishes& want, const layout* how = nullptr);
  std::vector<value> fetch_whole(node* n, const wishes& want);
  value make_free(node* n, const box& where, int position);
  value make_everywhere(node* n, int position);

  /// toward: the layout in which the result is needed, or null.
  layout choose(const dims& shape, dtype type, std::span<node* const> operands, const layout* toward = nullptr);
  void find_groups(std::span<node* const> nodes);
  /// The layout in which the group of an elementwise node is to be computed; null: none in particular.
  const layout* target_of(node* n);
  std::optional<layout> layout_written(node* update);
  std::optional<layout> layout_for_all(const dims& shape, std::span<node* const> operands);
  layout lifted(node* operand, const dims& shape);
  layout projected(const layout& how, const dims& shape, node* operand) const;
  std::int64_t cost(const layout& how, const dims& shape, std::span<node* const> operands);

  entry map(node* n);
  parts map_in(node* n, const layout& how);
  parts view(node* n);
  parts view_of(const parts& from, const dims& base, dtype type, const dims& shape, const dims& strides,
                std::int64_t offset);
  bool view_across(const parts& from, const dims& base, dtype type, const dims& shape, const slices& s, parts& out);
  bool view_oblique(const parts& from, const dims& base, dtype type, const dims& shape, const dims& strides,
                    std::int64_t offset, parts& out);
  std::vector<value> whole_of(const parts& from, const dims& shape, dtype type, const layout& how);
  parts update(node* n);
  layout layout_of_source(node* written, const dims& shape);
  parts gather(node* n);
  parts gather_across(node* n);
  parts gather_rows(node* n);
  entry reduce(node* n);

  // reduce (partition_reduce.cpp, partition_sums.cpp)
  /// A part's pieces where they are reduced one by one, else the part.
  std::vector<pieces> pieces_to_reduce(node* n, const layout& how);
  parts reduce_local(node* n, const layout& how);
  std::vector<value> reduce_each(node* n, const layout& how, const layout& to, const dims& shape);
  parts reduce_free_order(node* n, const layout& how);
  entry sum_integers(node* n, const layout& how);
  parts reduce_arg(node* n, const layout& how);
  std::vector<pieces> flat_pieces(node* x, const layout& how, int first, int end);
  bool reduce_in_splits(node* n, const layout& how, entry& out);
  entry reduce_moment(node* n);
  bool localise(node* n, layout& how);

  // Sums that are not made before they are needed (partition_unmade.cpp).
  /// The parts of a value in its own layout, made if they wait.
  const parts& made(node* n);
  parts make_sum(node* n, const layout& how);
  entry unmade_leaf(node* n);
  bool keeps_terms(node* n, entry& out);
  shards terms_of(node* n, const layout& how);

  value whole_at(const std::vector<pieces>& all, const wishes& want, dtype type, int position);
  /// Calls make(p) for each position of this process whose twin is itself, and copies the results to the others.
  template <class Make>
  std::vector<value> once(const layout& how, Make make) {
    std::vector<value> out(static_cast<std::size_t>(mesh_.size()));
    for (const int p : mesh_.locals) {
      const int t = mesh_.twin(how, p);
      out[static_cast<std::size_t>(p)] = t < p ? out[static_cast<std::size_t>(t)] : make(p);
    }
    return out;
  }
  runtime::device_id device(int position) const { return mesh_.devices[static_cast<std::size_t>(position)]; }

  const mesh_state& mesh_;
  mover mover_;
  std::unordered_map<node*, entry> entries_;
  std::unordered_map<node*, std::vector<piece>> free_;        // blocks of free values that have been recorded
  std::unordered_map<node*, std::vector<value>> everywhere_;  // parameters of draws that have gone to all
  std::unordered_map<node*, std::size_t> group_of_;           // of elementwise nodes
  std::vector<group> groups_;
  std::vector<value> kept_;  // values of the mesh that stand for others
};

/// Bytes up to which an operand that every device needs goes to all without having been asked for.
constexpr std::int64_t small_operand = 1 << 20;

/// Parts of one piece each.
parts as_parts(const mesh_state& m, const layout& how, const dims& shape, std::vector<value> values);

/// The terms of a sum along their axis as one, in their order.
value join_terms(const unmade_sum& s, const value& terms);

/// Errors of what cannot run sharded: "[sum] ... redistribute it with ...".
[[noreturn]] void refuse_sharded(const std::string& function, const std::string& why, const std::string& remedy);
/// "{shard(0), replicate()}".
std::string placements_text(const mesh_state& m, const layout& how);

}  // namespace sinter::sharding
