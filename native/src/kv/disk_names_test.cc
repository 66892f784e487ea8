// The names of users and the files of the disk tier: no byte of an ID lies in one, also where a
// release before had written it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "kv/head_index.h"
#include "kv/memory.h"
#include "kv/test_model.h"

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace tessera::kv {
namespace disk_names_test {

namespace fs = std::filesystem;
constexpr uint64_t kPatience = 20'000'000;  // microseconds
constexpr uint64_t kBlockBytes = 8192;
constexpr uint32_t kUsers = 6;
constexpr uint32_t kTokens = 90;

std::string name_of(uint32_t user) { return "unmistakable-" + std::to_string(user) + "@example"; }

class Names : public testing::Test {
 protected:
  Names()
      : folder_(fs::temp_directory_path() / ("tessera-kv-names-" + std::to_string(::getpid()))) {}
  ~Names() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::unique_ptr<Pool> open() const {
    PoolOptions made;
    made.block_bytes = kBlockBytes;
    made.device_blocks = 8;
    made.disk_blocks = 64;
    made.disk_folder = folder_;
    return Pool::open(std::move(made)).value();
  }

  static TestRequest request(Pool& pool, uint32_t user) {
    const Version version = pool.add_version(test_identity("model", kBlockBytes)).value();
    return {.version = version,
            .salt = 5,
            .user = name_of(user),
            .tokens = random_tokens(user, kTokens),
            .scene = {1, 2}};
  }

  static void fill(Pool& pool) {
    for (uint32_t user = 0; user < kUsers; ++user) {
      serve(pool, request(pool, user));
      ASSERT_TRUE(pool.flush(kPatience).is_ok());
    }
  }

  static uint32_t bring_back(Pool& pool, uint32_t user) {
    const TestRequest asked = request(pool, user);
    Prefetch prefetch = pool.prefetch(asked.version, asked.user, 1000);
    EXPECT_TRUE(prefetch.wait(kPatience));
    prefetch.cut_off();
    const TestAnswer answer = serve(pool, asked, false);
    EXPECT_EQ(answer.value, expected_answer(asked));
    return answer.matched;
  }

  /// Files that have the bytes.
  std::vector<std::string> files_with(const std::string& bytes) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      if (all.find(bytes) != std::string::npos) found.push_back(entry.path().filename());
    }
    return found;
  }

  void name_heads() const;

  const std::string folder_;
};

/// A head as a release before wrote it, under the user's ID and with keys that depend on it.
std::string named_record(HeadRecord head, const std::string& name, const std::string& blocks) {
  head.root = root_digest(head.key.version, name, head.prefix);
  Digest key = head.root;
  std::span<const Token> left = head.tokens;
  for (HeadBlock& block : head.blocks) {
    key = block_digest(key, left.first(block.length));
    left = left.subspan(block.length);
    const auto bytes = std::as_bytes(std::span(blocks))
                           .subspan(slot_stride(kBlockBytes) * block.slot, kBlockBytes);
    block.checksum = block_checksum(bytes, key);
  }
  std::string out;
  const auto put = [&](const void* data, size_t size) {
    out.append(static_cast<const char*>(data), size);
  };
  const auto number = [&](auto value) { put(&value, sizeof(value)); };
  put("KVH2", 4);
  number(uint32_t{0});
  put(head.key.version.bytes.data(), 16);
  number(static_cast<uint32_t>(name.size()));
  put(name.data(), name.size());
  number(head.seq);
  put(head.prefix.bytes.data(), 16);
  number(head.prefix_blocks);
  number(head.versions_back);
  put(head.root.bytes.data(), 16);
  number(static_cast<uint32_t>(head.tokens.size()));
  number(static_cast<uint32_t>(head.blocks.size()));
  put(head.tokens.data(), head.tokens.size() * sizeof(Token));
  for (const HeadBlock& block : head.blocks) {
    number(block.slot);
    number(block.length);
    number(block.checksum);
  }
  number(static_cast<uint64_t>(XXH3_64bits(out.data(), out.size())));
  return out;
}

/// Makes the folder that of a release before.
void Names::name_heads() const {
  std::ifstream in(folder_ + "/blocks", std::ios::binary);
  const std::string blocks((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  auto index = open_rocksdb_index(folder_ + "/index").value();
  std::vector<std::string> erased;
  std::vector<HeadIndex::Entry> put;
  const Status scanned = index->scan([&](std::string_view key, std::string_view value) {
    Result<HeadRecord> head = decode(value);
    if (!head.is_ok()) return;
    for (uint32_t user = 0; user < kUsers; ++user) {
      const std::string name = name_of(user);
      if (head.value().key.owner != owner_of(shared_owner(false, name))) continue;
      HeadKey named = head.value().key;
      named.owner = name;
      erased.emplace_back(key);
      put.push_back({encode_key(named), named_record(head.value(), name, blocks)});
    }
  });
  ASSERT_TRUE(scanned.is_ok());
  ASSERT_EQ(put.size(), kUsers);
  ASSERT_TRUE(index->commit(erased, put).is_ok());
}

TEST_F(Names, LieInNoFileAndTheDigestOfAnErasedUserInNone) {
  auto pool = open();
  fill(*pool);
  const Digest digest = shared_owner(false, name_of(2));
  const std::string owner(owner_of(digest));
  EXPECT_FALSE(files_with(owner).empty());
  for (uint32_t user = 0; user < kUsers; ++user) EXPECT_TRUE(files_with(name_of(user)).empty());
  ASSERT_TRUE(pool->drop_user(name_of(2), kPatience).is_ok());
  EXPECT_EQ(files_with(owner), std::vector<std::string>());
  pool.reset();
  EXPECT_EQ(files_with(owner), std::vector<std::string>());
  pool = open();
  EXPECT_EQ(bring_back(*pool, 2), 0u);
  EXPECT_EQ(bring_back(*pool, 3), kTokens);
}

TEST_F(Names, OfAReleaseBeforeGoAndTheirBlocksStay) {
  {
    auto pool = open();
    fill(*pool);
  }
  name_heads();
  EXPECT_FALSE(files_with(name_of(0)).empty());
  for (int time = 0; time < 2; ++time) {
    auto pool = open();
    for (uint32_t user = 0; user < kUsers; ++user) {
      EXPECT_EQ(files_with(name_of(user)), std::vector<std::string>());
      EXPECT_EQ(bring_back(*pool, user), kTokens) << user;
    }
    EXPECT_EQ(pool->metrics().heads_corrupt, 0u);
    EXPECT_TRUE(pool->check_integrity().faults.empty());
    EXPECT_EQ(pool->check_integrity().corrupt_disk_blocks, 0u);
  }
}

}  // namespace disk_names_test
}  // namespace tessera::kv
