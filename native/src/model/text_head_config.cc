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
constexpr std::string_view kGenerator = "ForCausalLM";

Status parse_file(const std::string& path, simdjson::dom::parser& parser,
                  simdjson::dom::element& root) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kModelNotFound);
  if (!file.is_ok()) return file.status();
  const std::string_view text = file.value().text();
  if (text.size() > kMaxConfigBytes) {
    return {Code::kModelInvalid, path + ": expected at most " + std::to_string(kMaxConfigBytes) +
                                     " bytes, got " + std::to_string(text.size())};
  }
  Result<simdjson::dom::element> parsed = parse_json(parser, text, path, Code::kModelInvalid);
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
  reader.refuse_others({"embedding_dimension", "word_embedding_dimension", "pooling_mode",
                        "include_prompt", kPoolings[0].field, kPoolings[1].field,
                        kPoolings[2].field, kPoolings[3].field, kPoolings[4].field,
                        kPoolings[5].field});
  if (!reader.boolean("include_prompt", true)) reader.refuse("include_prompt", "true");
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

struct ActivationName {
  std::string_view name;
  Activation activation;
};
constexpr ActivationName kActivations[] = {
    {"torch.nn.modules.linear.Identity", Activation::kNone},
    {"torch.nn.modules.activation.Tanh", Activation::kTanh},
    {"torch.nn.modules.activation.GELU", Activation::kGelu},
    {"torch.nn.modules.activation.ReLU", Activation::kRelu},
    {"torch.nn.modules.activation.Sigmoid", Activation::kSigmoid}};

constexpr const char* kVector = "sentence_embedding";  // what modules hand on
constexpr const char* kScores = "scores";              // what the last one of a reranker makes

Status read_dense(ObjectReader& reader, bool is_last, TextHeadConfig& head, HeadStage& stage) {
  constexpr uint32_t kMax = kMaxHiddenSize;
  reader.refuse_others({"in_features", "out_features", "bias", "activation_function",
                        "module_input_name", "module_output_name", "use_residual"});
  stage.kind = HeadStage::Kind::kDense;
  stage.inputs = reader.whole("in_features", 1, kMax);
  stage.outputs = reader.whole("out_features", 1, kMax);
  stage.has_bias = reader.boolean("bias", true);
  const std::string name = reader.text("activation_function", std::string(kActivations[1].name));
  const auto found = std::find_if(std::begin(kActivations), std::end(kActivations),
                                  [&](const ActivationName& row) { return row.name == name; });
  if (found == std::end(kActivations)) {
    reader.refuse("activation_function", "Identity, Tanh, GELU, ReLU or Sigmoid of torch.nn");
  } else {
    stage.activation = found->activation;
  }
  if (reader.boolean("use_residual", false)) reader.refuse("use_residual", "false");
  if (reader.text("module_input_name", kVector) != kVector) {
    reader.refuse("module_input_name", kVector);
  }
  const std::string output = reader.text("module_output_name", kVector);
  head.is_classifier = is_last && output == kScores;
  if (output != kVector && !head.is_classifier) {
    reader.refuse("module_output_name", std::string(kVector) + ", or scores of the last module");
  }
  stage.tensors = "linear.";
  return reader.status();
}

Status read_norm(ObjectReader& reader, HeadStage& stage) {
  constexpr float kEpsilonOfTorch = 1e-5f;
  reader.refuse_others({"dimension"});
  stage.kind = HeadStage::Kind::kLayerNorm;
  stage.has_bias = true;
  stage.epsilon = kEpsilonOfTorch;
  stage.tensors = "norm.";
  return reader.status();
}

Status read_normalise(ObjectReader& reader) {
  reader.refuse_others({"module_input_name", "module_output_name"});
  for (const char* field : {"module_input_name", "module_output_name"}) {
    if (reader.text(field, kVector) != kVector) reader.refuse(field, kVector);
  }
  return reader.status();
}

constexpr std::string_view kModules = "sentence_transformers.";
constexpr const char* kStages = "one of Dense, LayerNorm, Dropout, Normalize";

/// One module of modules.json, of which the first is the encoder and the second the pooling.
Status read_module(const std::string& folder, size_t index, bool is_last, ObjectReader& reader,
                   TextHeadConfig& head) {
  const std::string type = reader.text("type");
  const std::string path = reader.text("path", "");
  TESSERA_RETURN_IF_ERROR(reader.status());
  const auto is_a = [&](std::string_view name) {
    return type.starts_with(kModules) && type.ends_with("." + std::string(name));
  };
  if (path.starts_with("/") || path.find("..") != std::string::npos) {
    reader.refuse("path", "a folder in the model's own");
    return reader.status();
  }
  const std::string own = path.empty() ? folder : folder + "/" + path;
  HeadStage stage{.folder = own};
  const auto read = [&](const Read& use) { return read_object(own + "/config.json", use); };
  if (is_a("Transformer") != (index == 0) || (index == 1) != is_a("Pooling")) {
    reader.refuse("type", std::string(kModules) + "... " +
                              (index == 0   ? "Transformer"
                               : index == 1 ? "Pooling (of a language model that judges: "
                                              "relevance.json in place of modules.json)"
                                            : kStages));
  } else if (index == 0) {
    head.encoder_folder = own;
  } else if (index == 1) {
    return read([&](ObjectReader& config) { return read_pooling(config, head.pooling); });
  } else if (is_a("Dense")) {
    TESSERA_RETURN_IF_ERROR(
        read([&](ObjectReader& config) { return read_dense(config, is_last, head, stage); }));
    head.stages.push_back(std::move(stage));
  } else if (is_a("LayerNorm")) {
    TESSERA_RETURN_IF_ERROR(read([&](ObjectReader& config) { return read_norm(config, stage); }));
    head.stages.push_back(std::move(stage));
  } else if (is_a("Normalize")) {
    // Older releases write no file for it.
    if (!path.empty() && platform::exists(own + "/config.json")) {
      TESSERA_RETURN_IF_ERROR(read(read_normalise));
    }
    head.stages.push_back({.kind = HeadStage::Kind::kNormalise});
  } else if (!is_a("Dropout")) {  // which is for training alone
    reader.refuse("type", kStages);
  }
  return reader.status();
}

Status read_modules(const std::string& folder, const std::string& path, size_t& count,
                    TextHeadConfig& head) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  TESSERA_RETURN_IF_ERROR(parse_file(path, parser, root));
  simdjson::dom::array modules;
  if (root.get_array().get(modules) != simdjson::SUCCESS || modules.size() < 1 ||
      modules.size() > kMaxHeadStages) {
    return {Code::kModelInvalid, path + ": expected an array of 1.." +
                                     std::to_string(kMaxHeadStages) + " modules, got " +
                                     describe(root)};
  }
  count = modules.size();
  size_t index = 0;
  for (const simdjson::dom::element module : modules) {
    simdjson::dom::object object;
    if (module.get_object().get(object) != simdjson::SUCCESS) {
      return {Code::kModelInvalid, path + ": " + std::to_string(index) +
                                       ": expected an object, got " + describe(module)};
    }
    ObjectReader reader(object, path, std::to_string(index) + ".");
    index += 1;
    TESSERA_RETURN_IF_ERROR(read_module(folder, index - 1, index == count, reader, head));
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
    // Decoders: the last row, as transformers' GenericForSequenceClassification takes it. Another
    // model_type is refused where the encoder is read.
    head.pooling = Pooling::kLast;
    head.stages.push_back(dense(folder, "score.", Activation::kNone));
    head.stages.back().has_bias = false;
  }
  return reader.status();
}

/// Reads the architecture of config.json: a classifier, whose head is then read, or a generating
/// model, whose last row stands for the text, as in sentence-transformers.
Status read_architecture(TextHeadConfig& head) {
  return read_object(head.encoder_folder + "/config.json", [&](ObjectReader& reader) {
    const auto architectures = reader.find("architectures");
    simdjson::dom::array names;
    bool generates = false;
    if (architectures && architectures->get_array().get(names) == simdjson::SUCCESS) {
      // As sentence-transformers: one that classifies counts anywhere, one that generates first.
      for (size_t i = 0; i < names.size(); ++i) {
        std::string_view name;
        if (names.at(i).get_string().get(name) != simdjson::SUCCESS) continue;
        if (name.ends_with(kClassifier)) return read_classifier(reader, head);
        generates = generates || (i == 0 && name.ends_with(kGenerator));
      }
    }
    if (generates && reader.boolean("is_causal", true)) head.pooling = Pooling::kLast;
    return reader.status();
  });
}

}  // namespace

Result<TextHeadConfig> TextHeadConfig::load(const std::string& folder) {
  TextHeadConfig head;
  head.encoder_folder = folder;
  const std::string modules = folder + "/modules.json";
  if (!platform::exists(modules)) {
    TESSERA_RETURN_IF_ERROR(read_architecture(head));
    return head;
  }
  size_t count = 0;
  TESSERA_RETURN_IF_ERROR(read_modules(folder, modules, count, head));
  if (count > 1) return head;
  // The whole of a classifier of transformers as one module.
  TESSERA_RETURN_IF_ERROR(read_architecture(head));
  if (head.is_classifier) return head;
  return Status(
      Code::kModelInvalid,
      modules + ": expected a Pooling behind a Transformer that is no classifier, got none");
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
