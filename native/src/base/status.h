// Status and Result: how every public function of the engine reports failure. No exception leaves a
// folder. The codes mirror libs/ops/errors/src/codes.ts and docs/operate/errors.md one to one
// (test/contract compares them). Thread-safety: values; share them as you would a std::string.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace tessera {

enum class Code : uint8_t {
  kOk = 0,
  kRequestInvalid,
  kItemNotFound,
  kModelNotFound,
  kModelInvalid,
  kModelCorrupt,
  kModelNotFinite,
  kCatalogueNotFound,
  kCatalogueInvalid,
  kCatalogueCorrupt,
  kAdapterNotFound,
  kAdapterInvalid,
  kAdapterCorrupt,
  kAdapterArenaFull,
  kKvPoolInvalid,
  kKvStoreInvalid,
  kKvStoreCorrupt,
  kStoreInvalid,
  kStoreCorrupt,
  kStoreNewer,
  kStoreFull,
  kStoreUnavailable,
  kEngineOverloaded,
  kEngineUnavailable,
  kEngineClosed,
  kDeadlineExceeded,
  kCancelled,
  kIoFailed,
  kInternal,
};

/// Name as TypeScript spells it, e.g. "CATALOGUE_CORRUPT".
constexpr const char* code_name(Code code) {
  switch (code) {
    case Code::kOk: return "OK";
    case Code::kRequestInvalid: return "REQUEST_INVALID";
    case Code::kItemNotFound: return "ITEM_NOT_FOUND";
    case Code::kModelNotFound: return "MODEL_NOT_FOUND";
    case Code::kModelInvalid: return "MODEL_INVALID";
    case Code::kModelCorrupt: return "MODEL_CORRUPT";
    case Code::kModelNotFinite: return "MODEL_NOT_FINITE";
    case Code::kCatalogueNotFound: return "CATALOGUE_NOT_FOUND";
    case Code::kCatalogueInvalid: return "CATALOGUE_INVALID";
    case Code::kCatalogueCorrupt: return "CATALOGUE_CORRUPT";
    case Code::kAdapterNotFound: return "ADAPTER_NOT_FOUND";
    case Code::kAdapterInvalid: return "ADAPTER_INVALID";
    case Code::kAdapterCorrupt: return "ADAPTER_CORRUPT";
    case Code::kAdapterArenaFull: return "ADAPTER_ARENA_FULL";
    case Code::kKvPoolInvalid: return "KV_POOL_INVALID";
    case Code::kKvStoreInvalid: return "KV_STORE_INVALID";
    case Code::kKvStoreCorrupt: return "KV_STORE_CORRUPT";
    case Code::kStoreInvalid: return "STORE_INVALID";
    case Code::kStoreCorrupt: return "STORE_CORRUPT";
    case Code::kStoreNewer: return "STORE_NEWER";
    case Code::kStoreFull: return "STORE_FULL";
    case Code::kStoreUnavailable: return "STORE_UNAVAILABLE";
    case Code::kEngineOverloaded: return "ENGINE_OVERLOADED";
    case Code::kEngineUnavailable: return "ENGINE_UNAVAILABLE";
    case Code::kEngineClosed: return "ENGINE_CLOSED";
    case Code::kDeadlineExceeded: return "DEADLINE_EXCEEDED";
    case Code::kCancelled: return "CANCELLED";
    case Code::kIoFailed: return "IO_FAILED";
    case Code::kInternal: return "INTERNAL";
  }
  return "INTERNAL";
}

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status ok() { return {}; }

  bool is_ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

/// Either a value or a Status that is not ok.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : state_(std::move(status)) {    // NOLINT: implicit by design
    if (std::get<Status>(state_).is_ok()) std::abort();  // a Result without value must say why
  }

  bool is_ok() const { return std::holds_alternative<T>(state_); }
  /// REQUIRES: !is_ok().
  const Status& status() const { return std::get<Status>(state_); }
  /// REQUIRES: is_ok().
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace tessera

/// Returns the Status of `expression` from the calling function when it is not ok.
#define TESSERA_RETURN_IF_ERROR(expression)               \
  do {                                                    \
    ::tessera::Status tessera_status_ = (expression);     \
    if (!tessera_status_.is_ok()) return tessera_status_; \
  } while (false)
