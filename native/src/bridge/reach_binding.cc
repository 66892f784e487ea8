#include <algorithm>
#include <array>

#include "abi/generated/packed_in.h"
#include "beam/explain.h"
#include "beam/export.h"
#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"
#include "catalogue/reach_request.h"

namespace tessera::bridge {
namespace {

constexpr double kNewest = -1;

/// A packed record (native/abi/reach.mjs), copied.
std::vector<uint32_t> read_reach_words(const Napi::CallbackInfo& info, const char* field) {
  const std::span<const uint32_t> words = packed_words(info[1], info[2], field);
  return {words.begin(), words.end()};
}

Result<catalogue::ReachRequest> read_reach_request(std::span<const uint32_t> words) {
  abi::PackedReader in(words);
  catalogue::ReachRequest request;
  abi::read_reach_request(in, request);
  if (!in.is_whole()) {
    return Status(
        Code::kRequestInvalid,
        "eligibility: expected a reach request as native/abi describes it, got other words");
  }
  TESSERA_RETURN_IF_ERROR(catalogue::complete_reach_request(request));
  return request;
}

/// Argument `index`: milliseconds since 1970.
uint64_t read_time_ms(const Napi::CallbackInfo& info, size_t index, const char* path) {
  const double value = info[index].IsNumber() ? info[index].As<Napi::Number>().DoubleValue() : -1;
  if (value >= 0 && value <= 9007199254740991.0) return static_cast<uint64_t>(value);
  throw make_error(
      info.Env(), Code::kRequestInvalid,
      std::string(path) + ": expected milliseconds since 1970, got " + describe_value(info[index]));
}

/// Compiles for a version.
Status fill_reach(ReachHandle& handle, std::shared_ptr<const catalogue::View> view,
                  const catalogue::ReachRequest& request) {
  if (const auto schema = handle.live->schema(); schema != nullptr) {
    const auto& predicate = request.eligibility.predicate;
    const auto& drawn = request.eligibility.drawn;
    if (predicate) TESSERA_RETURN_IF_ERROR(schema->check_clause(*predicate));
    if (drawn) TESSERA_RETURN_IF_ERROR(schema->check_clause(*drawn, catalogue::kDrawnPath));
    TESSERA_RETURN_IF_ERROR(schema->check_caps(request.eligibility.caps));
    TESSERA_RETURN_IF_ERROR(schema->check_policy(request.item_policy));
  }
  TESSERA_RETURN_IF_ERROR(catalogue::check_eligibility(*view, request.eligibility));
  auto policy = catalogue::ItemPolicy::compile(*view, request.item_policy);
  if (!policy.is_ok()) return policy.status();
  handle.item_policy = std::move(policy).value();
  auto appraiser = catalogue::Appraiser::compile(view, request.valuation);
  if (!appraiser.is_ok()) return appraiser.status();
  handle.appraiser = std::move(appraiser).value();
  if (request.eligibility.drawn) {
    const auto of_places = catalogue::for_drawn_places(request.eligibility);
    handle.drawn = catalogue::Reach(view, catalogue::compile_eligibility(*view, of_places));
    handle.drawn_items = catalogue::count_obtainable(handle.drawn, handle.appraiser.get());
  }
  auto eligibility = catalogue::compile_eligibility(*view, request.eligibility);
  handle.reach = catalogue::Reach(std::move(view), std::move(eligibility));
  return Status::ok();
}

Status judge(Judgement& judgement, std::span<const uint32_t> words, const std::string& item_id,
             double sequence, uint64_t time_ms) {
  Result<catalogue::ReachRequest> request = read_reach_request(words);
  if (!request.is_ok()) return request.status();
  const catalogue::LiveCatalogue& live = *judgement.reach->live;
  request.value().eligibility.flight = live.flight_at(time_ms);
  std::shared_ptr<const catalogue::View> view = live.view();
  if (sequence != kNewest) {
    auto found = live.view_at(static_cast<uint64_t>(sequence));
    if (!found.is_ok()) return found.status();
    view = std::move(found).value();
  }
  TESSERA_RETURN_IF_ERROR(fill_reach(*judgement.reach, view, request.value()));
  judgement.explanation = beam::judge(*view, request.value().eligibility, item_id);
  judgement.item = view->find_item(item_id);
  if (judgement.item == catalogue::kNoItem) return Status::ok();
  std::array<uint32_t, catalogue::kMaxDepth> codes;
  const uint32_t depth = view->sid(view->node_of(judgement.item), codes);
  judgement.sid.assign(codes.begin(), codes.begin() + depth);
  return Status::ok();
}

Napi::Value catalogue_reach(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  const uint64_t time_ms = read_time_ms(info, 3, "catalogueReach.timeMs");
  auto words = read_reach_words(info, "catalogueReach.words");
  auto reach = std::make_shared<ReachHandle>();
  reach->live = handle->live;
  return run_in_lane(
      info.Env(), LaneKind::kRead,
      [reach, words = std::move(words), time_ms]() -> Status {
        Result<catalogue::ReachRequest> request = read_reach_request(words);
        if (!request.is_ok()) return request.status();
        request.value().eligibility.flight = reach->live->flight_at(time_ms);
        return fill_reach(*reach, reach->live->view(), request.value());
      },
      [reach](Napi::Env env, const Status& status) -> Napi::Value {
        if (!status.is_ok()) return env.Undefined();
        return to_js(env, OpenedReach{reach});
      });
}

void add_item(const catalogue::View& view, catalogue::ItemOrdinal item, CatalogueListing& listing) {
  listing.ordinals.push_back(item);
  listing.item_ids.emplace_back(view.item_id(item));
  listing.titles.emplace_back(view.title(item));
  listing.attributes.emplace_back(view.attributes(item));
  listing.priorities.push_back(view.priority(item));
  listing.paused.push_back(view.state(item) == catalogue::ItemState::kPaused ? 1 : 0);
  std::array<uint32_t, catalogue::kMaxDepth> sid;
  const uint32_t depth = view.sid(view.node_of(item), sid);
  listing.sid_codes.insert(listing.sid_codes.end(), sid.begin(), sid.begin() + depth);
  listing.sid_offsets.push_back(static_cast<uint32_t>(listing.sid_codes.size()));
}

/// Items of a version, the removed ones left out, as columns.
Napi::Value catalogue_list(const Napi::CallbackInfo& info) {
  const auto handle = any_reach(info[0]);
  const catalogue::View& view = handle->reach.view();
  const uint32_t first = read_count(info, 1, "catalogueList.first");
  const uint32_t count = read_count(info, 2, "catalogueList.count");
  const auto end =
      static_cast<uint32_t>(std::min<uint64_t>(view.item_count(), uint64_t{first} + count));
  CatalogueListing listing;
  listing.sid_offsets.push_back(0);
  for (uint32_t item = first; item < end; ++item) {
    if (view.state(item) != catalogue::ItemState::kRemoved) add_item(view, item, listing);
  }
  listing.next = end == view.item_count() ? 0 : end;
  return to_js(info.Env(), listing);
}

/// Live items of these IDs, in their order, that pass: `count` at most.
template <typename Passes>
CatalogueListing live_items(const catalogue::View& view, std::span<const std::string> item_ids,
                            size_t count, const Passes& passes) {
  CatalogueListing listing;
  listing.sid_offsets.push_back(0);
  for (size_t i = 0; i < item_ids.size() && listing.item_ids.size() < count; ++i) {
    const catalogue::ItemOrdinal item = view.find_item(item_ids[i]);
    if (item == catalogue::kNoItem || view.state(item) != catalogue::ItemState::kLive) continue;
    if (passes(item)) add_item(view, item, listing);
  }
  return listing;
}

/// First of the given items, in their order, that are live and that the reach may get.
Napi::Value catalogue_first_obtainable(const Napi::CallbackInfo& info) {
  const auto handle = any_reach(info[0]);
  const catalogue::Reach& reach = handle->reach;
  const auto item_ids = read_texts(info, 1, "catalogueFirstObtainable.itemIds");
  const uint32_t count = read_count(info, 2, "catalogueFirstObtainable.count");
  const auto may_get = [&reach](catalogue::ItemOrdinal item) { return reach.may_get(item); };
  return to_js(info.Env(), live_items(reach.view(), item_ids, count, may_get));
}

/// Items among the given that are live in the version of the reach, in their order.
Napi::Value catalogue_live_items(const Napi::CallbackInfo& info) {
  const auto handle = any_reach(info[0]);
  const auto item_ids = read_texts(info, 1, "catalogueLiveItems.itemIds");
  const auto all = [](catalogue::ItemOrdinal) { return true; };
  return to_js(info.Env(), live_items(handle->reach.view(), item_ids, item_ids.size(), all));
}

Napi::Error no_valuation(const Napi::CallbackInfo& info, const char* function) {
  return make_error(info.Env(), Code::kRequestInvalid,
                    std::string(function) + ".reach: expected one by a valuation");
}

/// Appraiser of the packed request's valuation over the version of a reach; of the reach's own
/// valuation where the request names none.
std::shared_ptr<const catalogue::Appraiser> named_appraiser(const Napi::CallbackInfo& info,
                                                            const ReachHandle& reach) {
  const auto words = packed_words(info[2], info[3], "catalogueAppraise.words");
  const auto request = read_reach_request(words);
  if (!request.is_ok()) throw make_error(info.Env(), request.status());
  const catalogue::ValuationUse& use = request.value().valuation;
  if (use.name.empty()) return reach.appraiser;
  auto appraiser = catalogue::Appraiser::compile(reach.reach.shared_view(), use);
  if (!appraiser.is_ok()) throw make_error(info.Env(), appraiser.status());
  return appraiser.value();
}

/// Numbers of heads by item, as a ranking has them: names in info[4], numbers in info[5].
class GivenHeads {
 public:
  /// Throws REQUEST_INVALID where a term's head is not given, or the numbers do not fit `items`.
  GivenHeads(const Napi::CallbackInfo& info, const catalogue::Valuation& valuation, size_t items)
      : terms_(valuation.head_terms) {
    if (info[4].IsUndefined()) {
      terms_ = {};
      return;
    }
    const std::vector<std::string> names = read_texts(info, 4, "catalogueAppraise.heads");
    const std::span<const float> numbers = read_f32s(info, 5, "catalogueAppraise.numbers");
    if (numbers.size() != names.size() * items) {
      throw make_error(info.Env(), Code::kRequestInvalid,
                       "catalogueAppraise.numbers: expected " +
                           std::to_string(names.size() * items) + ", got " +
                           std::to_string(numbers.size()));
    }
    for (const catalogue::HeadTerm& term : terms_) {
      const auto found = std::find(names.begin(), names.end(), term.head);
      if (found == names.end()) {
        throw make_error(info.Env(), Code::kRequestInvalid,
                         "catalogueAppraise.heads: expected '" + term.head + "' among them");
      }
      columns_.push_back(static_cast<size_t>(found - names.begin()));
    }
    numbers_ = numbers;
    width_ = names.size();
  }

  std::span<const catalogue::HeadTerm> terms() const { return terms_; }
  double number(size_t item, size_t term) const {
    return numbers_[item * width_ + columns_[term]];
  }

 private:
  std::span<const catalogue::HeadTerm> terms_;
  std::vector<size_t> columns_;
  std::span<const float> numbers_;
  size_t width_ = 0;
};

Napi::Value catalogue_appraise(const Napi::CallbackInfo& info) {
  const auto handle = any_reach(info[0]);
  const auto named = named_appraiser(info, *handle);
  if (named == nullptr) throw no_valuation(info, "catalogueAppraise");
  const catalogue::Appraiser& appraiser = *named;
  const catalogue::View& view = handle->reach.view();
  const catalogue::Valuation& valuation = appraiser.valuation();
  Appraisal all;
  all.score_weight = valuation.score_weight;
  all.floor = valuation.floor;
  all.bid = appraiser.has_bid() ? static_cast<uint32_t>(appraiser.bid()) : kNoTerm;
  for (const catalogue::Term& term : valuation.terms) all.names.push_back(term.name);
  const std::vector<std::string> item_ids = read_texts(info, 1, "catalogueAppraise.itemIds");
  const GivenHeads heads(info, valuation, item_ids.size());
  const size_t attribute_terms = all.names.size();
  for (const catalogue::HeadTerm& term : heads.terms()) all.names.push_back(term.name);
  for (size_t i = 0; i < item_ids.size(); ++i) {
    const catalogue::ItemOrdinal item = view.find_item(item_ids[i]);
    const bool is_there =
        item != catalogue::kNoItem && view.state(item) != catalogue::ItemState::kRemoved;
    catalogue::Appraisal one;
    if (is_there) one = appraiser.appraise(item);
    one.terms.resize(attribute_terms, catalogue::kAsNamed);
    double head_sum = 0;
    for (size_t t = 0; t < heads.terms().size(); ++t) {
      one.terms.push_back(heads.terms()[t].of(heads.number(i, t)));
      head_sum += one.terms.back();
    }
    if (!heads.terms().empty()) all.head_sums.push_back(head_sum);
    all.terms.insert(all.terms.end(), one.terms.begin(), one.terms.end());
    all.paces.push_back(one.pace);
    all.sums.push_back(is_there ? appraiser.sum(item) : beam::Exported::kUnknown);
  }
  return to_js(info.Env(), all);
}

Napi::Value catalogue_excluded(const Napi::CallbackInfo& info) {
  const auto handle = any_reach(info[0]);
  if (handle->appraiser == nullptr) throw no_valuation(info, "catalogueExcluded");
  auto count = std::make_shared<uint64_t>(0);
  return run_in_lane(
      info.Env(), LaneKind::kRead,
      [handle, count]() -> Status {
        *count = catalogue::count_excluded(handle->reach, *handle->appraiser);
        return Status::ok();
      },
      [count](Napi::Env env, const Status&) -> Napi::Value {
        return Napi::Number::New(env, static_cast<double>(*count));
      });
}

Napi::Value catalogue_value(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  auto words = read_reach_words(info, "catalogueValue.words");
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [live = handle->live, words = std::move(words)]() -> Status {
        abi::PackedReader in(words);
        catalogue::ValueRequest request;
        abi::read_value_request(in, request);
        if (!in.is_whole()) {
          return {Code::kCatalogueInvalid,
                  "valuations: expected a value request as native/abi describes it, got others"};
        }
        TESSERA_RETURN_IF_ERROR(catalogue::check_valuations(request));
        return live->value_by(std::move(request.valuations));
      },
      [](Napi::Env env, const Status&) -> Napi::Value { return env.Undefined(); });
}

Napi::Value catalogue_judge(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  const uint64_t time_ms = read_time_ms(info, 5, "catalogueJudge.timeMs");
  auto words = read_reach_words(info, "catalogueJudge.words");
  std::string item_id = read_text(info, 3, "catalogueJudge.itemId");
  const double sequence = info[4].IsNumber() ? info[4].As<Napi::Number>().DoubleValue() : kNewest;
  auto judgement = std::make_shared<Judgement>();
  judgement->reach = std::make_shared<ReachHandle>();
  judgement->reach->live = handle->live;
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [judgement, words = std::move(words), item_id = std::move(item_id), sequence, time_ms] {
        return judge(*judgement, words, item_id, sequence, time_ms);
      },
      [judgement](Napi::Env env, const Status& status) -> Napi::Value {
        return status.is_ok() ? to_js(env, *judgement) : env.Undefined();
      });
}

}  // namespace

void register_reach_functions(Napi::Env env, Napi::Object exports) {
  exports["catalogueReach"] = Napi::Function::New<&catalogue_reach>(env, "catalogueReach");
  exports["catalogueList"] = Napi::Function::New<&catalogue_list>(env, "catalogueList");
  exports["catalogueFirstObtainable"] =
      Napi::Function::New<&catalogue_first_obtainable>(env, "catalogueFirstObtainable");
  exports["catalogueLiveItems"] =
      Napi::Function::New<&catalogue_live_items>(env, "catalogueLiveItems");
  exports["catalogueAppraise"] = Napi::Function::New<&catalogue_appraise>(env, "catalogueAppraise");
  exports["catalogueExcluded"] = Napi::Function::New<&catalogue_excluded>(env, "catalogueExcluded");
  exports["catalogueValue"] = Napi::Function::New<&catalogue_value>(env, "catalogueValue");
  exports["catalogueJudge"] = Napi::Function::New<&catalogue_judge>(env, "catalogueJudge");
}

}  // namespace tessera::bridge
