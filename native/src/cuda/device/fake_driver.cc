// Test only: a driver library whose card is this machine's memory, as a shared library that
// Driver::load opens. FAKE_CUDA in the environment says what is wrong with it.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cuda/device/driver_entries.h"

namespace {

constexpr size_t kTotalBytes = 1u << 20;
size_t used_bytes = 0;
int used_graphs = 0;
int pending_queries = 0;  // until an event is done

bool is(std::string_view fault) {
  const char* given = std::getenv("FAKE_CUDA");
  return given != nullptr && fault == given;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return is("does not start") ? 999 : 0; }
int cuDriverGetVersion(int* version) {
  *version = is("old driver") ? 11080 : 12090;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = is("no card") ? 0 : 2;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "a card of memory", static_cast<size_t>(bytes));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? (is("old card") ? 7 : 9) : (is("old card") ? 5 : 0);
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &used_bytes;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  *free = kTotalBytes - used_bytes;
  *total = kTotalBytes;
  return 0;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (bytes > kTotalBytes - used_bytes) return 2;
  auto* memory = static_cast<size_t*>(std::malloc(bytes + 64));
  *memory = bytes;
  used_bytes += bytes;
  *address = reinterpret_cast<uint64_t>(memory) + 64;
  return 0;
}
int cuMemAllocManaged(uint64_t* address, size_t bytes, unsigned) {
  return cuMemAlloc_v2(address, bytes);
}
int cuMemFree_v2(uint64_t address) {
  auto* memory = reinterpret_cast<size_t*>(address - 64);
  used_bytes -= *memory;
  std::free(memory);
  return 0;
}
int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return 0;
}
int cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = &pending_queries;
  return 0;
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return is("broken kernel") ? 700 : 0; }
int cuStreamWaitEvent(void*, void*, unsigned) { return 0; }
int cuEventCreate(void** event, unsigned) {
  *event = &pending_queries;
  return 0;
}
int cuEventDestroy_v2(void*) { return 0; }
int cuEventRecord(void*, void*) {
  pending_queries = 1;
  return 0;
}
int cuEventQuery(void*) { return pending_queries-- > 0 ? 600 : 0; }
int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1.5f;
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  return 0;
}
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = const_cast<char*>(name);
  return std::strcmp(name, "tessera_absent") == 0 ? 500 : 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**) {
  return 0;
}
int cuStreamBeginCapture_v2(void*, int) { return is("no capture") ? 900 : 0; }
int cuStreamEndCapture(void*, void** graph) {
  *graph = &used_graphs;
  return is("broken capture") ? 901 : 0;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  if (is("no memory for graphs")) return 2;
  *executable = graph;
  ++used_graphs;
  return 0;
}
int cuGraphDestroy(void*) { return 0; }
int cuGraphExecDestroy(void*) {
  --used_graphs;
  return 0;
}
int cuGraphLaunch(void*, void*) { return is("broken kernel") ? 700 : 0; }
int cuGetErrorName(int result, const char** name) {
  *name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OTHER";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "as the test wants";
  return 0;
}
}
