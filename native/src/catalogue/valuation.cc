#include "catalogue/valuation.h"

#include <algorithm>
#include <cmath>

#include "catalogue/input.h"

namespace tessera::catalogue {
namespace {

Status refuse(size_t valuation, const std::string& member, const std::string& expected) {
  return {Code::kCatalogueInvalid,
          "valuations[" + std::to_string(valuation) + "]." + member + ": expected " + expected};
}

bool is_weight(double weight) { return std::abs(weight) <= kTermWeightMax; }

std::string weights_expected(double got) {
  return "a number of at most 1e9 either way, got " + number_text(got);
}

std::string score_weight_expected(double got) {
  return "a number in 0..1e9, got " + number_text(got);
}

Status check_term(size_t index, size_t place, const Valuation& valuation) {
  const Term& term = valuation.terms[place];
  const std::string at = "terms[" + std::to_string(place) + "].";
  if (term.name.empty()) return refuse(index, at + "name", "a name, got none");
  if (term.attribute.empty()) return refuse(index, at + "attribute", "a name, got none");
  if (!is_weight(term.weight)) return refuse(index, at + "weight", weights_expected(term.weight));
  if (!(term.min <= term.max)) return refuse(index, at + "min", "at most max");
  if (std::isinf(term.by_default)) return refuse(index, at + "default", "a number");
  for (size_t other = 0; other < place; ++other) {
    if (valuation.terms[other].name != term.name) continue;
    return refuse(index, at + "name", "another name than that of term " + std::to_string(other));
  }
  return Status::ok();
}

Status check_bid(size_t index, const Valuation& valuation) {
  if (valuation.bid.empty()) {
    return valuation.pace.empty() ? Status::ok()
                                  : refuse(index, "pace", "none where no term is the bid");
  }
  const auto bid = std::find_if(valuation.terms.begin(), valuation.terms.end(),
                                [&](const Term& term) { return term.name == valuation.bid; });
  if (bid == valuation.terms.end()) {
    return refuse(index, "bid", "the name of a term, got " + quote(valuation.bid));
  }
  return bid->weight > 0 ? Status::ok() : refuse(index, "bid", "a term of a weight above 0");
}

/// The function of a term at x; not a number where it has none.
double applied(const auto& term, double x) {
  switch (term.function) {
    case TermFunction::kIdentity: return x;
    case TermFunction::kLog: return x > 0 ? std::log(x) : kAsNamed;
    case TermFunction::kLog1p: return x > -1 ? std::log1p(x) : kAsNamed;
    case TermFunction::kClamp: return std::isnan(x) ? x : std::clamp(x, term.min, term.max);
  }
  return kAsNamed;
}

}  // namespace

double Term::of(double value) const {
  return applied(*this, std::isnan(value) ? by_default : value);
}

double HeadTerm::of(double number) const {
  return weight == 0 ? 0 : weight * applied(*this, number);
}

float sum_of(double terms) {
  if (std::isnan(terms)) return kExcluded;
  constexpr double kMost = kSumMax;
  return static_cast<float>(std::clamp(terms, -kMost, kMost));
}

Status check_valuations(const ValueRequest& request) {
  if (request.valuations.size() > kValuationsMax) {
    return {Code::kCatalogueInvalid, "valuations: expected at most " +
                                         std::to_string(kValuationsMax) + ", got " +
                                         std::to_string(request.valuations.size())};
  }
  for (size_t i = 0; i < request.valuations.size(); ++i) {
    const Valuation& valuation = request.valuations[i];
    if (valuation.name.empty()) return refuse(i, "name", "a name, got none");
    for (size_t other = 0; other < i; ++other) {
      if (request.valuations[other].name == valuation.name) {
        return refuse(i, "name", "another than that of valuation " + std::to_string(other));
      }
    }
    if (!(valuation.score_weight >= 0) || !is_weight(valuation.score_weight)) {
      return refuse(i, "scoreWeight", score_weight_expected(valuation.score_weight));
    }
    if (!(valuation.floor < std::numeric_limits<double>::infinity())) {
      return refuse(i, "floor", "a finite number, got " + number_text(valuation.floor));
    }
    const size_t terms = valuation.terms.size() + valuation.head_terms.size();
    if (terms > kTermsMax) {
      return refuse(i, "terms",
                    "at most " + std::to_string(kTermsMax) + ", got " + std::to_string(terms));
    }
    for (size_t term = 0; term < valuation.terms.size(); ++term) {
      TESSERA_RETURN_IF_ERROR(check_term(i, term, valuation));
    }
    TESSERA_RETURN_IF_ERROR(check_bid(i, valuation));
  }
  return Status::ok();
}

Status check_valuation_use(const ValuationUse& use) {
  const auto invalid = [](const std::string& member, const std::string& expected) {
    return Status(Code::kRequestInvalid, "valuation." + member + ": expected " + expected);
  };
  const bool is_own = !std::isnan(use.score_weight);
  if (is_own && !(use.score_weight >= 0 && is_weight(use.score_weight))) {
    return invalid("scoreWeight", score_weight_expected(use.score_weight));
  }
  if (use.floor == std::numeric_limits<double>::infinity()) {
    return invalid("floor", "a finite number, got " + number_text(use.floor));
  }
  if (use.weights.size() > kTermsMax) {
    return invalid("weights", "at most " + std::to_string(kTermsMax) + " terms");
  }
  for (const TermWeight& weight : use.weights) {
    if (is_weight(weight.weight)) continue;
    return invalid("weights." + weight.term, weights_expected(weight.weight));
  }
  return Status::ok();
}

}  // namespace tessera::catalogue
