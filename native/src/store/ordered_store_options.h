// How RocksDB keeps an ordered store: the same for who serves from it and who repairs it.
#pragma once

#include <rocksdb/options.h>

namespace tessera::store {

rocksdb::Options ordered_store_options();

}  // namespace tessera::store
