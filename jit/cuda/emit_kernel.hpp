// What all generated CUDA kernels are composed of: the frame, operands, and groups of elements from their loads to their
// use. A schedule says where a thread's groups lie and how each operand of them is read; how that is written stands here,
// once.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "jit/cuda/emit_body.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {

using text_of = std::function<std::string(int)>;

/// The order of the loads of a thread's groups.
enum class load_order : std::uint8_t {
  by_lane,   // group by group; inputs without vector accesses lane by lane, since they share coordinates
  by_input,  // group by group, one input after the other
  by_group,  // one input after the other, each for all groups
};

/// Groups of `lanes` neighbouring elements, numbered `u`. Memory's elements are in packs i<k>, those of a lane `l` in
/// z<k>, coordinates in k_<j>, the phase's results in x<register>.
struct group_loop {
  const phase& element;
  int lanes = 1, groups = 1;
  load_order order = load_order::by_input;
  /// Neighbouring results of a thread, numbered `v`, that a load serves: the packs of each lane; 0: packs have lanes.
  int across = 0;
  /// Loops over the results of a thread for each of which the phase runs on the same group; whether its lanes are the
  /// same for all.
  std::vector<std::pair<const char*, int>> results = {};
  bool same_lanes = false;
  std::function<void()> place = {};         // declares where group u is
  std::string inside = {};                  // whether it exists; empty: always
  std::function<void()> lane_of_load = {};  // declares where lane l is: before `lane` of loads,
  std::function<void()> lane_of_use = {};   // and before coordinates and gathered addresses
  text_of value = {};                       // an input that has one value for the group; else empty
  text_of run = {};                         // the address of the first element of an input's run
  std::string whole = {};                   // when runs are read by vectors; empty: always
  text_of within = {};                      // else: whether element `e` of an input's run is one of the row,
  std::function<void(int)> ends = {};       // or what fills the elements of an input's run that lanes need
  text_of vector = {};                      // the address of a vector access; empty: lane by lane
  text_of lane = {};                        // the element of lane l; gathered: its address
  std::function<void(int)> load_staged =
      {};  // fills the pack of an input of class `staged` with what the thread reads,
  std::function<void(int)> take_staged = {};      // and, before it is used, with the group's lanes
  text_of stored = {};                            // the lane of a pack, if it is not that of i<k>
  text_of coordinate = {};                        // of lane l
  std::function<argument(char, int)> other = {};  // arguments of the phase that are not of the group
  std::function<void()> use = {};                 // what becomes of the results
  bool slow_elsewhere = false;  // what the fast version cannot do is marked by `slow` and computed again elsewhere
};

/// One element, outside of any group.
struct single_element {
  const phase& element;
  text_of value = {};    // an input that is a variable; else empty
  text_of address = {};  // of other inputs
  text_of coordinate = {};
  text_of place = {};                             // of the outputs
  std::function<argument(char, int)> other = {};  // arguments that are neither inputs nor coordinates
};

class kernel_writer {
 protected:
  kernel_writer(const program& p, const cuda_variant& v) : p_(p), v_(v), multi_(v.rank - v.kept > 1) {}

  const dtype& type(int k) const { return p_.inputs[static_cast<std::size_t>(k)].type; }
  const char* storage(int k) const { return storage_type(type(k)); }
  const char* value_type(int k) const { return cuda::value_type(type(k)); }
  access input_class(int k) const { return v_.inputs[static_cast<std::size_t>(k)]; }
  bool gathered(int k) const { return is_gathered(p_, k); }
  bool in_run(int k) const { return input_class(k) == access::run; }
  const cuda_run& run_of(int k) const { return v_.runs[static_cast<std::size_t>(k)]; }
  /// Whether an input's address is that of its run.
  bool finds_run(int k) const { return in_run(k) && run_of(k).first == k; }
  /// Whether an input has one value for all elements of a result, or of a map.
  bool fixed(int k) const { return input_class(k) == access::uniform && !gathered(k); }
  std::string pack(int k, int lanes) const { return std::string("sn::pack<") + storage(k) + ", " + num(lanes) + ">"; }
  /// Address of an input's first element of a result, or of an element of a map.
  std::string address(int k) const { return "a.p" + num(k) + " + (" + offset("s", k, 0, v_.kept, "k") + ")"; }
  /// Offset at the reduced coordinates c<j>, or at the linear index `r` if there is one reduced axis.
  std::string reduced_offset(const char* strides, int k, const std::string& r) const;

  /// "namespace NAME_ { typedef int I; struct args ...;" (parameters.hpp), and the functions of phases.
  void open(std::initializer_list<const phase*> phases);
  /// The kernel's head up to its opening brace, and its shared memory. `blocks`: that a multiprocessor is to hold, which
  /// bounds a thread's registers; 0: the compiler decides.
  void head(int shared_bytes, int threads = cuda_block, const char* suffix = "", int blocks = 0);
  std::string close();
  /// b<k>: an input's first element of a result. `from`: where it is.
  void base_pointer(int k, const std::string& from);
  /// u<k>: the value of an input that has one.
  void fixed_value(int k, const std::string& element);

  /// All loads of the groups, then for each group the phase and the use of its results.
  void walk(const group_loop& g);
  /// The same of one group whose packs are there: `stored` says where.
  void use_group(const group_loop& g);
  /// Fills the pack `to` by one access, or lane by lane.
  void fetch(const std::string& to, int lanes, const std::string& from);
  void fetch_lanes(const std::string& to, int lanes, const std::string& element);
  /// The stored element of lane `l` of a register's values; writes those of an output by one access.
  std::string narrowed_lane(int output) const;
  void put(int output, int lanes, const std::string& at);
  void one_element(const single_element& e);

  const program& p_;
  const cuda_variant& v_;
  bool multi_;  // several reduced axes
  text t_;

 private:
  void declare_packs(const group_loop& g);
  void load_groups(const group_loop& g);
  void load_group(const group_loop& g, const std::vector<int>& inputs);
  void load_lanes(const group_loop& g, const std::vector<int>& inputs);
  /// Elements of an input's pack.
  int lanes_read(const group_loop& g, int k) const;
  void load_run(const group_loop& g, int k);
  void lanes_of_group(const group_loop& g);
  void lanes_together(const group_loop& g, const std::vector<int>& inputs);
  std::string lane_value(const group_loop& g, int k) const;
  void run_phase(const group_loop& g);
  argument_source source(const group_loop& g) const;
};

// A kernel in the text of each schedule.
std::string emit_linear(const program& p, const cuda_variant& v);
std::string emit_strided(const program& p, const cuda_variant& v);
std::string emit_flat(const program& p, const cuda_variant& v);
std::string emit_tiles(const program& p, const cuda_variant& v);
std::string emit_reduce(const program& p, const cuda_variant& v);
std::string emit_reduce_tiles(const program& p, const cuda_variant& v);
std::string emit_broadcast(const program& p, const cuda_variant& v);
std::string emit_stride_loop(const program& p, const cuda_variant& v);
std::string emit_stages(const program& p, const cuda_variant& v);
std::string emit_windows(const program& p, const cuda_variant& v);
std::string emit_step_loop(const program& p, const cuda_variant& v);

}  // namespace sinter::jit::cuda
