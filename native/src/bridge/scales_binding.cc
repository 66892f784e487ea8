#include <algorithm>
#include <memory>
#include <utility>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "engine/measure_scales.h"

namespace tessera::bridge {
namespace {

engine::ScaleMeasurement read_measurement(Napi::Env env, const Napi::Value& value) {
  ScaleMeasurement given;
  read(env, value, "measureScales.options", given);
  engine::ScaleMeasurement options{
      given.model_path, given.output_path, given.thread_count, given.kept_per_mille, {}};
  const std::span<const uint32_t> offsets = given.prompt_offsets;
  const std::span<const int32_t> tokens = given.prompt_tokens;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != tokens.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw make_error(env, Code::kRequestInvalid,
                     "measureScales.options.promptOffsets: expected ascending offsets from 0 to "
                     "promptTokens.length");
  }
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    options.prompts.emplace_back(tokens.begin() + offsets[i], tokens.begin() + offsets[i + 1]);
  }
  return options;
}

Napi::Value measure_scales(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto scales = std::make_shared<engine::MeasuredScales>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [options = read_measurement(env, info[0]), scales]() -> Status {
        Result<engine::MeasuredScales> measured = engine::measure_scales(options);
        if (!measured.is_ok()) return measured.status();
        *scales = std::move(measured).value();
        return Status::ok();
      },
      [scales](Napi::Env settled, const Status&) -> Napi::Value {
        return to_js(settled, *scales);
      });
}

}  // namespace

void register_scales_functions(Napi::Env env, Napi::Object exports) {
  exports["measureScales"] = Napi::Function::New<&measure_scales>(env, "measureScales");
}

}  // namespace tessera::bridge
