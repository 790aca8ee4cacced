// The public API of captured graphs.
#include "graph/capture/capture.hpp"

#include "ops/base/access.hpp"
#include "ops/base/stream.hpp"
#include "sinter/error.hpp"
#include "sinter/graph.hpp"

namespace sinter::inline v0 {
namespace {

graph::replay& replay_of(const std::shared_ptr<graph::replay>& r) {
  return ops::defined(r, "launch_graph", "the graph");
}

}  // namespace

launch_graph detail::capture_calls(const stream& s, void (*call)(void*), void* f) {
  graph::capture_session session(ops::stream_access::of(s));
  call(f);
  for (const auto& view : session.deferred()) ops::resolve(*view);
  return launch_graph(session.finish());
}

void launch_graph::launch() const {
  graph::replay& r = replay_of(replay_);
  r.launch(r.device().current_stream());
}

void launch_graph::launch(const stream& s) const {
  graph::replay& r = replay_of(replay_);
  runtime::stream& on = ops::stream_access::of(s);
  if (&on.owner() != &r.device())
    ops::fail<device_error>("launch_graph", "a stream of ", on.owner().id(), " cannot run a graph of ",
                            r.device().id());
  r.launch(on);
}

sinter::device launch_graph::device() const { return ops::to_public(replay_of(replay_).device().id()); }
std::size_t launch_graph::size() const { return replay_of(replay_).size(); }
std::size_t launch_graph::nbytes() const { return replay_of(replay_).memory_bytes(); }

}  // namespace sinter::inline v0
