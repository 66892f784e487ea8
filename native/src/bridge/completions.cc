#include "bridge/completions.h"

#include <algorithm>

namespace tessera::bridge {
namespace {

/// Concatenates one vector of every completion.
template <typename T, typename Field>
Napi::Value flatten(Napi::Env env, std::span<const engine::Completion> completions,
                    const Field& field) {
  size_t size = 0;
  for (const engine::Completion& completion : completions) size += field(completion).size();
  auto array = Napi::TypedArrayOf<T>::New(env, size);
  T* next = array.Data();
  for (const engine::Completion& completion : completions) {
    const auto& values = field(completion);
    next = std::copy(values.begin(), values.end(), next);
  }
  return array;
}

/// [n + 1] running sums of one vector's size.
template <typename Field>
Napi::Value offsets(Napi::Env env, std::span<const engine::Completion> completions,
                    const Field& field) {
  auto array = Napi::Uint32Array::New(env, completions.size() + 1);
  uint32_t end = 0;
  array[0] = 0;
  for (size_t i = 0; i < completions.size(); ++i) {
    end += static_cast<uint32_t>(field(completions[i]).size());
    array[i + 1] = end;
  }
  return array;
}

Napi::Value code_offsets(Napi::Env env, std::span<const engine::Completion> completions) {
  size_t paths = 0;
  for (const engine::Completion& completion : completions)
    paths += completion.answer.path_scores.size();
  auto array = Napi::Uint32Array::New(env, paths + 1);
  uint32_t base = 0;
  size_t next = 0;
  array[next++] = 0;
  for (const engine::Completion& completion : completions) {
    for (size_t p = 0; p < completion.answer.path_scores.size(); ++p)
      array[next++] = base + completion.answer.path_offsets[p + 1];
    base += static_cast<uint32_t>(completion.answer.path_codes.size());
  }
  return array;
}

/// One text of every item of every completion, read from the version that it was found in.
template <typename Text>
Napi::Value texts(Napi::Env env, std::span<const engine::Completion> completions,
                  const Text& text) {
  auto array = Napi::Array::New(env);
  uint32_t next = 0;
  for (const engine::Completion& completion : completions) {
    for (const catalogue::ItemOrdinal item : completion.answer.item_ordinals) {
      const std::string_view value = text(*completion.view, item);
      array.Set(next++, Napi::String::New(env, value.data(), value.size()));
    }
  }
  return array;
}

Napi::Value timings(Napi::Env env, std::span<const engine::Completion> completions) {
  auto array = Napi::Float32Array::New(env, completions.size() * engine::kTimingSlots);
  float* next = array.Data();
  for (const engine::Completion& completion : completions) {
    const engine::Timings& t = completion.timings;
    for (const float value :
         {t.queue_us, t.plan_us, t.prefill_us, t.decode_us, t.projections_us, t.attention_us,
          t.head_us, t.select_us, t.fork_us, t.export_us, t.total_us}) {
      *next++ = value;
    }
  }
  return array;
}

void add_explanations(Napi::Env env, std::span<const engine::Completion> completions,
                      Napi::Object& result) {
  const size_t count = completions.size();
  auto verdicts = Napi::Uint8Array::New(env, count);
  auto ranks = Napi::Uint32Array::New(env, count);
  auto steps = Napi::Uint32Array::New(env, count);
  auto scores = Napi::Float32Array::New(env, count);
  auto cut_scores = Napi::Float32Array::New(env, count);
  auto attributes = Napi::Array::New(env, count);
  for (uint32_t i = 0; i < count; ++i) {
    const beam::Explanation& explanation = completions[i].explanation;
    verdicts[i] = static_cast<uint8_t>(explanation.verdict);
    ranks[i] = explanation.rank;
    steps[i] = explanation.step;
    scores[i] = explanation.score;
    cut_scores[i] = explanation.cut_score;
    attributes.Set(i, Napi::String::New(env, explanation.attribute));
  }
  result["verdicts"] = verdicts;
  result["verdictRanks"] = ranks;
  result["prunedSteps"] = steps;
  result["watchedScores"] = scores;
  result["cutScores"] = cut_scores;
  result["cappedAttributes"] = attributes;
}

void add_trees(Napi::Env env, std::span<const engine::Completion> completions,
               Napi::Object& result) {
  using engine::Completion;
  const auto cells = [](const Completion& c) -> const auto& { return c.tree.cells; };
  const auto scores = [](const Completion& c) -> const auto& { return c.tree.scores; };
  result["treeOffsets"] = offsets(env, completions, scores);
  result["treeCells"] = flatten<uint32_t>(env, completions, cells);
  result["treeScores"] = flatten<float>(env, completions, scores);
}

Napi::Value passes(Napi::Env env, std::span<const engine::Completion> completions) {
  size_t count = 0;
  for (const engine::Completion& completion : completions) count += completion.passes.size();
  auto array = Napi::Float32Array::New(env, count * engine::kPassSlots);
  float* next = array.Data();
  for (const engine::Completion& completion : completions) {
    for (const engine::PassTimes& p : completion.passes) {
      for (const float value :
           {static_cast<float>(p.rows), p.is_decode ? 1.0f : 0.0f, p.plan_us, p.forward_us,
            p.projections_us, p.attention_us, p.head_us, p.select_us, p.fork_us}) {
        *next++ = value;
      }
    }
  }
  return array;
}

void add_provenance(Napi::Env env, std::span<const engine::Completion> completions,
                    Napi::Object& result) {
  auto tokens = Napi::Uint32Array::New(env, completions.size() * kv::kTierCount);
  auto lossy = Napi::Uint8Array::New(env, completions.size());
  auto inherited = Napi::Uint32Array::New(env, completions.size());
  auto versions_back = Napi::Uint32Array::New(env, completions.size());
  auto waits = Napi::Uint32Array::New(env, completions.size());
  for (uint32_t i = 0; i < completions.size(); ++i) {
    lossy[i] = completions[i].kv_is_lossy ? 1 : 0;
    inherited[i] = completions[i].kv_inherited_tokens;
    versions_back[i] = completions[i].kv_versions_back;
    waits[i] = completions[i].kv_wait_us;
    for (uint32_t t = 0; t < kv::kTierCount; ++t)
      tokens[i * kv::kTierCount + t] = completions[i].kv_tokens[t];
  }
  result["kvTokens"] = tokens;
  result["kvLossy"] = lossy;
  result["kvInheritedTokens"] = inherited;
  result["kvVersionsBack"] = versions_back;
  result["kvWaitUs"] = waits;
}

}  // namespace

Napi::Object to_javascript(Napi::Env env, std::span<const engine::Completion> completions) {
  using engine::Completion;
  const size_t count = completions.size();
  auto tickets = Napi::Uint32Array::New(env, count);
  auto statuses = Napi::Uint8Array::New(env, count);
  auto messages = Napi::Array::New(env, count);
  auto retries = Napi::Uint32Array::New(env, count);
  auto reused = Napi::Uint32Array::New(env, count);
  auto completeness = Napi::Uint8Array::New(env, count);
  auto left_out = Napi::Uint32Array::New(env, count);
  for (uint32_t i = 0; i < count; ++i) {
    tickets[i] = completions[i].ticket;
    statuses[i] = static_cast<uint8_t>(completions[i].status.code());
    messages.Set(i, Napi::String::New(env, completions[i].status.message()));
    retries[i] = completions[i].retry_after_us;
    reused[i] = completions[i].prefix_reused_tokens;
    completeness[i] = static_cast<uint8_t>(completions[i].completeness);
    left_out[i] = completions[i].answer.left_out_by_diversity;
  }
  const auto ordinals = [](const Completion& c) -> const auto& { return c.answer.item_ordinals; };
  const auto item_scores = [](const Completion& c) -> const auto& { return c.answer.item_scores; };
  const auto item_paths = [](const Completion& c) -> const auto& { return c.answer.item_paths; };
  const auto path_scores = [](const Completion& c) -> const auto& { return c.answer.path_scores; };
  const auto path_codes = [](const Completion& c) -> const auto& { return c.answer.path_codes; };
  const auto widths = [](const Completion& c) -> const auto& { return c.widths_used; };
  const auto scores = [](const Completion& c) -> const auto& { return c.scores; };
  auto sequences = Napi::Float64Array::New(env, count);
  auto generations = Napi::Float64Array::New(env, count);
  for (uint32_t i = 0; i < count; ++i) {
    const bool is_answered = completions[i].view != nullptr;
    generations[i] = static_cast<double>(completions[i].weights_generation);
    sequences[i] = is_answered ? static_cast<double>(completions[i].view->sequence()) : 0;
  }
  Napi::Object result = Napi::Object::New(env);
  result["tickets"] = tickets;
  result["catalogueSequences"] = sequences;
  result["weightsGenerations"] = generations;
  result["statuses"] = statuses;
  result["messages"] = messages;
  result["retryAfterUs"] = retries;
  result["itemOffsets"] = offsets(env, completions, ordinals);
  result["itemOrdinals"] = flatten<uint32_t>(env, completions, ordinals);
  result["itemIds"] = texts(env, completions, [](const catalogue::View& view, uint32_t item) {
    return view.item_id(item);
  });
  result["itemTitles"] = texts(env, completions, [](const catalogue::View& view, uint32_t item) {
    return view.title(item);
  });
  result["itemScores"] = flatten<float>(env, completions, item_scores);
  result["itemPaths"] = flatten<uint32_t>(env, completions, item_paths);
  result["pathOffsets"] = offsets(env, completions, path_scores);
  result["pathScores"] = flatten<float>(env, completions, path_scores);
  result["codeOffsets"] = code_offsets(env, completions);
  result["pathCodes"] = flatten<uint32_t>(env, completions, path_codes);
  result["widthOffsets"] = offsets(env, completions, widths);
  result["widthsUsed"] = flatten<uint32_t>(env, completions, widths);
  result["scoreOffsets"] = offsets(env, completions, scores);
  result["scores"] = flatten<float>(env, completions, scores);
  result["leftOutByDiversity"] = left_out;
  result["completeness"] = completeness;
  add_explanations(env, completions, result);
  add_trees(env, completions, result);
  result["prefixReusedTokens"] = reused;
  add_provenance(env, completions, result);
  result["timingsUs"] = timings(env, completions);
  result["passOffsets"] = offsets(
      env, completions, [](const Completion& c) -> const auto& { return c.passes; });
  result["passes"] = passes(env, completions);
  return result;
}

}  // namespace tessera::bridge
