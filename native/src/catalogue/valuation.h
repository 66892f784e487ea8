// The worth of an item beside its score: a sum of terms, each a weight times a function of a
// number attribute (docs/concepts/value.md). Values, and free functions.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera::catalogue {

inline constexpr uint32_t kValuationsMax = 8;
inline constexpr uint32_t kTermsMax = 8;       // of one valuation
inline constexpr double kTermWeightMax = 1e9;  // of either sign, and of scores
inline constexpr float kSumMax = 1e30F;        // sums beyond count as this
inline constexpr uint32_t kPacesMax = 65'536;  // of a catalogue
inline constexpr double kAsNamed = std::numeric_limits<double>::quiet_NaN();
/// The sum of an item that is not to be had by a valuation.
inline constexpr float kExcluded = -std::numeric_limits<float>::infinity();

/// Each never falls as its argument rises.
enum class TermFunction : uint8_t { kIdentity = 0, kLog = 1, kLog1p = 2, kClamp = 3 };

struct Term {
  std::string name;  // unique in its valuation
  std::string attribute;
  TermFunction function = TermFunction::kIdentity;
  double weight = 1;
  double min = -std::numeric_limits<double>::infinity();  // of kClamp
  double max = std::numeric_limits<double>::infinity();
  double by_default = kAsNamed;  // stands for the attribute where an item lacks it; NaN: excluded

  /// Value of the term for an attribute, NaN: absent. Not a number if the item is excluded.
  double of(double attribute_value) const;
};

/// A summand of a ranked value, of a head's number. No search knows it.
struct HeadTerm {
  std::string name;  // unique in its valuation
  std::string head;
  TermFunction function = TermFunction::kIdentity;
  double weight = 1;
  double min = -std::numeric_limits<double>::infinity();  // of kClamp
  double max = std::numeric_limits<double>::infinity();

  /// Weighted. Not a number where the item is excluded; 0 where the weight is, whatever the number.
  double of(double number) const;
};

struct Valuation {
  std::string name;
  double score_weight = 1;
  std::vector<Term> terms;
  double floor = -std::numeric_limits<double>::infinity();  // of values
  std::string bid;   // name of a term; empty: none is the bid
  std::string pace;  // text attribute; empty: bids have no pace
  std::vector<HeadTerm> head_terms = {};
};

struct ValueRequest {
  std::vector<Valuation> valuations;
};

/// A weight in place of a term's own.
struct TermWeight {
  std::string term;
  double weight = 0;
};

/// The valuation of a request. NaN: as it is named.
struct ValuationUse {
  std::string name;  // empty: none
  double score_weight = kAsNamed;
  double floor = kAsNamed;
  std::vector<TermWeight> weights;
};

/// Sums by valuation.
using Sums = std::array<float, kValuationsMax>;

/// A bid under a pace: never above the bid.
inline double paced(double bid, double factor) { return bid > 0 ? bid * factor : bid; }

/// Sum of terms as every item and every bound has it: in double, rounded once.
float sum_of(double terms);

/// Checks all that needs no catalogue. Errors: CATALOGUE_INVALID, the message beginning with
/// `valuations[i].member`.
Status check_valuations(const ValueRequest& request);
/// Checks the valuation of a request: REQUEST_INVALID, from "valuation." on.
Status check_valuation_use(const ValuationUse& use);

}  // namespace tessera::catalogue
