// Searches by value against every item of a plain map, valued one by one; bounds against the items
// below them; draws against exact probabilities. Seeded catalogues, changes, eligibility, models.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "beam/decode_loop.h"
#include "beam/item_model.h"
#include "beam/lazy_search.h"
#include "beam/random_case.h"
#include "catalogue/appraiser.h"
#include "catalogue/view_editor.h"

namespace tessera::beam {
namespace keyed_search_test {

using catalogue::Appraiser;
using catalogue::Reach;
using catalogue::Term;
using catalogue::TermFunction;
using catalogue::Valuation;
using catalogue::View;

constexpr uint64_t kSeeds = 1000;

struct Paces {
  std::map<std::string, double> by_country;
  double of(const ModelAttributes& attributes) const {
    const auto found = by_country.find(attributes.country);
    return found == by_country.end() || attributes.country.empty() ? 1 : found->second;
  }
};

/// As docs/concepts/value.md says it, of an item of the map; NaN: excluded.
double terms_of(const Valuation& valuation, const ModelAttributes& attributes, const Paces& paces) {
  double sum = 0;
  for (const Term& term : valuation.terms) {
    double x = attributes.bid < 0 ? term.by_default : attributes.bid;
    if (term.name == valuation.bid && !valuation.pace.empty() && x > 0) x *= paces.of(attributes);
    if (term.function == TermFunction::kLog) x = x > 0 ? std::log(x) : std::nan("");
    if (term.function == TermFunction::kLog1p) x = std::log1p(x);
    if (term.function == TermFunction::kClamp && !std::isnan(x))
      x = std::clamp(x, term.min, term.max);
    sum += term.weight * x;
  }
  return sum;
}

struct Question {
  std::shared_ptr<const View> view;
  std::shared_ptr<const Appraiser> appraiser;
  Valuation valuation;  // as the request has it
  Paces paces;
  ModelFilter filter;
  std::shared_ptr<ItemModel> items;
  Reach reach;
  OracleModel model;
  std::shared_ptr<const catalogue::ItemPolicy> policy;
  LazyOptions options;
};

struct Valued {
  float value = 0;
  Sid sid;
  double order = 0;  // by the policy
  double priority = 0;
  std::string id;
  std::string country;
};

class KeyedSearchTest : public testing::Test {
 protected:
  ~KeyedSearchTest() override { std::filesystem::remove(path_); }

  static Valuation random_valuation(std::mt19937_64& random) {
    Valuation valuation;
    valuation.name = "worth";
    const double weights[] = {0, 0.25, 1, 2};
    valuation.score_weight = weights[random() % 4];
    const auto count = random() % 4;
    for (uint64_t t = 0; t < count; ++t) {
      Term term;
      term.name = "t" + std::to_string(t);
      term.attribute = "bid";
      term.function = static_cast<TermFunction>(random() % 4);
      term.weight = static_cast<double>(static_cast<int64_t>(random() % 9) - 4) / 2;
      if (term.function == TermFunction::kClamp) {
        term.min = 0.5;
        term.max = 2.5;
      }
      if (random() % 2 == 0) term.by_default = 1.5;
      valuation.terms.push_back(term);
    }
    for (const Term& term : valuation.terms) {
      if (term.weight > 0 && random() % 2 == 0) valuation.bid = term.name;
    }
    if (!valuation.bid.empty() && random() % 2 == 0) valuation.pace = "country";
    if (random() % 4 == 0) valuation.floor = -static_cast<double>(random() % 12);
    return valuation;
  }

  /// Changes come in batches, each an editor of its own.
  void change(Question& question, std::mt19937_64& random) {
    for (uint64_t batches = random() % 4; batches > 0; --batches) {
      catalogue::ViewEditor editor(*question.view);
      for (const catalogue::Change& change : random_batch(*question.items, random, 12)) {
        editor.apply(change);
        question.items->apply(change);
      }
      if (random() % 2 == 0) {
        catalogue::Change pace;
        pace.kind = catalogue::ChangeKind::kSetPace;
        pace.item_id = random() % 2 == 0 ? "de" : "fr";
        pace.title = "country";
        const double factors[] = {0.25, 0.5, 1};
        pace.priority = factors[random() % 3];
        editor.apply(pace);
        question.paces.by_country[pace.item_id] = pace.priority;
      }
      question.view = editor.finish();
    }
  }

  Question draw(std::mt19937_64& random) {
    const RandomCase test =
        random_case(random, path_, [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    Question question;
    question.items = std::make_shared<ItemModel>(test);
    question.valuation = random_valuation(random);
    auto named = std::make_shared<const catalogue::Valuations>(
        catalogue::Valuations{Valuation{"other", 1, {}, -1e30, "", ""}, question.valuation});
    if (random() % 2 == 0) {
      question.view = View::of(test.snapshot, {}, 0, named);
      change(question, random);
    } else {  // valuations come after the changes
      question.view = View::of(test.snapshot);
      change(question, random);
      const auto values = std::make_shared<catalogue::SnapshotValues>(
          test.snapshot, question.view->eligibility_index().attributes(), named);
      question.view = catalogue::ViewEditor(*question.view, values).finish();
      change(question, random);
    }
    catalogue::ValuationUse use;
    use.name = "worth";
    if (random() % 3 == 0) use.score_weight = question.valuation.score_weight = 0.5;
    for (Term& term : question.valuation.terms) {
      if (random() % 4 != 0) continue;
      term.weight = term.name == question.valuation.bid ? 1.25 : -0.75;
      use.weights.push_back({term.name, term.weight});
    }
    question.appraiser = Appraiser::compile(question.view, use).value();
    question.filter = random_filter(*question.items, random);
    question.reach =
        Reach(question.view, compile_eligibility(*question.view, question.filter.request));
    question.model = random_model(random(), test.level_sizes, random() % 2 == 0);
    catalogue::ItemPolicyRequest policy;
    if (random() % 3 == 0) policy.order_by = "bid";
    if (random() % 3 == 0)
      policy.diversity = {{"country", static_cast<uint32_t>(1 + random() % 2)}};
    question.policy = catalogue::ItemPolicy::compile(*question.view, policy).value();
    LazyOptions& options = question.options;
    options.keys.appraiser = question.appraiser;
    options.terminal_count = static_cast<uint32_t>(random() % 3);
    options.norm = static_cast<ScoreNorm>(random() % 3);
    const auto wanted = static_cast<uint32_t>(2 + random() % 8);
    options.answer = {wanted, static_cast<uint32_t>(random() % 3), question.policy.get()};
    options.certified_items = wanted - 1;
    options.spare_rows = static_cast<uint32_t>(random() % 20);
    options.widths.assign(question.view->depth() + options.terminal_count, 4096);
    return question;
  }

  LazySearch search(const Question& question, uint32_t rows_max, const ThresholdRule* rule) {
    return lazy_loop(question.reach, question.model, question.options, rows_max, rule, *scratch_);
  }

  /// Every item to be had, best first: the scores of all paths by the search by score, the rest by
  /// the map.
  std::vector<Valued> all_values(const Question& question) {
    const LazyOptions& options = question.options;
    const DecodeOptions whole{{4096}, options.terminal_count, options.norm};
    std::map<Sid, float> scores;
    std::array<uint32_t, catalogue::kMaxDepth> sid;
    for (const Finished& path : decode_loop(question.reach, question.model, whole, *scratch_)) {
      const uint32_t depth = question.view->sid(path.node, sid);
      scores[Sid(sid.begin(), sid.begin() + depth)] = path.score;
    }
    std::vector<Valued> all;
    for (const auto& [path, score] : scores) {
      const auto weight = static_cast<float>(question.valuation.score_weight);
      for (const std::string& id : question.items->items_to_be_had(path, question.filter)) {
        const ModelItem& item = question.items->items().at(id);
        const double terms = terms_of(question.valuation, item.attributes, question.paces);
        if (std::isnan(terms)) continue;
        const float value = (weight == 0 ? 0 : weight * score) + static_cast<float>(terms);
        if (static_cast<double>(value) < question.valuation.floor) continue;
        const double order = item.attributes.bid < 0 ? -1e300 : item.attributes.bid;
        all.push_back({value, path, question.policy && question.policy->has_order() ? order : 0,
                       item.priority, id, item.attributes.country});
      }
    }
    std::sort(all.begin(), all.end(), [](const Valued& a, const Valued& b) {
      if (a.value != b.value) return a.value > b.value;
      if (a.sid != b.sid) return a.sid < b.sid;
      if (a.order != b.order) return a.order > b.order;
      return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
    });
    return all;
  }

  /// Under the caps, as an answer takes them.
  std::vector<Valued> best_values(const Question& question) {
    const ExportOptions& answer = question.options.answer;
    std::vector<Valued> all = all_values(question);
    const bool is_ordered = question.policy != nullptr && question.policy->has_order();
    std::map<Sid, std::multiset<double, std::greater<>>> orders;
    std::map<Sid, uint32_t> of_sid;
    std::map<std::string, uint32_t> of_country;
    if (is_ordered && answer.items_per_sid > 0) keep_first_of_sids(all, answer.items_per_sid);
    std::vector<Valued> best;
    for (const Valued& item : all) {
      if (best.size() == answer.result_count) break;
      if (answer.items_per_sid > 0 && of_sid[item.sid] == answer.items_per_sid) continue;
      const bool is_capped = answer.is_diverse() && !item.country.empty();
      const uint32_t cap =
          answer.is_diverse() ? question.policy->request().diversity[0].items_max : 0;
      if (is_capped && of_country[item.country] == cap) continue;
      ++of_country[item.country];
      ++of_sid[item.sid];
      best.push_back(item);
    }
    return best;
  }

  static void keep_first_of_sids(std::vector<Valued>& all, uint32_t cap) {
    std::vector<const Valued*> ordered;
    for (const Valued& item : all) ordered.push_back(&item);
    std::stable_sort(ordered.begin(), ordered.end(), [](const Valued* a, const Valued* b) {
      if (a->order != b->order) return a->order > b->order;
      return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
    });
    std::map<Sid, uint32_t> of_sid;
    std::set<std::string> kept;
    for (const Valued* item : ordered) {
      if (of_sid[item->sid]++ < cap) kept.insert(item->id);
    }
    std::erase_if(all, [&](const Valued& item) { return kept.count(item.id) == 0; });
  }

  // In memory where that is possible: a snapshot a case is written.
  static std::filesystem::path root() {
    return std::filesystem::is_directory("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                     : std::filesystem::temp_directory_path();
  }

  std::string path_ = root() / ("tessera-keyed-" + std::to_string(::getpid()) + ".tsra");
  std::unique_ptr<Scratch, ScratchDeleter> scratch_ = make_scratch();
};

TEST_F(KeyedSearchTest, AnswersByValueAreThoseOfEveryItemValued) {
  ThresholdRule rule;
  uint64_t rows = 0, rows_of_all = 0, items = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = draw(random);
    const std::vector<Valued> wanted = best_values(question);
    const LazySearch told = search(question, static_cast<uint32_t>(1 + random() % 50),
                                   random() % 3 == 0 ? nullptr : &rule);
    const std::vector<FoundItem> found = told.items(nullptr);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(question.view->item_id(found[i].item), wanted[i].id) << "place " << i;
      ASSERT_EQ(found[i].key, wanted[i].value) << "place " << i;
    }
    ASSERT_TRUE(told.certificate().is_certified);
    told.teach(rule);
    question.options.is_eager = true;
    rows_of_all += search(question, 4096, nullptr).rows();
    rows += told.rows();
    items += found.size();
  }
  EXPECT_LT(rows * 10, rows_of_all * 9);
  EXPECT_GT(items, kSeeds);
}

TEST_F(KeyedSearchTest, AWidthThatCutsIsToldByTheGap) {
  uint64_t certified = 0, missed = 0;
  for (uint64_t seed = 10'001; seed <= 11'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = draw(random);
    for (uint32_t& width : question.options.widths) width = static_cast<uint32_t>(1 + random() % 8);
    const LazySearch told = search(question, 16, nullptr);
    const std::vector<FoundItem> found = told.items(nullptr);
    const std::vector<Valued> best = best_values(question);
    const Certificate certificate = told.certificate();
    const size_t count = std::min<size_t>(best.size(), question.options.certified_items);
    for (size_t i = 0; i < count; ++i) {
      if (certificate.is_certified) {
        ASSERT_LT(i, found.size());
        ASSERT_EQ(question.view->item_id(found[i].item), best[i].id);
      } else if (!question.options.answer.is_diverse() &&
                 question.options.answer.items_per_sid == 0) {
        const bool is_found = std::any_of(found.begin(), found.end(), [&](const FoundItem& own) {
          return question.view->item_id(own.item) == best[i].id;
        });
        missed += is_found ? 0 : 1;
        if (!is_found) {
          ASSERT_LE(best[i].value, certificate.gap);
        }
      }
    }
    certified += certificate.is_certified ? 1 : 0;
  }
  EXPECT_GT(certified, 60u);
  EXPECT_GT(missed, 60u);
}

bool is_below(const View& view, catalogue::ItemOrdinal item, catalogue::NodeIndex node) {
  catalogue::NodeIndex above = view.node_of(item);
  while (above != node && above != catalogue::kRoot) above = view.parent(above);
  return above == node;
}

/// The largest sum at a node or below, item by item.
float true_most(const Question& question, catalogue::NodeIndex node) {
  const View& view = *question.view;
  float most = catalogue::kExcluded;
  for (catalogue::ItemOrdinal item = 0; item < view.item_count(); ++item) {
    if (view.state(item) != catalogue::ItemState::kLive) continue;
    if (is_below(view, item, node)) most = std::max(most, view.sum(1, item));
  }
  return most;
}

TEST_F(KeyedSearchTest, BoundsOfNodesAreTheMostBelowThemRoundedUpAfterAnyChanges) {
  for (uint64_t seed = 20'001; seed <= 20'400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Question question = draw(random);
    const View& view = *question.view;
    for (catalogue::NodeIndex node = 0; node < view.node_count(); ++node) {
      const float most = true_most(question, node);
      const float told = view.most(1, node);
      ASSERT_GE(told, most) << "node " << node;
      ASSERT_LE(told, catalogue::widen(catalogue::round_up(most))) << "node " << node;
      for (catalogue::ItemOrdinal item = 0; item < view.item_count(); ++item) {
        if (view.state(item) != catalogue::ItemState::kLive || !is_below(view, item, node))
          continue;
        ASSERT_GE(question.appraiser->most(node), question.appraiser->sum(item)) << "node " << node;
      }
      if (node == catalogue::kRoot) continue;
      ASSERT_GE(view.most(1, view.parent(node)), told) << "node " << node;
      ASSERT_GE(question.appraiser->most(view.parent(node)), question.appraiser->most(node));
    }
  }
}

/// The question with one more change of its view, and nothing else.
Question with_bid(const Question& question, const Valued& item, double bid) {
  Question changed = question;
  catalogue::Change change;
  change.kind = catalogue::ChangeKind::kSetAttributes;
  change.item_id = item.id;
  const std::string country = item.country.empty() ? "" : "\"country\":\"" + item.country + "\",";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", bid);
  change.attributes = "{" + country + "\"bid\":" + text + "}";
  catalogue::ViewEditor editor(*question.view);
  editor.apply(change);
  changed.view = editor.finish();
  catalogue::ValuationUse use{
      "worth", question.valuation.score_weight, question.valuation.floor, {}};
  for (const Term& term : question.valuation.terms) use.weights.push_back({term.name, term.weight});
  changed.appraiser = Appraiser::compile(changed.view, use).value();
  changed.options.keys.appraiser = changed.appraiser;
  changed.reach = Reach(changed.view);
  return changed;
}

TEST_F(KeyedSearchTest, TheCriticalBidKeepsItsPlaceAndTheNextLowerOneLosesIt) {
  uint64_t tried = 0;
  for (uint64_t seed = 30'001; seed <= 31'500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = draw(random);
    question.filter =
        ModelFilter{{}, [](const auto&...) { return true; }, [](const auto&...) { return false; }};
    question.reach = Reach(question.view);
    question.options.answer.items_per_sid = 0;
    question.options.answer.policy = nullptr;
    question.policy = nullptr;
    const uint32_t wanted = question.options.certified_items;
    const std::vector<Valued> best = all_values(question);
    // Where the bid's attribute is that of other terms too, a bid moves more than its term.
    if (!question.appraiser->has_bid() || question.valuation.terms.size() != 1) continue;
    if (best.size() <= wanted) continue;
    const auto told = search(question, 50, nullptr).items(nullptr);
    for (size_t place = 0; place < wanted; ++place) {
      FoundItem tied = told[place];
      tied.key = told[wanted].key;
      const bool is_above = !comes_before(*question.view, tied, told[wanted]);
      const float critical =
          question.appraiser->critical_bid(tied.item, tied.score, tied.key, is_above);
      for (const float asked : {std::nextafter(critical, 0.0F), critical, 10 * critical}) {
        if (asked == critical && asked == 0) continue;  // it is in with whatever bid
        const Question changed = with_bid(question, best[place], static_cast<double>(asked));
        const auto again = search(changed, 50, nullptr).items(nullptr);
        const auto end =
            again.begin() + static_cast<ptrdiff_t>(std::min<size_t>(wanted, again.size()));
        const bool is_in = std::any_of(again.begin(), end, [&](const FoundItem& one) {
          return question.view->item_id(one.item) == best[place].id;
        });
        ASSERT_EQ(is_in, asked >= critical) << "place " << place << ", critical " << critical;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 500u);
}

/// A catalogue of few items for draws, none of whose SIDs begins another.
struct Small {
  std::vector<Sid> sids;
  std::shared_ptr<const View> view;
  OracleModel model;
  std::map<std::string, double> probability;  // of an item: an equal share of its SID's
};

class DrawTest : public KeyedSearchTest {
 protected:
  Small small(uint64_t seed) {
    for (std::mt19937_64 random(seed);;) {
      const RandomCase test = random_case(random, path_, {});
      std::set<size_t> depths;
      for (const Sid& sid : test.sids) depths.insert(sid.size());
      const std::set<Sid> distinct(test.sids.begin(), test.sids.end());
      if (depths.size() != 1 || *depths.begin() < 2 || distinct.size() < 5 || test.sids.size() > 9)
        continue;
      Small result{
          test.sids, View::of(test.snapshot), random_model(seed, test.level_sizes, false), {}};
      std::map<Sid, double> of_sid;
      for (const OraclePath& path : brute_force(test.sids, result.model, ScoreNorm::kAllowed, 0)) {
        of_sid[path.sid] = std::exp(path.score);
      }
      for (size_t i = 0; i < test.sids.size(); ++i) {
        const auto sharing = std::count(test.sids.begin(), test.sids.end(), test.sids[i]);
        result.probability[test.item_ids[i]] = of_sid[test.sids[i]] / static_cast<double>(sharing);
      }
      return result;
    }
  }

  LazyOptions options(const Small& of, uint64_t seed, uint32_t slots) {
    LazyOptions options;
    options.norm = ScoreNorm::kAllowed;
    options.keys.draw = DrawOptions{seed, 1};
    options.answer = {slots + 1, 0, nullptr};
    options.widths.assign(of.view->depth(), 4096);
    options.spare_rows = 8;
    return options;
  }
};

TEST_F(DrawTest, SetsHaveTheProbabilitiesOfDrawsWithoutReplacementAndInclusionsAreUnbiased) {
  constexpr uint64_t kDraws = 20'000;
  constexpr uint32_t kSlots = 2;
  for (uint64_t which = 1; which <= 4; ++which) {
    const Small of = small(which);
    const Reach reach(of.view);
    std::map<std::string, double> expected, seen;
    for (const auto& [a, p] : of.probability) {
      for (const auto& [b, q] : of.probability) {
        if (a == b) continue;
        expected[std::min(a, b) + " " + std::max(a, b)] += p * q / (1 - p);
      }
    }
    std::map<std::string, std::pair<double, double>> weights;  // sum of 1/p, of its square
    for (uint64_t seed = 0; seed < kDraws; ++seed) {
      const LazySearch told = lazy_loop(reach, of.model, options(of, seed * 7919 + which, kSlots),
                                        64, nullptr, *scratch_);
      ASSERT_TRUE(told.certificate().is_certified);
      const std::vector<FoundItem> items = told.items(nullptr);
      ASSERT_EQ(items.size(), kSlots + 1);
      std::vector<std::string> ids;
      for (uint32_t i = 0; i < kSlots; ++i) {
        ids.emplace_back(of.view->item_id(items[i].item));
        ASSERT_NEAR(std::exp(items[i].log_p), of.probability.at(ids[i]), 1e-5);
        const double weight =
            1 / inclusion_probability(items[i].log_p, static_cast<double>(items[kSlots].key));
        weights[ids[i]].first += weight;
        weights[ids[i]].second += weight * weight;
      }
      ++seen[std::min(ids[0], ids[1]) + " " + std::max(ids[0], ids[1])];
    }
    double chi_square = 0, cells = 0;
    for (const auto& [set, probability] : expected) {
      const double wanted = probability * kDraws;
      if (wanted < 5) continue;
      chi_square += (seen[set] - wanted) * (seen[set] - wanted) / wanted;
      ++cells;
    }
    // Four deviations of a chi-square of so many degrees.
    EXPECT_LT(chi_square, cells + 4 * std::sqrt(2 * cells)) << "catalogue " << which;
    for (const auto& [id, probability] : of.probability) {
      if (probability * kDraws < 200) continue;
      const double mean = weights[id].first / kDraws;
      const double variance = weights[id].second / kDraws - mean * mean;
      EXPECT_NEAR(mean, 1, 4 * std::sqrt(variance / kDraws)) << id;
    }
  }
}

TEST_F(DrawTest, TheSameSeedDrawsTheSameItemsHoweverRowsAreSharedAmongPasses) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    Question question = draw(random);
    if (question.options.terminal_count == 0) question.options.terminal_count = 1;
    question.options.widths.assign(question.view->depth() + question.options.terminal_count, 4096);
    question.options.norm = ScoreNorm::kAllowed;
    question.options.keys.draw = DrawOptions{seed, 0.5 + static_cast<double>(random() % 4)};
    question.options.certified_items = 0;
    const auto items_of = [&](uint32_t rows_max, bool is_eager) {
      question.options.is_eager = is_eager;
      const LazySearch told = search(question, rows_max, nullptr);
      EXPECT_TRUE(told.certificate().is_certified);
      std::vector<std::pair<catalogue::ItemOrdinal, double>> items;
      for (const FoundItem& item : told.items(nullptr)) items.emplace_back(item.item, item.key);
      return items;
    };
    const auto wanted = items_of(4096, true);
    EXPECT_EQ(items_of(1, false), wanted) << "seed " << seed;
    EXPECT_EQ(items_of(17, false), wanted) << "seed " << seed;
  }
}

TEST(Draws, FunctionsAreThoseOfTheLibraryToTheLastDigits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(static_cast<double>(random() >> 11), -53) * 700 - 350;
    EXPECT_NEAR(exact_exp(x) / std::exp(x), 1, 1e-13) << x;
    const double y = std::exp(x);
    EXPECT_NEAR(exact_log(y), std::log(y), 1e-13 * (1 + std::abs(x))) << y;
  }
  EXPECT_EQ(exact_exp(-1e9), 0);
  EXPECT_NEAR(inclusion_probability(-1, -2), 1 - std::exp(-std::exp(1.0)), 1e-12);
}

TEST(Draws, KeysNeverRiseAndTheFirstChildHasItsParentsKey) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const Drawn parent = draw_root({random(), 1});
    std::vector<Drawn> children(1 + random() % 40);
    std::vector<float> logits;
    for (Drawn& child : children) {
      child.path = random();
      logits.push_back(static_cast<float>(static_cast<int64_t>(random() % 200) - 100) / 4);
    }
    normalise(parent, logits, 0.25 + static_cast<double>(random() % 8), children);
    draw_children(parent, children);
    double most = -1e300;
    for (const Drawn& child : children) {
      ASSERT_LE(child.key, parent.key);
      most = std::max(most, child.key);
    }
    ASSERT_EQ(most, parent.key);
  }
}

}  // namespace keyed_search_test
}  // namespace tessera::beam
