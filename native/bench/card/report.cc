#include "card/report.h"

#include <cstdio>

namespace tessera::bench::card {

void Report::add(const std::string& name, double value, const std::string& unit, Work work) {
  std::fprintf(stderr, "  %-64s %12.3f %s\n", name.c_str(), value, unit.c_str());
  lines_.push_back({name, value, unit, work});
}

std::string Report::text(const std::string& card) const {
  std::string text = "{\"card\": \"" + card + "\", \"results\": [";
  const char* separator = "\n  ";
  for (const Line& line : lines_) {
    char numbers[160];
    std::snprintf(numbers, sizeof(numbers),
                  "\"value\": %.6g, \"unit\": \"%s\", \"operations\": %.6g, \"bytes\": %.6g",
                  line.value, line.unit.c_str(), line.work.operations, line.work.bytes);
    text += separator + ("{\"name\": \"" + line.name + "\", ") + numbers + "}";
    separator = ",\n  ";
  }
  return text + "\n]}\n";
}

}  // namespace tessera::bench::card
