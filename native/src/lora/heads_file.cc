// Heads from their files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "lora/heads.h"
#include "lora/packing.h"
#include "model/json.h"
#include "model/safetensors.h"
#include "model/weight_names.h"
#include "platform/file.h"
#include "platform/mapped_file.h"

namespace tessera::lora {
namespace {

using model::ObjectReader;
using model::shape_text;
using simdjson::dom::element;

constexpr std::string_view kRankingFile = "ranking.json";
constexpr std::string_view kHeadsFile = "heads.safetensors";
constexpr size_t kNameBytesMax = 64;
constexpr double kNumberMax = 1e30;

bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  // As of adapters: no name is one that an object of JavaScript has for itself (__proto__).
  const auto is_mark = [](char c) { return c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= kNameBytesMax && !is_mark(name.front()) &&
         std::all_of(name.begin(), name.end(), fits);
}

class FormReader {
 public:
  FormReader(simdjson::dom::object object, const std::string& file)
      : file_(file), reader_(object, file, "", Code::kAdapterInvalid) {}

  Result<RankingForm> read() {
    reader_.refuse_others(
        {"version", "name", "model", "item", "maxItemTokens", "attributes", "heads"});
    reader_.whole("version", 1, 1);
    for (const element value : list("attributes", 0, kHeadAttributesMax)) read_attribute(value);
    for (const element value : list("heads", 1, kHeadsMax)) read_head(value);
    if (!reader_.status().is_ok()) return reader_.status();
    return std::move(form_);
  }

 private:
  std::vector<element> list(std::string_view field, size_t least, size_t most) {
    const auto value = reader_.find(field);
    std::vector<element> all;
    if (!value && least == 0) return all;
    simdjson::dom::array array;
    if (value && value->get_array().get(array) == simdjson::SUCCESS) {
      for (const element one : array) all.push_back(one);
    }
    if (!value || !value->is_array() || all.size() < least || all.size() > most) {
      reader_.refuse(field, "a list of " + std::to_string(least) + " to " + std::to_string(most));
      all.clear();
    }
    return all;
  }

  /// Entry `index` of a list.
  std::optional<ObjectReader> entry(const char* field, size_t index, element value) {
    simdjson::dom::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) {
      reader_.refuse(field, "a list of objects");
      return {};
    }
    const std::string path = std::string(field) + "[" + std::to_string(index) + "].";
    return ObjectReader(object, file_, path, Code::kAdapterInvalid);
  }

  template <typename Word>
  static Word word(ObjectReader& from, std::string_view field,
                   std::initializer_list<std::pair<std::string_view, Word>> words,
                   std::string_view otherwise) {
    const std::string text = from.text(field, std::string(otherwise));
    std::string known;
    for (const auto& [name, value] : words) {
      if (name == text) return value;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    from.refuse(field, "one of " + known);
    return words.begin()->second;
  }

  void read_attribute(element value) {
    auto from = entry("attributes", form_.attributes.size(), value);
    if (!from) return;
    from->refuse_others({"name", "function", "mean", "deviation", "default"});
    HeadAttribute attribute;
    using Function = HeadAttribute::Function;
    attribute.name = from->text("name");
    if (attribute.name.empty()) from->refuse("name", "the name of a number attribute");
    attribute.function = word<Function>(
        *from, "function",
        {{"identity", Function::kIdentity}, {"log", Function::kLog}, {"log1p", Function::kLog1p}},
        "identity");
    attribute.mean = from->number("mean", -kNumberMax, kNumberMax, 0.0);
    attribute.deviation = from->number("deviation", 0, kNumberMax, 1.0);
    attribute.by_default = from->number("default", -kNumberMax, kNumberMax, 0.0);
    reader_.adopt(*from);
    form_.attributes.push_back(std::move(attribute));
  }

  void read_head(element value) {
    auto from = entry("heads", form_.heads.size(), value);
    if (!from) return;
    from->refuse_others(
        {"name", "hidden", "hiddenActivation", "activation", "calibration", "scoreWeight"});
    HeadForm head;
    using Inner = HeadForm::Inner;
    using Activation = HeadForm::Activation;
    head.name = from->text("name");
    const auto is_same = [&](const HeadForm& other) { return other.name == head.name; };
    if (!is_name(head.name) || std::any_of(form_.heads.begin(), form_.heads.end(), is_same)) {
      from->refuse("name",
                   "another name of 1 to 64 of a-z, 0-9, '.', '_', '-', a letter or digit first");
    }
    read_inner(*from, head);
    head.inner_activation = word<Inner>(*from, "hiddenActivation",
                                        {{"relu", Inner::kRelu},
                                         {"gelu", Inner::kGelu},
                                         {"silu", Inner::kSilu},
                                         {"tanh", Inner::kTanh}},
                                        "relu");
    head.activation = word<Activation>(*from, "activation",
                                       {{"identity", Activation::kIdentity},
                                        {"sigmoid", Activation::kSigmoid},
                                        {"exp", Activation::kExp},
                                        {"softplus", Activation::kSoftplus}},
                                       "sigmoid");
    if (auto calibration = from->object("calibration")) {
      read_calibration(*calibration, head);
      from->adopt(*calibration);
    }
    // The score is added where scores of all items are: by the service (ranking.ts).
    const bool is_sigmoid = head.activation == Activation::kSigmoid;
    const double weight = from->number("scoreWeight", -kNumberMax, kNumberMax, 0.0);
    if (weight != 0 && (!is_sigmoid || head.calibration != HeadForm::Calibration::kNone)) {
      from->refuse("scoreWeight", "a head of the activation sigmoid and no calibration beside it");
    }
    reader_.adopt(*from);
    form_.heads.push_back(std::move(head));
  }

  static void read_inner(ObjectReader& from, HeadForm& head) {
    const auto value = from.find("hidden");
    if (!value) return;
    simdjson::dom::array sizes;
    const std::string expected = "a list of at most " + std::to_string(kInnerLayersMax) +
                                 " sizes in 1.." + std::to_string(kInnerSizeMax);
    if (value->get_array().get(sizes) != simdjson::SUCCESS || sizes.size() > kInnerLayersMax) {
      return from.refuse("hidden", expected);
    }
    for (const element size : sizes) {
      uint64_t number = 0;
      if (size.get_uint64().get(number) != simdjson::SUCCESS || number < 1 ||
          number > kInnerSizeMax) {
        return from.refuse("hidden", expected);
      }
      head.inner.push_back(static_cast<uint32_t>(number));
    }
  }

  static void read_calibration(ObjectReader& from, HeadForm& head) {
    from.refuse_others({"platt", "isotonic"});
    auto knots = from.object("isotonic");
    const bool is_platt = from.find("platt").has_value();
    if (is_platt == knots.has_value())
      return from.refuse("platt", "this or isotonic, and not both");
    if (is_platt) {
      const std::vector<double> numbers = doubles(from, "platt", 2, 2);
      if (numbers.size() == 2) head.platt = {numbers[0], numbers[1]};
      if (head.activation != HeadForm::Activation::kSigmoid) {
        from.refuse("platt", "a head with the activation sigmoid beside it");
      }
      head.calibration = HeadForm::Calibration::kPlatt;
      return;
    }
    knots->refuse_others({"x", "y"});
    head.knots_x = doubles(*knots, "x", 1, kKnotsMax);
    head.knots_y = doubles(*knots, "y", head.knots_x.size(), head.knots_x.size());
    const auto falls = [](double a, double b) { return b < a; };
    const auto rises_not = [](double a, double b) { return b <= a; };
    const auto &x = head.knots_x, &y = head.knots_y;
    if (std::adjacent_find(x.begin(), x.end(), rises_not) != x.end())
      knots->refuse("x", "numbers that rise");
    if (std::adjacent_find(y.begin(), y.end(), falls) != y.end())
      knots->refuse("y", "numbers that never fall");
    from.adopt(*knots);
    head.calibration = HeadForm::Calibration::kIsotonic;
  }

  static std::vector<double> doubles(ObjectReader& from, std::string_view field, size_t least,
                                     size_t most) {
    std::vector<double> numbers;
    const auto value = from.find(field);
    simdjson::dom::array array;
    if (value && value->get_array().get(array) == simdjson::SUCCESS) {
      for (const element one : array) {
        double number = 0;
        if (one.get_double().get(number) != simdjson::SUCCESS) break;
        numbers.push_back(number);
      }
    }
    const bool is_whole = value && value->is_array() && numbers.size() == array.size();
    if (is_whole && numbers.size() >= least && numbers.size() <= most) return numbers;
    from.refuse(field,
                "a list of " + std::to_string(least) + " to " + std::to_string(most) + " numbers");
    return {};
  }

  const std::string& file_;
  ObjectReader reader_;
  RankingForm form_;
};

/// The entry of a name; null: there is none.
const model::TensorEntry* find(const std::vector<model::TensorEntry>& entries,
                               const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

Status invalid(const std::string& file, const std::string& problem) {
  return {Code::kAdapterInvalid, file + ": " + problem};
}

float number_at(const model::TensorEntry& entry, uint64_t index) {
  const std::byte* at = entry.bytes.data() + index * tensor::dtype_size(*entry.type);
  uint16_t half = 0;
  float whole = 0;
  std::memcpy(&half, at, sizeof half);
  switch (*entry.type) {
    case tensor::DType::kBf16: return tensor::f32_of_bf16(half);
    case tensor::DType::kF16: return tensor::f32_of_f16(half);
    case tensor::DType::kF32: break;
  }
  std::memcpy(&whole, at, sizeof whole);
  return whole;
}

/// The numbers of a tensor of this shape.
Result<std::vector<float>> numbers_of(const std::vector<model::TensorEntry>& entries,
                                      const std::string& file, const std::string& name,
                                      const std::vector<uint64_t>& shape) {
  const model::TensorEntry* entry = find(entries, name);
  if (entry == nullptr) return invalid(file, name + ": expected a tensor of this name, got none");
  if (!entry->type) {
    return invalid(file, name + ": expected F32, BF16 or F16, got " + entry->dtype);
  }
  if (entry->shape != shape) {
    return invalid(file, name + ": expected the shape " + shape_text(shape) + ", got " +
                             shape_text(entry->shape));
  }
  uint64_t count = 1;
  for (const uint64_t size : shape) count *= size;
  std::vector<float> numbers(count);
  for (uint64_t i = 0; i < count; ++i) numbers[i] = number_at(*entry, i);
  const auto bad = std::find_if_not(numbers.begin(), numbers.end(),
                                    [](float number) { return std::isfinite(number); });
  if (bad == numbers.end()) return numbers;
  return Status(Code::kAdapterCorrupt,
                file + ": " + name + ": expected finite numbers, got NaN or infinity at element " +
                    std::to_string(bad - numbers.begin()));
}

}  // namespace

Result<RankingForm> RankingForm::parse(std::string_view text, const std::string& file) {
  if (text.size() > kRankingBytesMax) {
    return invalid(file, "expected at most " + std::to_string(kRankingBytesMax) + " bytes, got " +
                             std::to_string(text.size()));
  }
  simdjson::dom::parser parser;
  const auto root = model::parse_json(parser, text, file, Code::kAdapterCorrupt);
  if (!root.is_ok()) return root.status();
  simdjson::dom::object object;
  if (root.value().get_object().get(object) != simdjson::SUCCESS) {
    return invalid(file, "expected an object, got " + model::describe(root.value()));
  }
  return FormReader(object, file).read();
}

bool Heads::are_in(const std::string& folder) {
  return platform::exists(folder + "/" + std::string(kRankingFile)) ||
         platform::exists(folder + "/" + std::string(kHeadsFile));
}

Result<std::shared_ptr<const Heads>> Heads::open(const std::string& folder, uint32_t hidden_size) {
  const std::string form_path = folder + "/" + std::string(kRankingFile);
  auto form_file = platform::MappedFile::open(form_path, Code::kAdapterNotFound);
  if (!form_file.is_ok()) return form_file.status();
  auto form = RankingForm::parse(form_file.value().text(), form_path);
  if (!form.is_ok()) return form.status();
  const std::string path = folder + "/" + std::string(kHeadsFile);
  auto file = platform::MappedFile::open(path, Code::kAdapterNotFound);
  if (!file.is_ok()) return file.status();
  auto entries = model::read_safetensors(file.value().bytes(), path);
  if (!entries.is_ok()) return Status(Code::kAdapterCorrupt, entries.status().message());
  auto heads = std::make_shared<Heads>();
  heads->form_ = std::move(form).value();
  size_t read = 0;
  for (const HeadForm& head : heads->form_.heads) {
    std::vector<uint32_t> outputs = head.inner;
    outputs.push_back(1);
    uint64_t inputs = uint64_t{hidden_size} + heads->form_.attributes.size();
    std::vector<Layer>& layers = heads->layers_.emplace_back();
    for (size_t l = 0; l < outputs.size(); ++l) {
      const std::string name = head.name + "." + std::to_string(l);
      auto weight = numbers_of(entries.value(), path, name + ".weight", {outputs[l], inputs});
      if (!weight.is_ok()) return weight.status();
      auto bias = numbers_of(entries.value(), path, name + ".bias", {outputs[l]});
      if (!bias.is_ok()) return bias.status();
      layers.push_back({inputs, std::move(weight).value(), std::move(bias).value()});
      inputs = outputs[l];
      read += 2;
    }
  }
  if (read != entries.value().size()) {
    return invalid(path, "expected the " + std::to_string(read) + " tensors of its heads, got " +
                             std::to_string(entries.value().size()));
  }
  const std::span<const std::byte> bytes = file.value().bytes();
  const std::string_view text = form_file.value().text();
  heads->digest_ = hash_text(bytes.data(), bytes.size()) + hash_text(text.data(), text.size());
  return std::shared_ptr<const Heads>(std::move(heads));
}

}  // namespace tessera::lora
