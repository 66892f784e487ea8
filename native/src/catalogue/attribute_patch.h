// Edits of an attributes object: what is not named stays as it is, also what is not typed.
// docs/concepts/live-catalogue.md has the rules.
//
// Thread-safety: values; an AttributePatcher is immutable once made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tessera::catalogue {

inline constexpr uint32_t kPatchNamesMax = 64;    // attributes that one patch names
inline constexpr uint32_t kPatchTextsMax = 4096;  // put into sets and taken out, together

/// Texts of one attribute.
struct PatchTexts {
  std::string attribute;
  std::vector<std::string> texts;
};

struct PatchNumber {
  std::string attribute;
  double delta = 0;
};

/// Each attribute is named once at most.
struct AttributePatch {
  std::string set;                 // JSON object text: members put in or replaced; "": none
  std::vector<std::string> unset;  // members taken out, where they are there
  std::vector<PatchTexts> add;     // to sets; one that is not there begins empty
  std::vector<PatchTexts> take;    // from sets
  std::vector<PatchNumber> delta;  // added to numbers; one that is not there counts as 0
};

class AttributePatcher {
 public:
  /// Errors: CATALOGUE_INVALID, the message beginning with the member of the patch: a `set` that is
  /// no object, an attribute named twice, beyond a limit above, no edit at all.
  static Result<AttributePatcher> make(const AttributePatch& patch);

  /// The object as it is afterwards, without spaces. Errors: CATALOGUE_INVALID, the message
  /// beginning with `add.`, `take.` or `delta.` and the attribute: it has another type here, or the
  /// number leaves the finite ones.
  Result<std::string> apply(std::string_view attributes) const;
  bool names(std::string_view attribute) const { return find(attribute) != nullptr; }

 private:
  enum class Kind : uint8_t { kSet, kUnset, kAdd, kTake, kDelta };
  struct Edit {
    Kind kind = Kind::kSet;
    std::string name;
    std::string json;                // kSet
    std::vector<std::string> texts;  // kAdd: as given, each once; kTake: ascending
    double delta = 0;                // kDelta
  };
  struct Value;  // of a member, or that there is none

  Status read_set(const std::string& json);
  Status put(Edit edit);
  const Edit* find(std::string_view name) const;
  static Status refuse(const Edit& edit, const std::string& message);
  static Result<std::optional<std::string>> edited(const Edit& edit, const Value& value);
  static Result<std::optional<std::string>> edited_set(const Edit& edit, const Value& value);
  static Result<std::optional<std::string>> edited_number(const Edit& edit, const Value& value);

  std::vector<Edit> edits_;  // in the order in which new members are written
};

}  // namespace tessera::catalogue
