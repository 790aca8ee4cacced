// Rows that are asked for by number: who asks whom for which, and the way there and back. The numbers are data, so that the
// messages' sizes are too: processes tell each other how many rows go from where to where, and then exchange them at once.
#pragma once
#include <vector>

#include "dist/shards.hpp"
#include "dist/transfers.hpp"

namespace sinter::sharding {

/// Requests: numbers of rows along an axis that is divided. Each position has the requests of its part of the list (or all
/// of them, where the list is not divided), in the order of the list.
class route {
 public:
  /// owners: how the axis is divided. requests: a vector of int64 in parts, along its axis at most, evaluated. Negative numbers
  /// count from the end. index_error, in all processes alike, where one is out of range; `axis` is the one that it names.
  route(const mesh_state& m, mover& moves, const split& owners, const parts& requests, std::int64_t count, int axis);

  /// By position: which of its rows it is asked for, as numbers of its part. In the order of the list.
  std::vector<value> asked() const;
  /// Rows that lie beside the requests, along `axis`, to whom each request asks, in the order of asked(). Other axes may be divided by
  /// axes of the mesh that divide neither the list nor the owners.
  std::vector<value> to_owners(const parts& rows, const dims& shape, dtype type, int axis) const;
  /// Rows in the order of asked(), along `axis`, to who has asked for them, in the order of the requests. how: of the rows as they come, with
  /// the list's split along the axis.
  std::vector<value> to_requests(std::vector<value> rows, const layout& how, const dims& shape, dtype type,
                                 int axis) const;
  /// Rows that each position is asked for.
  std::int64_t asked_of(std::int64_t owner) const;

 private:
  std::int64_t sent(std::int64_t list, std::int64_t owner) const { return cut(list, owner + 1) - cut(list, owner); }
  std::int64_t cut(std::int64_t list, std::int64_t owner) const {
    return cuts_[static_cast<std::size_t>(list)][static_cast<std::size_t>(owner)];
  }
  /// What one part of the list tells the others: how many requests come before those of each owner, and the extremes.
  struct told {
    std::vector<std::int64_t> cuts;
    std::int64_t low = 0, high = 0;
  };
  void sort_requests(const parts& requests);
  void tell_all(std::vector<told> mine);
  layout list_layout() const;
  wish_lists blocks_for_owners(const layout& how, const dims& shape, int axis) const;

  const mesh_state& mesh_;
  mover& moves_;
  split owners_, list_;
  std::int64_t count_, extent_;
  int axis_;
  // Of the positions of this process: its requests by owner, and where each of them was in its part of the list.
  std::vector<value> sorted_, order_;
  std::vector<std::vector<std::int64_t>>
      cuts_;  // by part of the list: how many of its requests come before those of an owner
};

}  // namespace sinter::sharding
