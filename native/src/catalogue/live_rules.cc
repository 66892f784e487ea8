// Rules that hold from a moment on: codes that are forbidden, codebooks, declared attributes,
// valuations, flights.
#include <algorithm>
#include <iterator>
#include <utility>

#include "catalogue/eligibility.h"
#include "catalogue/input.h"
#include "catalogue/live_catalogue.h"

namespace tessera::catalogue {

void LiveCatalogue::forbid_codes(const std::vector<std::vector<uint32_t>>& codes) {
  const MutexLock lock(writer_);
  forbidden_codes_.resize(std::max(forbidden_codes_.size(), codes.size()));
  for (size_t level = 0; level < codes.size(); ++level) {
    std::vector<uint32_t> both;
    std::set_union(codes[level].begin(), codes[level].end(), forbidden_codes_[level].begin(),
                   forbidden_codes_[level].end(), std::back_inserter(both));
    forbidden_codes_[level] = std::move(both);
  }
}

Status LiveCatalogue::quantise_by(std::shared_ptr<const Codebooks> codebooks) {
  if (const uint32_t depth = view()->depth(); codebooks->depth() > depth) {
    return {Code::kCatalogueInvalid,
            "codebooks.levels: expected at most " + std::to_string(depth) +
                " levels, as the catalogue has (catalogue.levelSizes), got " +
                std::to_string(codebooks->depth())};
  }
  const MutexLock lock(writer_);
  codebooks_ = std::move(codebooks);
  return Status::ok();
}

Result<std::pair<Landing, std::shared_ptr<const View>>> LiveCatalogue::landing(
    std::span<const float> vector, uint32_t neighbours_max) {
  std::shared_ptr<const Codebooks> codebooks;
  std::vector<std::vector<uint32_t>> forbidden;
  {
    const MutexLock lock(writer_);
    codebooks = codebooks_;
    forbidden = forbidden_codes_;
  }
  const std::shared_ptr<const View> newest = view();
  Result<Landing> found =
      find_landing(*newest, {codebooks.get(), &forbidden}, vector, neighbours_max);
  if (!found.is_ok()) return found.status();
  return std::pair(std::move(found).value(), newest);
}

Result<std::vector<std::string>> LiveCatalogue::declare(
    std::shared_ptr<const AttributeSchema> schema) {
  Result<std::vector<std::string>> findings = schema->check_items(*view());
  if (!findings.is_ok()) return findings;
  const MutexLock lock(view_mutex_);
  schema_ = std::move(schema);
  return findings;
}

std::shared_ptr<const AttributeSchema> LiveCatalogue::schema() const {
  const MutexLock lock(view_mutex_);
  return schema_;
}

void LiveCatalogue::fly(FlightAttributes attributes) {
  const MutexLock lock(view_mutex_);
  flight_ = std::move(attributes);
}

std::shared_ptr<const Valuations> LiveCatalogue::valuations() const {
  const MutexLock lock(view_mutex_);
  return valuations_;
}

Status LiveCatalogue::value_by(std::vector<Valuation> valuations) {
  const MutexLock one(compaction_);
  const std::shared_ptr<const View> known = view();
  const std::shared_ptr<const AttributeSchema> declared = schema();
  for (size_t v = 0; v < valuations.size(); ++v) {
    const std::string at = "valuations[" + std::to_string(v) + "].";
    const auto check = [&](const std::string& path, const std::string& name, AttributeType type) {
      const auto found = known->attribute_type(name);
      // Changes may have taken the last one of an attribute.
      const bool may_come = !found && (known->sequence() > 0 ||
                                       (declared != nullptr && declared->declares(name, type)));
      if (found == type || may_come) return Status::ok();
      const char* const is = found ? kAttributeTypeNames[static_cast<int>(*found)] : "on no item";
      return Status(Code::kCatalogueInvalid,
                    at + path + ": expected a " + kAttributeTypeNames[static_cast<int>(type)] +
                        " of the catalogue, got " + quote(name) + ", which is " + is);
    };
    for (size_t t = 0; t < valuations[v].terms.size(); ++t) {
      TESSERA_RETURN_IF_ERROR(check("terms[" + std::to_string(t) + "].attribute",
                                    valuations[v].terms[t].attribute, AttributeType::kNumber));
    }
    if (valuations[v].pace.empty()) continue;
    TESSERA_RETURN_IF_ERROR(check("pace", valuations[v].pace, AttributeType::kText));
  }
  auto shared = std::make_shared<const Valuations>(std::move(valuations));
  std::shared_ptr<const SnapshotValues> values;
  if (!shared->empty()) {
    values = std::make_shared<SnapshotValues>(known->shared_base(),
                                              known->eligibility_index().attributes(), shared);
  }
  {
    const MutexLock lock(view_mutex_);
    valuations_ = std::move(shared);
  }
  MutexLock lock(writer_);
  wait_until_committed();
  ViewEditor editor(*head_, std::move(values));
  head_ = editor.finish();
  publish(head_);
  return Status::ok();
}

std::optional<Flight> LiveCatalogue::flight_at(uint64_t time_ms) const {
  constexpr uint64_t kMillisecondsPerSecond = 1000;
  const MutexLock lock(view_mutex_);
  if (!flight_) return std::nullopt;
  return Flight{*flight_, static_cast<uint32_t>(time_ms / kMillisecondsPerSecond)};
}

Status LiveCatalogue::check_codes(std::span<const GivenChange> changes) const {
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::vector<uint32_t>& sid = changes[i].sid;
    for (size_t level = 0; level < std::min(sid.size(), forbidden_codes_.size()); ++level) {
      const std::vector<uint32_t>& forbidden = forbidden_codes_[level];
      if (!std::binary_search(forbidden.begin(), forbidden.end(), sid[level])) continue;
      return {Code::kCatalogueInvalid, "changes[" + std::to_string(i) + "].sid[" +
                                           std::to_string(level) + "]: no token writes code " +
                                           std::to_string(sid[level])};
    }
  }
  return Status::ok();
}

}  // namespace tessera::catalogue
