// The report of card_bench: one JSON document {"card", "results": [{"name", "value", "unit",
// "operations", "bytes"}]}; the last two where a time has a floor: what must be computed and moved
// in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::bench::card {

/// The least work: floating-point operations, and bytes through device memory.
struct Work {
  double operations = 0;
  double bytes = 0;
};

struct Line {
  std::string name;
  double value = 0;
  std::string unit;
  Work work;
};

class Report {
 public:
  void add(const std::string& name, double value, const std::string& unit, Work work = {});
  void add_seconds(const std::string& name, double seconds, Work work = {}) {
    add(name, seconds * 1e6, "us", work);
  }
  const std::vector<Line>& lines() const { return lines_; }
  /// As JSON. REQUIRES: names without quotes or controls.
  std::string text(const std::string& card) const;

 private:
  std::vector<Line> lines_;
};

}  // namespace tessera::bench::card
