// The functions of the driver library that the engine calls, by their names there. Included by
// driver.cc and by the tests' library.
#pragma once

#include <cstddef>
#include <cstdint>

// X(member, name in the library, parameters); all return a CUresult, 0 for success.
#define TESSERA_CUDA_ENTRIES(X)                                                                  \
  X(init, cuInit, (unsigned flags))                                                              \
  X(driver_version, cuDriverGetVersion, (int* version))                                          \
  X(device_count, cuDeviceGetCount, (int* count))                                                \
  X(device, cuDeviceGet, (int* device, int index))                                               \
  X(device_name, cuDeviceGetName, (char* name, int bytes, int device))                           \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, int device))             \
  X(retain_context, cuDevicePrimaryCtxRetain, (void** context, int device))                      \
  X(release_context, cuDevicePrimaryCtxRelease_v2, (int device))                                 \
  X(set_context, cuCtxSetCurrent, (void* context))                                               \
  X(memory_info, cuMemGetInfo_v2, (size_t * free, size_t * total))                               \
  X(allocate, cuMemAlloc_v2, (uint64_t * address, size_t bytes))                                 \
  X(allocate_managed, cuMemAllocManaged, (uint64_t * address, size_t bytes, unsigned flags))     \
  X(release, cuMemFree_v2, (uint64_t address))                                                   \
  X(allocate_pinned, cuMemHostAlloc, (void** memory, size_t bytes, unsigned flags))              \
  X(release_pinned, cuMemFreeHost, (void* memory))                                               \
  X(make_stream, cuStreamCreate, (void** stream, unsigned flags))                                \
  X(drop_stream, cuStreamDestroy_v2, (void* stream))                                             \
  X(synchronise, cuStreamSynchronize, (void* stream))                                            \
  X(stream_wait, cuStreamWaitEvent, (void* stream, void* event, unsigned flags))                 \
  X(make_event, cuEventCreate, (void** event, unsigned flags))                                   \
  X(drop_event, cuEventDestroy_v2, (void* event))                                                \
  X(record_event, cuEventRecord, (void* event, void* stream))                                    \
  X(elapsed, cuEventElapsedTime, (float* milliseconds, void* begin, void* end))                  \
  X(query_event, cuEventQuery, (void* event))                                                    \
  X(to_card, cuMemcpyHtoDAsync_v2, (uint64_t to, const void* from, size_t bytes, void* stream))  \
  X(from_card, cuMemcpyDtoHAsync_v2, (void* to, uint64_t from, size_t bytes, void* stream))      \
  X(within_card, cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t bytes, void* stream)) \
  X(fill, cuMemsetD8Async, (uint64_t to, unsigned char value, size_t bytes, void* stream))       \
  X(load_module, cuModuleLoadData, (void** module, const void* image))                           \
  X(drop_module, cuModuleUnload, (void* module))                                                 \
  X(find_function, cuModuleGetFunction, (void** function, void* module, const char* name))       \
  X(function_attribute, cuFuncSetAttribute, (void* function, int attribute, int value))          \
  X(launch, cuLaunchKernel,                                                                      \
    (void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** arguments,  \
     void** extra))                                                                              \
  X(begin_capture, cuStreamBeginCapture_v2, (void* stream, int mode))                            \
  X(end_capture, cuStreamEndCapture, (void* stream, void** graph))                               \
  X(make_executable, cuGraphInstantiateWithFlags,                                                \
    (void** executable, void* graph, unsigned long long flags))                                  \
  X(drop_graph, cuGraphDestroy, (void* graph))                                                   \
  X(drop_executable, cuGraphExecDestroy, (void* executable))                                     \
  X(launch_graph, cuGraphLaunch, (void* executable, void* stream))                               \
  X(error_name, cuGetErrorName, (int result, const char** name))                                 \
  X(error_text, cuGetErrorString, (int result, const char** text))

namespace tessera::device::cuda {

struct Entries {
#define TESSERA_CUDA_MEMBER(member, name, parameters) int(*member) parameters = nullptr;
  TESSERA_CUDA_ENTRIES(TESSERA_CUDA_MEMBER)
#undef TESSERA_CUDA_MEMBER
};

// CUresult and attributes that are looked at.
inline constexpr int kSuccess = 0;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kNotReady = 600;
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kMaxDynamicSharedBytes = 8;  // of a function
inline constexpr int kCaptureOfThread = 1;        // other threads call the driver as they like
inline constexpr unsigned kAttachGlobal = 1;      // of managed memory
inline constexpr unsigned kPortable = 1;          // of pinned memory
inline constexpr unsigned kNonBlocking = 1;       // of a stream
inline constexpr unsigned kTiming = 0;            // of an event, as the next
inline constexpr unsigned kNoTiming = 2;
inline constexpr unsigned kSharedBytesPlain = 48u << 10;  // more must be asked for

}  // namespace tessera::device::cuda
