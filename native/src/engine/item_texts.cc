#include "engine/item_texts.h"

#include <simdjson.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tessera::engine {
namespace {

/// Fewer are read sooner than other threads are woken.
constexpr size_t kForkedFrom = 128;

/// Calls fn(begin, end) on ranges that cover the items.
template <typename Fn>
void over(platform::ThreadPool& threads, size_t count, const Fn& fn) {
  if (count < kForkedFrom) return fn(0, count);
  threads.parallel_for(count, fn);
}

/// `text` finds the one of an item, which may wait for its page.
template <typename Text>
catalogue::TextColumn copy(size_t count, platform::ThreadPool& threads, const Text& text) {
  std::vector<std::string_view> found(count);
  over(threads, count, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) found[i] = text(i);
  });
  catalogue::TextColumn column;
  column.ends.resize(count);
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) column.ends[i] = bytes += found[i].size();
  column.bytes.resize(bytes);
  over(threads, count, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t at = column.ends[i] - found[i].size();
      std::copy(found[i].begin(), found[i].end(), column.bytes.begin() + at);
    }
  });
  return column;
}

std::string members_of(simdjson::dom::parser& parser, std::string_view json,
                       std::span<const std::string> names) {
  simdjson::dom::object object;
  std::string members = "{";
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS) return "{}";
  for (const std::string& name : names) {
    simdjson::dom::element value;
    if (object.at_key(name).get(value) != simdjson::SUCCESS) continue;
    if (members.size() > 1) members += ',';
    members += catalogue::json_text(name) + ':' + simdjson::minify(value);
  }
  return members + '}';
}

}  // namespace

std::string members_of(std::string_view json, std::span<const std::string> names) {
  simdjson::dom::parser parser;
  return members_of(parser, json, names);
}

Result<ItemTexts> copy_texts(const catalogue::View& view,
                             std::span<const catalogue::ItemOrdinal> items,
                             std::span<const std::string> attributes,
                             platform::ThreadPool& threads,
                             catalogue::ItemOrdinal best_left_out) {
  ItemTexts texts{copy(items.size(), threads, [&](size_t i) { return view.item_id(items[i]); }),
                  copy(items.size(), threads, [&](size_t i) { return view.title(items[i]); }),
                  {}};
  if (best_left_out != catalogue::kNoItem) texts.best_left_out = view.item_id(best_left_out);
  if (attributes.empty()) return texts;
  std::vector<std::string> members(items.size());
  over(threads, items.size(), [&](size_t begin, size_t end) {
    simdjson::dom::parser parser;
    for (size_t i = begin; i < end; ++i) {
      members[i] = members_of(parser, view.attributes(items[i]), attributes);
    }
  });
  for (const std::string& each : members) {
    if (texts.attributes.bytes.size() + each.size() > kAnswerAttributeBytesMax) {
      return Status(Code::kRequestInvalid, "attributes: expected at most " +
                                               std::to_string(kAnswerAttributeBytesMax) +
                                               " bytes in all items, got more");
    }
    texts.attributes.add(each);
  }
  return texts;
}

}  // namespace tessera::engine
