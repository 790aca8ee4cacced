// Streams that wait for each other.
#include <doctest/doctest.h>

#include <mutex>

#include "runtime/backend.hpp"
#include "runtime/stream.hpp"

using namespace sinter::runtime;

namespace {

/// A queue that counts what is done about its event.
class counted_stream : public stream {
 public:
  explicit counted_stream(int number) : stream(get_backend({}), number, false) {}
  int recorded = 0, events_waited_for = 0, awaited = 0;

 protected:
  void record_event() override { ++recorded; }
  void wait_event(stream&) override { ++events_waited_for; }
  void await_event() override { ++awaited; }
};
class other_stream final : public counted_stream {
  using counted_stream::counted_stream;
};

timeline_value submit(stream& s) {
  const timeline_value t = s.open();
  s.close();
  return t;
}

}  // namespace

TEST_CASE("streams: one waits for another one's event, once for what it covers") {
  counted_stream a(1), b(2);
  const timeline_value first = submit(a);
  submit(a);
  const std::lock_guard lock(order_mutex());
  CHECK(b.wait_for(a, first) == 2);
  CHECK(b.wait_for(a, 2) == 2);
  CHECK(a.recorded == 1);
  CHECK(b.events_waited_for == 1);
  CHECK(a.awaited == 0);
}

TEST_CASE("streams: the host waits between streams that have no events in common") {
  counted_stream a(1);
  other_stream b(1);
  const timeline_value t = submit(a);
  const std::lock_guard lock(order_mutex());
  CHECK(b.wait_for(a, t) == t);
  CHECK(a.recorded == 1);
  CHECK(a.awaited == 1);
  CHECK(b.events_waited_for == 0);
  CHECK(b.wait_for(a, t) == t);  // known by now
  CHECK(a.awaited == 1);
}
