#include "model/text_head_config.h"

#include <simdjson.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "model/json.h"
#include "model/model_config.h"
#include "platform/file.h"
#include "platform/mapped_file.h"

namespace tessera::model {
namespace {

using Activation = HeadStage::Activation;
using Read = std::function<Status(ObjectReader&)>;

constexpr std::string_view kClassifier = "ForSequenceClassification";

Status parse_file(const std::string& path, simdjson::dom::parser& parser,
                  simdjson::dom::element& root) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kModelNotFound);
  if (!file.is_ok()) return file.status();
  const auto bytes = file.value().bytes();
  if (bytes.size() > kMaxConfigBytes) {
    return {Code::kModelInvalid, path + ": expected at most " + std::to_string(kMaxConfigBytes) +
                                     " bytes, got " + std::to_string(bytes.size())};
  }
  Result<simdjson::dom::element> parsed =
      parse_json(parser, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path,
                 Code::kModelInvalid);
  if (!parsed.is_ok()) return parsed.status();
  root = parsed.value();
  return Status::ok();
}

/// Reads the object that a file is.
Status read_object(const std::string& path, const Read& read) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  TESSERA_RETURN_IF_ERROR(parse_file(path, parser, root));
  simdjson::dom::object object;
  if (root.get_object().get(object) != simdjson::SUCCESS) {
    return {Code::kModelInvalid, path + ": expected an object, got " + describe(root)};
  }
  ObjectReader reader(object, path, "");
  TESSERA_RETURN_IF_ERROR(read(reader));
  return reader.status();
}

struct PoolingName {
  std::string_view field, name;
  std::optional<Pooling> pooling;  // nothing: not computed
};
constexpr PoolingName kPoolings[] = {
    {"pooling_mode_cls_token", "cls", Pooling::kFirst},
    {"pooling_mode_mean_tokens", "mean", Pooling::kMean},
    {"pooling_mode_max_tokens", "max", Pooling::kMax},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Pooling::kMeanSqrt},
    {"pooling_mode_lasttoken", "lasttoken", Pooling::kLast},
    {"pooling_mode_weightedmean_tokens", "weightedmean", std::nullopt}};

constexpr const char* kOnePooling = "one of cls, mean, max, mean_sqrt_len_tokens and lasttoken";

Status read_pooling(ObjectReader& reader, Pooling& pooling) {
  if (reader.find("pooling_mode")) {
    const std::string mode = reader.text("pooling_mode");
    const auto found = std::find_if(std::begin(kPoolings), std::end(kPoolings),
                                    [&](const PoolingName& row) { return row.name == mode; });
    if (found == std::end(kPoolings) || !found->pooling) {
      reader.refuse("pooling_mode", kOnePooling);
      return reader.status();
    }
    pooling = *found->pooling;
    return reader.status();
  }
  uint32_t asked = 0;
  for (const PoolingName& row : kPoolings) {
    if (!reader.boolean(row.field, false)) continue;
    asked += 1;
    if (asked > 1 || !row.pooling) reader.refuse(row.field, std::string("false: ") + kOnePooling);
    pooling = row.pooling.value_or(pooling);
  }
  if (asked == 0) pooling = Pooling::kMean;
  return reader.status();
}

Status read_dense(ObjectReader& reader, HeadStage& stage) {
  constexpr uint32_t kMax = kMaxHiddenSize;
  stage.kind = HeadStage::Kind::kDense;
  stage.inputs = reader.whole("in_features", 1, kMax);
  stage.outputs = reader.whole("out_features", 1, kMax);
  stage.has_bias = reader.boolean("bias", true);
  const std::string name = reader.text("activation_function", "torch.nn.modules.activation.Tanh");
  if (name.ends_with(".Tanh")) {
    stage.activation = Activation::kTanh;
  } else if (name.ends_with(".GELU")) {
    stage.activation = Activation::kGelu;
  } else if (!name.ends_with(".Identity")) {
    reader.refuse("activation_function", "a name that ends in Tanh, GELU or Identity");
  }
  stage.tensors = "linear.";
  return reader.status();
}

/// One module of modules.json, of which the first is the encoder.
Status read_module(const std::string& folder, size_t index, ObjectReader& reader,
                   TextHeadConfig& head) {
  const std::string type = reader.text("type");
  const std::string path = reader.text("path", "");
  TESSERA_RETURN_IF_ERROR(reader.status());
  const auto is_a = [&](std::string_view name) { return type.ends_with("." + std::string(name)); };
  if (path.starts_with("/") || path.find("..") != std::string::npos) {
    reader.refuse("path", "a folder in the model's own");
    return reader.status();
  }
  const std::string own = path.empty() ? folder : folder + "/" + path;
  if (is_a("Transformer") != (index == 0) || (index == 1) != is_a("Pooling")) {
    reader.refuse("type", index == 0   ? "a Transformer"
                          : index == 1 ? "a Pooling"
                                       : "one of Dense, Normalize");
  } else if (index == 0) {
    head.encoder_folder = own;
  } else if (index == 1) {
    return read_object(own + "/config.json",
                       [&](ObjectReader& config) { return read_pooling(config, head.pooling); });
  } else if (is_a("Dense")) {
    HeadStage stage{.folder = own};
    TESSERA_RETURN_IF_ERROR(read_object(
        own + "/config.json", [&](ObjectReader& config) { return read_dense(config, stage); }));
    head.stages.push_back(std::move(stage));
  } else if (is_a("Normalize")) {
    head.stages.push_back({.kind = HeadStage::Kind::kNormalise});
  } else {
    reader.refuse("type", "one of Dense, Normalize");
  }
  return reader.status();
}

Status read_modules(const std::string& folder, const std::string& path, TextHeadConfig& head) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  TESSERA_RETURN_IF_ERROR(parse_file(path, parser, root));
  simdjson::dom::array modules;
  if (root.get_array().get(modules) != simdjson::SUCCESS || modules.size() < 2 ||
      modules.size() > kMaxHeadStages) {
    return {Code::kModelInvalid, path + ": expected an array of 2.." +
                                     std::to_string(kMaxHeadStages) + " modules, got " +
                                     describe(root)};
  }
  size_t index = 0;
  for (const simdjson::dom::element module : modules) {
    simdjson::dom::object object;
    if (module.get_object().get(object) != simdjson::SUCCESS) {
      return {Code::kModelInvalid, path + ": " + std::to_string(index) +
                                       ": expected an object, got " + describe(module)};
    }
    ObjectReader reader(object, path, std::to_string(index) + ".");
    TESSERA_RETURN_IF_ERROR(read_module(folder, index, reader, head));
    index += 1;
  }
  return Status::ok();
}

HeadStage dense(const std::string& folder, std::string tensors, Activation activation) {
  return {.kind = HeadStage::Kind::kDense,
          .activation = activation,
          .has_bias = true,
          .folder = folder,
          .tensors = std::move(tensors)};
}

/// The classifier of the family that config.json names.
Status read_classifier(ObjectReader& reader, TextHeadConfig& head) {
  const std::string& folder = head.encoder_folder;
  const std::string type = reader.text("model_type");
  head.is_classifier = true;
  head.pooling = Pooling::kFirst;
  if (type == "bert") {
    head.stages.push_back(dense(folder, "bert.pooler.dense.", Activation::kTanh));
    head.stages.push_back(dense(folder, "classifier.", Activation::kNone));
  } else if (type == "roberta" || type == "xlm-roberta") {
    head.stages.push_back(dense(folder, "classifier.dense.", Activation::kTanh));
    head.stages.push_back(dense(folder, "classifier.out_proj.", Activation::kNone));
  } else if (type == "modernbert") {
    const std::string pooling = reader.text("classifier_pooling", "cls");
    if (pooling != "cls" && pooling != "mean") {
      reader.refuse("classifier_pooling", "one of cls, mean");
    }
    if (pooling == "mean") head.pooling = Pooling::kMean;
    if (reader.text("classifier_activation", "gelu") != "gelu") {
      reader.refuse("classifier_activation", "\"gelu\"");
    }
    head.stages.push_back(dense(folder, "head.dense.", Activation::kGelu));
    head.stages.back().has_bias = reader.boolean("classifier_bias", false);
    head.stages.push_back({.kind = HeadStage::Kind::kLayerNorm,
                           .epsilon = static_cast<float>(reader.number("norm_eps", 0, 1, 1e-5)),
                           .folder = folder,
                           .tensors = "head.norm."});
    head.stages.push_back(dense(folder, "classifier.", Activation::kNone));
  } else {
    reader.refuse("model_type", "one of bert, roberta, xlm-roberta, modernbert for a classifier");
  }
  return reader.status();
}

}  // namespace

Result<TextHeadConfig> TextHeadConfig::load(const std::string& folder) {
  TextHeadConfig head;
  head.encoder_folder = folder;
  const std::string modules = folder + "/modules.json";
  if (platform::exists(modules)) {
    TESSERA_RETURN_IF_ERROR(read_modules(folder, modules, head));
    return head;
  }
  const Status status = read_object(folder + "/config.json", [&](ObjectReader& reader) {
    const auto architectures = reader.find("architectures");
    simdjson::dom::array names;
    std::string_view name;
    const bool is_classifier =
        architectures && architectures->get_array().get(names) == simdjson::SUCCESS &&
        names.size() == 1 && names.at(0).get_string().get(name) == simdjson::SUCCESS &&
        name.ends_with(kClassifier);
    return is_classifier ? read_classifier(reader, head) : Status::ok();
  });
  TESSERA_RETURN_IF_ERROR(status);
  return head;
}

std::string TextHeadConfig::canonical_text() const {
  std::string text = "pooling " + std::to_string(static_cast<int>(pooling));
  for (const HeadStage& stage : stages) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(stage.epsilon));
    text += " " + std::to_string(static_cast<int>(stage.kind)) +
            std::to_string(static_cast<int>(stage.activation)) +
            std::to_string(static_cast<int>(stage.has_bias)) + " " + digits;
  }
  return text;
}

}  // namespace tessera::model
