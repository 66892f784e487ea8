#include "cuda/device/driver.h"

#include <dlfcn.h>

#include <utility>

#include "cuda/device/driver_entries.h"

namespace tessera::device::cuda {
namespace {

Status unavailable(const std::string& message) { return {Code::kEngineUnavailable, message}; }

std::string text_of(const Entries& entries, int result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (entries.error_name(result, &name) != kSuccess || name == nullptr) {
    return "error " + std::to_string(result);
  }
  if (entries.error_text(result, &text) != kSuccess || text == nullptr) return name;
  return std::string(name) + " (" + text + ")";
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// The first function that the library lacks; empty when it has all.
std::string find_all(void* library, Entries& entries) {
  std::string missing;
#define TESSERA_CUDA_FIND(member, name, parameters)                                     \
  entries.member = reinterpret_cast<decltype(entries.member)>(::dlsym(library, #name)); \
  if (entries.member == nullptr && missing.empty()) missing = #name;
  TESSERA_CUDA_ENTRIES(TESSERA_CUDA_FIND)
#undef TESSERA_CUDA_FIND
  return missing;
}

}  // namespace

Driver::Driver(void* library, std::unique_ptr<Entries> entries)
    : library_(library), entries_(std::move(entries)) {}

Driver::~Driver() { ::dlclose(library_); }

Result<std::shared_ptr<const Driver>> Driver::load(const std::string& library) {
  void* opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* reason = ::dlerror();
    return unavailable("device: no NVIDIA driver: " + std::string(reason ? reason : library));
  }
  auto driver = std::shared_ptr<Driver>(new Driver(opened, std::make_unique<Entries>()));
  Entries& entries = *driver->entries_;
  const std::string missing = find_all(opened, entries);
  if (!missing.empty()) {
    return unavailable("device: the NVIDIA driver is too old: " + library + " lacks " + missing +
                       ", expected that of CUDA " + version_text(kDriverVersionMin) + " or later");
  }
  const int begun = entries.init(0);
  if (begun != kSuccess) {
    return unavailable("device: the NVIDIA driver does not start: " + text_of(entries, begun));
  }
  int version = 0;
  if (entries.driver_version(&version) != kSuccess || version < kDriverVersionMin) {
    return unavailable("device: the NVIDIA driver is too old: expected that of CUDA " +
                       version_text(kDriverVersionMin) + " or later, got " + version_text(version));
  }
  if (entries.device_count(&driver->card_count_) != kSuccess || driver->card_count_ < 1) {
    return unavailable("device: the NVIDIA driver shows no card");
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

Card::Card(std::shared_ptr<const Driver> driver, int device)
    : driver_(std::move(driver)), device_(device) {}

Card::~Card() {
  if (context_ != nullptr) driver_->entries().release_context(device_);
}

Result<std::unique_ptr<Card>> Card::open(std::shared_ptr<const Driver> driver, int index) {
  if (index < 0 || index >= driver->card_count()) {
    return unavailable("device: card " + std::to_string(index) + " is not there, expected 0.." +
                       std::to_string(driver->card_count() - 1));
  }
  const Entries& entries = driver->entries();
  int device = 0;
  if (const int got = entries.device(&device, index); got != kSuccess) {
    return unavailable("device: card " + std::to_string(index) + ": " + text_of(entries, got));
  }
  auto card = std::unique_ptr<Card>(new Card(std::move(driver), device));
  char name[256] = {};
  int major = 0, minor = 0;
  TESSERA_RETURN_IF_ERROR(
      card->status_of(entries.device_name(name, sizeof(name) - 1, device), "name"));
  card->name_ = name;
  TESSERA_RETURN_IF_ERROR(
      card->status_of(entries.device_attribute(&major, kCapabilityMajor, device), "capability"));
  TESSERA_RETURN_IF_ERROR(
      card->status_of(entries.device_attribute(&minor, kCapabilityMinor, device), "capability"));
  card->capability_ = major * 10 + minor;
  if (card->capability_ < kCapabilityMin) {
    return unavailable("device: card " + std::to_string(index) + " (" + card->name_ +
                       ") is too old: expected compute capability " +
                       capability_text(kCapabilityMin) + " or later, got " +
                       capability_text(card->capability_));
  }
  TESSERA_RETURN_IF_ERROR(
      card->status_of(entries.retain_context(&card->context_, device), "context"));
  TESSERA_RETURN_IF_ERROR(card->enter());
  return card;
}

Status Card::enter() const {
  return status_of(driver_->entries().set_context(context_), "context");
}

Status Card::status_of(int result, const char* what) const {
  if (result == kSuccess) return Status::ok();
  const std::string text = "device: card " + std::to_string(device_) + " (" + name_ + "): " + what +
                           ": " + text_of(driver_->entries(), result);
  if (result != kOutOfMemory) return unavailable(text);
  size_t free = 0, total = 0;
  if (driver_->entries().memory_info(&free, &total) != kSuccess)
    return {Code::kEngineOverloaded, text};
  return {Code::kEngineOverloaded,
          text + "; " + std::to_string(free) + " of " + std::to_string(total) + " bytes are free"};
}

Result<CardMemory> Card::memory() const {
  size_t free = 0, total = 0;
  TESSERA_RETURN_IF_ERROR(status_of(driver_->entries().memory_info(&free, &total), "memory"));
  return CardMemory{free, total};
}

Result<Address> Card::allocate(uint64_t bytes) {
  Address address = 0;
  TESSERA_RETURN_IF_ERROR(status_of(driver_->entries().allocate(&address, bytes),
                                    ("allocation of " + std::to_string(bytes) + " bytes").c_str()));
  return address;
}

Result<void*> Card::allocate_managed(uint64_t bytes) {
  Address address = 0;
  TESSERA_RETURN_IF_ERROR(status_of(
      driver_->entries().allocate_managed(&address, bytes, kAttachGlobal), "managed memory"));
  return reinterpret_cast<void*>(address);
}

void Card::release(Address address) { driver_->entries().release(address); }

Result<void*> Card::allocate_pinned(uint64_t bytes) {
  void* memory = nullptr;
  TESSERA_RETURN_IF_ERROR(
      status_of(driver_->entries().allocate_pinned(&memory, bytes, kPortable), "pinned memory"));
  return memory;
}

void Card::release_pinned(void* memory) { driver_->entries().release_pinned(memory); }

Result<Stream> Card::make_stream() {
  Stream stream = nullptr;
  TESSERA_RETURN_IF_ERROR(
      status_of(driver_->entries().make_stream(&stream, kNonBlocking), "stream"));
  return stream;
}

void Card::drop_stream(Stream stream) { driver_->entries().drop_stream(stream); }

Result<Event> Card::make_event() {
  Event event = nullptr;
  TESSERA_RETURN_IF_ERROR(status_of(driver_->entries().make_event(&event, kNoTiming), "event"));
  return event;
}

Result<Event> Card::make_timing_event() {
  Event event = nullptr;
  TESSERA_RETURN_IF_ERROR(status_of(driver_->entries().make_event(&event, kTiming), "event"));
  return event;
}

Result<double> Card::milliseconds_between(Event begin, Event end) {
  float milliseconds = 0;
  TESSERA_RETURN_IF_ERROR(
      status_of(driver_->entries().elapsed(&milliseconds, begin, end), "time between events"));
  return double{milliseconds};
}

void Card::drop_event(Event event) { driver_->entries().drop_event(event); }

Status Card::record(Event event, Stream stream) {
  return status_of(driver_->entries().record_event(event, stream), "event");
}

Status Card::wait(Stream stream, Event event) {
  return status_of(driver_->entries().stream_wait(stream, event, 0), "wait");
}

Result<bool> Card::is_done(Event event) {
  const int result = driver_->entries().query_event(event);
  if (result == kNotReady) return false;
  TESSERA_RETURN_IF_ERROR(status_of(result, "event"));
  return true;
}

Status Card::copy_to_card(Address to, const void* from, uint64_t bytes, Stream stream) {
  return status_of(driver_->entries().to_card(to, from, bytes, stream), "copy to the card");
}

Status Card::copy_from_card(void* to, Address from, uint64_t bytes, Stream stream) {
  return status_of(driver_->entries().from_card(to, from, bytes, stream), "copy from the card");
}

Status Card::copy_within_card(Address to, Address from, uint64_t bytes, Stream stream) {
  return status_of(driver_->entries().within_card(to, from, bytes, stream), "copy on the card");
}

Status Card::zero(Address at, uint64_t bytes, Stream stream) {
  return status_of(driver_->entries().fill(at, 0, bytes, stream), "zeroes");
}

Status Card::synchronise(Stream stream) {
  return status_of(driver_->entries().synchronise(stream), "kernels");
}

Result<Module> Card::load_module(const void* image) {
  Module module = nullptr;
  TESSERA_RETURN_IF_ERROR(status_of(driver_->entries().load_module(&module, image), "module"));
  return module;
}

void Card::drop_module(Module module) { driver_->entries().drop_module(module); }

Result<Function> Card::find_function(Module module, const char* name) {
  Function function = nullptr;
  TESSERA_RETURN_IF_ERROR(
      status_of(driver_->entries().find_function(&function, module, name), name));
  return function;
}

Status Card::begin_capture(Stream stream) {
  return status_of(driver_->entries().begin_capture(stream, kCaptureOfThread), "graph");
}

Result<Graph> Card::end_capture(Stream stream) {
  const Entries& entries = driver_->entries();
  void* captured = nullptr;
  TESSERA_RETURN_IF_ERROR(status_of(entries.end_capture(stream, &captured), "graph"));
  Graph graph;
  const Status made = status_of(entries.make_executable(&graph.executable, captured, 0), "graph");
  entries.drop_graph(captured);
  if (!made.is_ok()) return made;
  return graph;
}

Status Card::launch(Graph graph, Stream stream) {
  return status_of(driver_->entries().launch_graph(graph.executable, stream), "graph");
}

void Card::drop_graph(Graph graph) { driver_->entries().drop_executable(graph.executable); }

Status Card::launch(Function function, const LaunchShape& shape, std::span<void* const> arguments,
                    Stream stream) {
  const Entries& entries = driver_->entries();
  if (shape.dynamic_shared_bytes > kSharedBytesPlain) {
    TESSERA_RETURN_IF_ERROR(
        status_of(entries.function_attribute(function, kMaxDynamicSharedBytes,
                                             static_cast<int>(shape.dynamic_shared_bytes)),
                  "shared memory"));
  }
  return status_of(
      entries.launch(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                     shape.block[1], shape.block[2], shape.dynamic_shared_bytes, stream,
                     const_cast<void**>(arguments.data()), nullptr),
      "launch");
}

}  // namespace tessera::device::cuda
