// Durations and rates as readable text.
#pragma once
#include <string>

namespace sinter::ops {

/// "12.31 us", "1.204 ms", "2.500 s": four digits and a unit.
std::string format_seconds(double seconds);
/// "3:07", "1:02:03", "2d 03:04:05": whole seconds, rounded up.
std::string format_clock(double seconds);
/// "812/s", "3.20/s", "1.25M/s"; below one per second "2.50 s each".
std::string format_rate(double per_second);
/// "3.1%".
std::string format_percent(double fraction);

}  // namespace sinter::ops
