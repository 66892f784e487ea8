// Bounds of sums against every item below them, to the ends of doubles, of seeded catalogues,
// changes and weights; critical bids to the ends of floats.
#include "catalogue/appraiser.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "catalogue/builder.h"
#include "catalogue/view_editor.h"

namespace tessera::catalogue {
namespace appraiser_test {

constexpr uint64_t kSeeds = 400;
constexpr uint32_t kItems = 24;

class AppraiserTest : public testing::Test {
 protected:
  ~AppraiserTest() override { std::filesystem::remove(path_); }

  double pick(std::initializer_list<double> from) {
    return *(from.begin() + static_cast<ptrdiff_t>(random_() % from.size()));
  }
  double sign() { return random_() % 2 == 0 ? 1 : -1; }

  std::string attributes(double largest) {
    std::string text = "{\"n\":0";
    for (const char* const name : {"a", "b"}) {
      const double number =
          random_() % 3 == 0 ? pick({0, 1, 2.5}) : largest * pick({0.1, 1, 3, 10});
      char member[64];
      std::snprintf(member, sizeof member, ",\"%s\":%.17g", name, number * sign());
      if (random_() % 8 != 0) text += member;
    }
    return text + "}";
  }

  Valuation formula() {
    Valuation valuation;
    valuation.name = "worth";
    for (const char* const name : {"a", "b"}) {
      Term term{name, name};
      term.weight = pick({0, 1e-9, 0.5, 1, 2, 1e9}) * sign();
      if (random_() % 2 == 0) term.by_default = 0;
      valuation.terms.push_back(term);
    }
    return valuation;
  }

  std::shared_ptr<const View> catalogue(const Valuation& valuation, double largest) {
    CatalogueInput input;
    input.level_sizes = {3, 8};
    for (uint32_t i = 0; i < kItems; ++i) {
      input.codes.insert(input.codes.end(), {i % 3, i / 3});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add(std::to_string(i));
      input.titles.add("");
      input.attributes.add(attributes(largest));
      input.priorities.push_back(0);
    }
    EXPECT_TRUE(build_snapshot(input, path_, {}).is_ok());
    const auto named = std::make_shared<const Valuations>(Valuations{valuation});
    ViewEditor editor(*View::of(Snapshot::open(path_).value(), {}, 0, named));
    for (uint32_t i = 0; i < kItems; i += 5) {
      Change change;
      change.kind = ChangeKind::kSetAttributes;
      change.item_id = std::to_string(i);
      change.attributes = attributes(largest);
      editor.apply(change);
    }
    return editor.finish();
  }

  /// Own weights: others, or one multiple of those named.
  ValuationUse use_of(const Valuation& valuation) {
    ValuationUse use{"worth", kAsNamed, kAsNamed, {}};
    const double multiple = random_() % 2 == 0 ? pick({1e-18, 1e-6, 0.5, 3}) : kAsNamed;
    for (const Term& term : valuation.terms) {
      const double other = pick({0, 1e-9, 0.1, 1, 7, 1e9}) * sign();
      const double weight = std::isnan(multiple) ? other : term.weight * multiple;
      if (std::abs(weight) <= kTermWeightMax) use.weights.push_back({term.name, weight});
    }
    return use;
  }

  std::mt19937_64 random_;
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("tessera-appraiser-" + std::to_string(::getpid()));
};

TEST_F(AppraiserTest, NoItemIsWorthMoreThanTheBoundsAboveIt) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    random_.seed(seed);
    const Valuation valuation = formula();
    const auto view = catalogue(valuation, pick({1, 1e25, 1e28, 1e29, 1e30, 1e32, 1e300, 1e307}));
    for (uint32_t uses = 0; uses < 4; ++uses) {
      const auto appraiser = Appraiser::compile(view, use_of(valuation)).value();
      for (ItemOrdinal item = 0; item < view->item_count(); ++item) {
        const float sum = appraiser->sum(item);
        for (NodeIndex node = view->node_of(item);; node = view->parent(node)) {
          EXPECT_GE(appraiser->most(node), sum) << "seed " << seed << " item " << item;
          if (node == kRoot) break;
          EXPECT_GE(appraiser->most(view->parent(node)), appraiser->most(node)) << "seed " << seed;
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(AppraiserTest, CriticalBidsAreFloatsThatSufficeOrNone) {
  using Limits = std::numeric_limits<float>;
  Valuation valuation;
  valuation.name = "worth";
  valuation.terms = {{"a", "a", TermFunction::kLog, 1}};
  valuation.bid = "a";
  const auto of = [&] {
    return Appraiser::compile(catalogue(valuation, 1), {"worth", kAsNamed, kAsNamed, {}}).value();
  };
  const auto by_log = of();
  // A bid of 0 has no value.
  EXPECT_EQ(by_log->critical_bid(0, 0, -1000, false), Limits::denorm_min());
  EXPECT_TRUE(std::isnan(by_log->critical_bid(0, 0, 89, false)));
  EXPECT_EQ(by_log->critical_bid(0, 0, 0, false), 1);
  EXPECT_EQ(by_log->critical_bid(0, 0, 0, true), std::nextafter(1.0F, 2.0F));
  valuation.terms[0].function = TermFunction::kIdentity;
  valuation.terms[0].weight = 0.1;
  const auto linear = of();
  EXPECT_EQ(linear->critical_bid(0, 1, 1, false), 0);
  EXPECT_EQ(linear->critical_bid(0, 1, -1, true), 0);
  EXPECT_TRUE(std::isnan(linear->critical_bid(0, 0, 1e30F, true)));
}

}  // namespace appraiser_test
}  // namespace tessera::catalogue
