// RocksDB's options for an ordered store, the same for serving and for repair.
#pragma once

#include <rocksdb/options.h>

namespace tessera::store {

rocksdb::Options ordered_store_options();

}  // namespace tessera::store
