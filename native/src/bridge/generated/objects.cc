// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#include "bridge/generated/objects.h"

#include "bridge/object_reader.h"
#include "bridge/object_writer.h"

namespace tessera::bridge {

void read(Napi::Env env, const Napi::Value& value, const char* path, engine::EngineOptions& to) {
  const ObjectReader reader(env, value, path, kEngineOptionsFields);
  assign(to.model_path, reader.string("modelPath"));
  static constexpr std::string_view k_computeType[] = {"f32", "bf16", "w8a8"};
  assign(to.compute_type, reader.choice("computeType", k_computeType));
  assign(to.activation_scales_path, reader.string("activationScalesPath"));
  assign(to.head_tokens, reader.i32_array("headTokens"));
  assign(to.device, reader.string("device"));
  assign(to.thread_count, reader.u32("threadCount"));
  assign(to.queue_capacity, reader.u32("queueCapacity"));
  assign(to.batch_requests_max, reader.u32("batchRequestsMax"));
  assign(to.batch_rows_max, reader.u32("batchRowsMax"));
  assign(to.prefill_chunk_tokens, reader.u32("prefillChunkTokens"));
  assign(to.pass_time_target_us, reader.u32("passTimeTargetUs"));
  static constexpr std::string_view k_batching[] = {"whole", "continuous"};
  assign(to.continuous_batching, reader.choice("batching", k_batching));
  assign(to.kv_bytes_max, reader.u53("kvBytesMax"));
  static constexpr std::string_view k_kvPool[] = {"off", "on"};
  assign(to.kv.is_enabled, reader.choice("kvPool", k_kvPool));
  assign(to.kv.device_bytes, reader.u53("kvDeviceBytes"));
  assign(to.kv.host_bytes, reader.u53("kvHostBytes"));
  assign(to.kv.disk_bytes, reader.u53("kvDiskBytes"));
  assign(to.kv.folder, reader.string("kvFolder"));
  assign(to.kv.read_threads, reader.u32("kvReadThreads"));
  assign(to.kv.store_queue_max, reader.u32("kvStoreQueueMax"));
  assign(to.kv.prefetch_queue_max, reader.u32("kvPrefetchQueueMax"));
  static constexpr std::string_view k_kvBlockCodec[] = {"exact", "int8"};
  assign(to.kv.codec, reader.choice("kvBlockCodec", k_kvBlockCodec));
  assign(to.prompt_tokens_max, reader.u32("promptTokensMax"));
  assign(to.width_max, reader.u32("widthMax"));
  assign(to.result_count_max, reader.u32("resultCountMax"));
  assign(to.score_items_max, reader.u32("scoreItemsMax"));
  assign(to.adapter_bytes_max, reader.u53("adapterBytesMax"));
  assign(to.kv.versions_back_max, reader.u32("kvVersionsBackMax"));
  assign(to.kv.shared_links, reader.i32_array("kvSharedLinks"));
  assign(to.kv.disk_reserve_bytes, reader.u53("kvDiskReserveBytes"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, ScaleMeasurement& to) {
  const ObjectReader reader(env, value, path, kScaleMeasurementFields);
  assign(to.model_path, reader.string("modelPath"));
  assign(to.output_path, reader.string("outputPath"));
  assign(to.thread_count, reader.u32("threadCount"));
  assign(to.kept_per_mille, reader.u32("keptPerMille"));
  assign(to.prompt_offsets, reader.u32_array("promptOffsets"));
  assign(to.prompt_tokens, reader.i32_array("promptTokens"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, BindingOptions& to) {
  const ObjectReader reader(env, value, path, kBindingOptionsFields);
  assign(to.level_offsets, reader.u32_array("levelOffsets"));
  assign(to.level_tokens, reader.i32_array("levelTokens"));
  assign(to.terminal_tokens, reader.i32_array("terminalTokens"));
  assign(to.template_digest, reader.string("templateDigest"));
  assign(to.codebook_digest, reader.string("codebookDigest"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, lora::Limits& to) {
  const ObjectReader reader(env, value, path, kAdapterLimitsFields);
  assign(to.rank_max, reader.u32("rankMax"));
  assign(to.norm_max, reader.f64("normMax"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, LaneOptions& to) {
  const ObjectReader reader(env, value, path, kTaskLimitsFields);
  assign(to.serving.threads, reader.u32("servingThreads"));
  assign(to.serving.waiting_max, reader.u32("servingQueueMax"));
  assign(to.rare.threads, reader.u32("threads"));
  assign(to.rare.waiting_max, reader.u32("queueMax"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, engine::EmbedderOptions& to) {
  const ObjectReader reader(env, value, path, kEmbedderOptionsFields);
  assign(to.model_path, reader.string("modelPath"));
  static constexpr std::string_view k_computeType[] = {"f32", "bf16", "w8a8", "w8a8-static"};
  assign(to.compute_type, reader.choice("computeType", k_computeType));
  assign(to.thread_count, reader.u32("threadCount"));
  assign(to.rows_max, reader.u32("rowsMax"));
  assign(to.texts_max, reader.u32("textsMax"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, BuildRequest& to) {
  const ObjectReader reader(env, value, path, kCatalogueBuildOptionsFields);
  assign(to.sources, reader.strings("sources"));
  assign(to.domains, reader.strings("domains"));
  assign(to.titles_path, reader.string("titlesPath"));
  assign(to.level_sizes, reader.u32_array("levelSizes"));
  assign(to.output_path, reader.string("outputPath"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, catalogue::LiveOptions& to) {
  const ObjectReader reader(env, value, path, kCatalogueKeepOptionsFields);
  assign(to.folder, reader.string("folder"));
  static constexpr std::string_view k_sync[] = {"commit", "never"};
  assign(to.sync, reader.choice("sync", k_sync));
  assign(to.level_sizes, reader.u32_array("levelSizes"));
  assign(to.reserve_bytes, reader.u53("reserveBytes"));
}

void read(Napi::Env env, const Napi::Value& value, const char* path, store::StoreOptions& to) {
  const ObjectReader reader(env, value, path, kStoreOpenOptionsFields);
  assign(to.folder, reader.string("path"));
  assign(to.reserve_bytes, reader.u53("reserveBytes"));
}

Napi::Value to_js(Napi::Env env, const model::ModelConfig& from) {
  Napi::Object to = Napi::Object::New(env);
  to["family"] = to_js(env, std::string(from.family->model_type));
  to["vocabSize"] = to_js(env, static_cast<double>(from.vocab_size));
  to["hiddenSize"] = to_js(env, static_cast<double>(from.hidden_size));
  to["layerCount"] = to_js(env, static_cast<double>(from.layer_count));
  to["encoderLayerCount"] = to_js(env, static_cast<double>(from.t5.encoder_layers));
  to["startToken"] = to_js(env, static_cast<double>(from.t5.start_token));
  to["maxPositions"] = to_js(env, static_cast<double>(from.max_positions));
  to["parameterCount"] = to_js(env, static_cast<double>(model::Recipe(from).parameter_count()));
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::ServedModel& from) {
  Napi::Object to = Napi::Object::New(env);
  to["family"] = to_js(env, std::string(from.config.family->model_type));
  to["vocabSize"] = to_js(env, static_cast<double>(from.config.vocab_size));
  to["hiddenSize"] = to_js(env, static_cast<double>(from.config.hidden_size));
  to["layerCount"] = to_js(env, static_cast<double>(from.config.layer_count));
  to["encoderLayerCount"] = to_js(env, static_cast<double>(from.config.t5.encoder_layers));
  to["startToken"] = to_js(env, static_cast<double>(from.config.t5.start_token));
  to["maxPositions"] = to_js(env, static_cast<double>(from.config.max_positions));
  to["parameterCount"] = to_js(env, static_cast<double>(model::Recipe(from.config).parameter_count()));
  to["digest"] = to_js(env, from.digest);
  to["computeType"] = to_js(env, std::string_view(from.compute_type), kComputeTypeWords);
  to["kvBytesPerPosition"] = to_js(env, static_cast<double>(from.position_bytes));
  to["slotBytes"] = to_js(env, static_cast<double>(from.slot_bytes));
  to["stateBytes"] = to_js(env, static_cast<double>(from.state_bytes));
  to["headSize"] = to_js(env, static_cast<double>(from.vocabulary.size(from.config.vocab_size)));
  to["weightBytes"] = to_js(env, static_cast<double>(from.weight_bytes));
  to["instructionSet"] = to_js(env, from.device);
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::SubmitOutcome& from) {
  Napi::Object to = Napi::Object::New(env);
  to["accepted"] = to_js(env, static_cast<double>(from.accepted));
  to["reason"] = to_js(env, from.refusal, kSubmitReasonWords);
  to["retryAfterUs"] = to_js(env, static_cast<double>(from.retry_after_us));
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::Stats& from) {
  Napi::Object to = Napi::Object::New(env);
  to["queued"] = to_js(env, static_cast<double>(from.queued));
  to["running"] = to_js(env, static_cast<double>(from.running));
  to["inFlight"] = to_js(env, static_cast<double>(from.in_flight));
  to["reserved"] = to_js(env, static_cast<double>(from.reserved));
  to["submitted"] = to_js(env, static_cast<double>(from.submitted));
  to["completed"] = to_js(env, static_cast<double>(from.completed));
  to["failed"] = to_js(env, static_cast<double>(from.failed));
  to["cancelled"] = to_js(env, static_cast<double>(from.cancelled));
  to["expired"] = to_js(env, static_cast<double>(from.expired));
  to["prefillTokens"] = to_js(env, static_cast<double>(from.prefill_tokens));
  to["decodeTokens"] = to_js(env, static_cast<double>(from.decode_tokens));
  to["forwardPasses"] = to_js(env, static_cast<double>(from.forward_passes));
  to["prefixReusedTokens"] = to_js(env, static_cast<double>(from.prefix_reused_tokens));
  to["rolledBackTokens"] = to_js(env, static_cast<double>(from.rolled_back_tokens));
  to["predictedUs"] = to_js(env, static_cast<double>(from.predicted_us));
  to["actualUs"] = to_js(env, static_cast<double>(from.actual_us));
  to["passUs"] = to_js(env, static_cast<double>(from.pass_us));
  to["tokenUs"] = to_js(env, static_cast<double>(from.token_us));
  to["tokenPairUs"] = to_js(env, static_cast<double>(from.token_pair_us));
  to["backlogUs"] = to_js(env, static_cast<double>(from.backlog_us));
  to["expertRows"] = to_js(env, static_cast<double>(from.expert_rows));
  to["expertPlaces"] = to_js(env, static_cast<double>(from.expert_places));
  to["expertsTouched"] = to_js(env, static_cast<double>(from.experts_touched));
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::ClassForecast& from) {
  Napi::Object to = Napi::Object::New(env);
  to["waitUs"] = to_js(env, static_cast<double>(from.wait_us));
  to["turnUs"] = to_js(env, static_cast<double>(from.turn_us));
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::Forecast& from) {
  Napi::Object to = Napi::Object::New(env);
  to["classes"] = to_js(env, from.classes);
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::UpdateReport& from) {
  Napi::Object to = Napi::Object::New(env);
  to["digest"] = to_js(env, from.digest);
  to["generation"] = to_js(env, static_cast<double>(from.generation));
  to["drainedUs"] = to_js(env, static_cast<double>(from.drained_us));
  to["swappedUs"] = to_js(env, static_cast<double>(from.swapped_us));
  return to;
}

Napi::Value to_js(Napi::Env env, const model::UnseenExpert& from) {
  Napi::Object to = Napi::Object::New(env);
  to["layer"] = to_js(env, static_cast<double>(from.layer));
  to["expert"] = to_js(env, static_cast<double>(from.expert));
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::MeasuredScales& from) {
  Napi::Object to = Napi::Object::New(env);
  to["rows"] = to_js(env, static_cast<double>(from.rows));
  to["unseen"] = to_js(env, from.unseen);
  return to;
}

Napi::Value to_js(Napi::Env env, const LoadedSlot& from) {
  Napi::Object to = Napi::Object::New(env);
  to["slot"] = to_js(env, static_cast<double>(from.slot));
  to["digest"] = to_js(env, from.summary.digest);
  to["bytes"] = to_js(env, static_cast<double>(from.summary.bytes));
  to["rankMax"] = to_js(env, static_cast<double>(from.summary.rank_max));
  to["targetCount"] = to_js(env, static_cast<double>(from.summary.target_count));
  to["replacedRows"] = to_js(env, static_cast<double>(from.summary.replaced_rows));
  to["largestNorm"] = to_js(env, static_cast<double>(from.summary.largest_norm));
  to["heads"] = to_js(env, from.summary.heads);
  to["isActivated"] = to_js(env, static_cast<bool>(from.summary.is_activated));
  return to;
}

Napi::Value to_js(Napi::Env env, const lora::ArenaUse& from) {
  Napi::Object to = Napi::Object::New(env);
  to["usedBytes"] = to_js(env, static_cast<double>(from.used_bytes));
  to["maxBytes"] = to_js(env, static_cast<double>(from.max_bytes));
  to["adapters"] = to_js(env, static_cast<double>(from.adapters));
  return to;
}

Napi::Value to_js(Napi::Env env, const NamedDepth& from) {
  Napi::Object to = Napi::Object::New(env);
  to["lane"] = to_js(env, from.lane);
  to["waiting"] = to_js(env, static_cast<double>(from.depth.waiting));
  to["running"] = to_js(env, static_cast<double>(from.depth.running));
  return to;
}

Napi::Value to_js(Napi::Env env, const StructTable& from) {
  Napi::Object to = Napi::Object::New(env);
  to["name"] = to_js(env, from.name);
  to["fields"] = to_js(env, from.fields);
  return to;
}

Napi::Value to_js(Napi::Env env, const AbiDescription& from) {
  Napi::Object to = Napi::Object::New(env);
  to["digest"] = to_js(env, from.digest);
  to["codes"] = to_js(env, from.codes);
  to["functions"] = to_js(env, from.functions);
  to["structs"] = to_js(env, from.structs);
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::Embedder& from) {
  Napi::Object to = Napi::Object::New(env);
  to["dimension"] = to_js(env, static_cast<double>(from.model().dimension()));
  to["tokensMax"] = to_js(env, static_cast<double>(from.tokens_max()));
  to["vocabSize"] = to_js(env, static_cast<double>(from.model().encoder().config().vocab_size));
  to["layerCount"] = to_js(env, static_cast<double>(from.model().encoder().config().layer_count));
  to["digest"] = to_js(env, from.model().digest());
  to["numbers"] = to_js(env, from.model().encoder().numbers());
  to["isClassifier"] = to_js(env, static_cast<bool>(from.model().head().config().is_classifier));
  to["isNormalised"] = to_js(env, static_cast<bool>(from.model().head().is_normalised()));
  to["parameterCount"] = to_js(env, static_cast<double>(from.model().encoder().recipe().parameter_count()));
  to["rowWork"] = to_js(env, static_cast<double>(from.model().encoder().recipe().work().sum.row));
  to["pairWork"] = to_js(env, static_cast<double>(from.model().encoder().recipe().work().sum.pair));
  to["weightBytes"] = to_js(env, static_cast<double>(from.model().encoder().weight_bytes()));
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::EmbeddedPass& from) {
  Napi::Object to = Napi::Object::New(env);
  to["vectors"] = to_js(env, from.vectors);
  to["computeUs"] = to_js(env, static_cast<double>(from.compute_us));
  return to;
}

Napi::Value to_js(Napi::Env env, const engine::MeasuredTexts& from) {
  Napi::Object to = Napi::Object::New(env);
  to["path"] = to_js(env, from.path);
  to["rows"] = to_js(env, static_cast<double>(from.rows));
  return to;
}

Napi::Value to_js(Napi::Env env, const kv::TierMetrics& from) {
  Napi::Object to = Napi::Object::New(env);
  to["tier"] = to_js(env, from.name);
  to["capacityBlocks"] = to_js(env, static_cast<double>(from.capacity_blocks));
  to["usedBlocks"] = to_js(env, static_cast<double>(from.used_blocks));
  to["hitTokens"] = to_js(env, static_cast<double>(from.hit_tokens));
  to["readBytes"] = to_js(env, static_cast<double>(from.read_bytes));
  to["writtenBytes"] = to_js(env, static_cast<double>(from.written_bytes));
  to["readUs"] = to_js(env, static_cast<double>(from.read_us));
  to["writtenUs"] = to_js(env, static_cast<double>(from.written_us));
  to["evictedBlocks"] = to_js(env, static_cast<double>(from.evicted_blocks));
  to["evictedDirtyBlocks"] = to_js(env, static_cast<double>(from.evicted_dirty_blocks));
  return to;
}

Napi::Value to_js(Napi::Env env, const PoolReport& from) {
  Napi::Object to = Napi::Object::New(env);
  to["chains"] = to_js(env, static_cast<double>(from.pool.chains));
  to["chainTokens"] = to_js(env, static_cast<double>(from.pool.chain_tokens));
  to["leases"] = to_js(env, static_cast<double>(from.pool.leases));
  to["prefetching"] = to_js(env, static_cast<double>(from.pool.prefetching));
  to["lookups"] = to_js(env, static_cast<double>(from.pool.lookups));
  to["askedTokens"] = to_js(env, static_cast<double>(from.pool.asked_tokens));
  to["inexactTokens"] = to_js(env, static_cast<double>(from.pool.inexact_tokens));
  to["inheritedTokens"] = to_js(env, static_cast<double>(from.pool.inherited_tokens));
  to["inheritedChains"] = to_js(env, static_cast<double>(from.pool.inherited_chains));
  to["commits"] = to_js(env, static_cast<double>(from.pool.commits));
  to["commitsRematched"] = to_js(env, static_cast<double>(from.pool.commits_rematched));
  to["commitsLost"] = to_js(env, static_cast<double>(from.pool.commits_lost));
  to["refusedExtends"] = to_js(env, static_cast<double>(from.pool.refused_extends));
  to["prefetches"] = to_js(env, static_cast<double>(from.pool.prefetches));
  to["prefetchesRefused"] = to_js(env, static_cast<double>(from.pool.prefetches_refused));
  to["loadsFailed"] = to_js(env, static_cast<double>(from.pool.loads_failed));
  to["loadsCorrupt"] = to_js(env, static_cast<double>(from.pool.loads_corrupt));
  to["loadWaitUs"] = to_js(env, static_cast<double>(from.pool.load_wait_us));
  to["stores"] = to_js(env, static_cast<double>(from.pool.stores));
  to["storesDropped"] = to_js(env, static_cast<double>(from.pool.stores_dropped));
  to["storesFailed"] = to_js(env, static_cast<double>(from.pool.stores_failed));
  to["storeWaitUs"] = to_js(env, static_cast<double>(from.pool.store_wait_us));
  to["storeQueue"] = to_js(env, static_cast<double>(from.pool.store_queue));
  to["looks"] = to_js(env, static_cast<double>(from.pool.looks));
  to["looksFound"] = to_js(env, static_cast<double>(from.pool.looks_found));
  to["lookUs"] = to_js(env, static_cast<double>(from.pool.look_us));
  to["puts"] = to_js(env, static_cast<double>(from.pool.puts));
  to["putsChanged"] = to_js(env, static_cast<double>(from.pool.puts_changed));
  to["putsErased"] = to_js(env, static_cast<double>(from.pool.puts_erased));
  to["putsFailed"] = to_js(env, static_cast<double>(from.pool.puts_failed));
  to["loadsMissing"] = to_js(env, static_cast<double>(from.pool.loads_missing));
  to["headsRefused"] = to_js(env, static_cast<double>(from.pool.heads_refused));
  to["isStoring"] = to_js(env, static_cast<double>(from.pool.is_storing));
  to["indexesDropped"] = to_js(env, static_cast<double>(from.pool.indexes_dropped));
  to["computeTokenUs"] = to_js(env, static_cast<double>(from.rates.compute_token_us));
  to["blockBytes"] = to_js(env, static_cast<double>(from.block_bytes));
  to["storedBlockBytes"] = to_js(env, static_cast<double>(from.stored_block_bytes));
  to["tiers"] = to_js(env, from.pool.tiers);
  to["storeError"] = to_js(env, from.pool.store_error);
  return to;
}

Napi::Value to_js(Napi::Env env, const kv::ChainReport& from) {
  Napi::Object to = Napi::Object::New(env);
  to["version"] = to_js(env, kv::to_text(from.version));
  to["isRetired"] = to_js(env, static_cast<bool>(from.is_retired));
  to["seq"] = to_js(env, static_cast<double>(from.seq));
  to["tokens"] = to_js(env, static_cast<double>(from.tokens));
  to["prefixTokens"] = to_js(env, static_cast<double>(from.prefix_tokens));
  to["deviceTokens"] = to_js(env, static_cast<double>(from.tier_tokens[0]));
  to["hostTokens"] = to_js(env, static_cast<double>(from.tier_tokens[1]));
  to["diskTokens"] = to_js(env, static_cast<double>(from.tier_tokens[2]));
  to["durableTokens"] = to_js(env, static_cast<double>(from.durable_tokens));
  to["unusedUs"] = to_js(env, static_cast<double>(from.unused_us));
  to["versionsBack"] = to_js(env, static_cast<double>(from.versions_back));
  return to;
}

Napi::Value to_js(Napi::Env env, const kv::IntegrityReport& from) {
  Napi::Object to = Napi::Object::New(env);
  to["chains"] = to_js(env, static_cast<double>(from.chains));
  to["blocks"] = to_js(env, static_cast<double>(from.blocks));
  to["checkedDiskBlocks"] = to_js(env, static_cast<double>(from.checked_disk_blocks));
  to["corruptDiskBlocks"] = to_js(env, static_cast<double>(from.corrupt_disk_blocks));
  to["unreadableDiskBlocks"] = to_js(env, static_cast<double>(from.unreadable_disk_blocks));
  to["faults"] = to_js(env, from.faults);
  return to;
}

Napi::Value to_js(Napi::Env env, const catalogue::Applied& from) {
  Napi::Object to = Napi::Object::New(env);
  to["sequence"] = to_js(env, static_cast<double>(from.sequence));
  to["changeCount"] = to_js(env, static_cast<double>(from.change_count));
  to["matched"] = to_js(env, from.matched);
  to["paced"] = to_js(env, from.paced);
  to["placed"] = to_js(env, from.placed);
  to["unvalued"] = to_js(env, from.unvalued);
  return to;
}

Napi::Value to_js(Napi::Env env, const CatalogueInfo& from) {
  Napi::Object to = Napi::Object::New(env);
  to["digest"] = to_js(env, from.digest);
  to["depth"] = to_js(env, static_cast<double>(from.depth));
  to["levelSizes"] = list_to_js(env, from.level_sizes);
  to["levelPatterns"] = to_js(env, from.level_patterns);
  to["nodeCount"] = to_js(env, static_cast<double>(from.node_count));
  to["pathCount"] = to_js(env, static_cast<double>(from.path_count));
  to["itemCount"] = to_js(env, static_cast<double>(from.item_count));
  to["fileBytes"] = to_js(env, static_cast<double>(from.file_bytes));
  return to;
}

Napi::Value to_js(Napi::Env env, const CatalogueState& from) {
  Napi::Object to = Napi::Object::New(env);
  to["sequence"] = to_js(env, static_cast<double>(from.sequence));
  to["mark"] = to_js(env, from.mark);
  to["baseDigest"] = to_js(env, from.base_digest);
  to["liveItemCount"] = to_js(env, static_cast<double>(from.live_item_count));
  to["changedItemCount"] = to_js(env, static_cast<double>(from.changed_item_count));
  to["changesSinceSnapshot"] = to_js(env, static_cast<double>(from.changes_since_snapshot));
  to["snapshotItemCount"] = to_js(env, static_cast<double>(from.snapshot_item_count));
  to["replayedChanges"] = to_js(env, static_cast<double>(from.replayed_changes));
  to["cutBytes"] = to_js(env, static_cast<double>(from.cut_bytes));
  return to;
}

Napi::Value to_js(Napi::Env env, const catalogue::Digest& from) {
  Napi::Object to = Napi::Object::New(env);
  to["sequence"] = to_js(env, static_cast<double>(from.sequence));
  to["mark"] = to_js(env, from.mark);
  to["digest"] = to_js(env, from.digest);
  return to;
}

Napi::Value to_js(Napi::Env env, const catalogue::Generation& from) {
  Napi::Object to = Napi::Object::New(env);
  to["firstSequence"] = to_js(env, static_cast<double>(from.first_sequence));
  to["lastSequence"] = to_js(env, static_cast<double>(from.last_sequence));
  to["logBytes"] = to_js(env, static_cast<double>(from.log_bytes));
  to["baseDigest"] = to_js(env, from.base_digest);
  return to;
}

Napi::Value to_js(Napi::Env env, const OpenedReach& from) {
  Napi::Object to = Napi::Object::New(env);
  to["reach"] = to_js(env, from.reach);
  to["sequence"] = to_js(env, static_cast<double>(from.reach->reach.view().sequence()));
  to["cappedItems"] = to_js(env, static_cast<double>(capped_items(*from.reach)));
  return to;
}

Napi::Value to_js(Napi::Env env, const Judgement& from) {
  Napi::Object to = Napi::Object::New(env);
  to["reach"] = to_js(env, from.reach);
  to["sequence"] = to_js(env, static_cast<double>(from.reach->reach.view().sequence()));
  to["cappedItems"] = to_js(env, static_cast<double>(capped_items(*from.reach)));
  to["verdict"] = to_js(env, from.explanation.verdict, kVerdictWords);
  to["clause"] = to_js(env, from.explanation.clause);
  to["notLiveSince"] = to_js(env, static_cast<double>(from.explanation.sequence));
  to["item"] = to_js(env, static_cast<double>(from.item));
  to["sid"] = list_to_js(env, from.sid);
  return to;
}

Napi::Value to_js(Napi::Env env, const catalogue::SidList& from) {
  Napi::Object to = Napi::Object::New(env);
  to["offsets"] = to_js(env, from.offsets);
  to["codes"] = to_js(env, from.codes);
  return to;
}

Napi::Value to_js(Napi::Env env, const ItemTexts& from) {
  Napi::Object to = Napi::Object::New(env);
  to["itemIds"] = to_js(env, from.item_ids);
  to["titles"] = to_js(env, from.titles);
  to["attributes"] = to_js(env, from.attributes);
  to["paused"] = to_js(env, from.paused);
  to["sequence"] = to_js(env, static_cast<double>(from.sequence));
  return to;
}

Napi::Value to_js(Napi::Env env, const CatalogueListing& from) {
  Napi::Object to = Napi::Object::New(env);
  to["ordinals"] = to_js(env, from.ordinals);
  to["itemIds"] = to_js(env, from.item_ids);
  to["titles"] = to_js(env, from.titles);
  to["attributes"] = to_js(env, from.attributes);
  to["priorities"] = to_js(env, from.priorities);
  to["paused"] = to_js(env, from.paused);
  to["sidOffsets"] = to_js(env, from.sid_offsets);
  to["sidCodes"] = to_js(env, from.sid_codes);
  to["next"] = to_js(env, static_cast<double>(from.next));
  return to;
}

Napi::Value to_js(Napi::Env env, const CatalogueLanding& from) {
  Napi::Object to = Napi::Object::New(env);
  to["sequence"] = to_js(env, static_cast<double>(from.sequence));
  to["codes"] = list_to_js(env, from.codes);
  to["distances"] = to_js(env, from.distances);
  to["sid"] = list_to_js(env, from.sid);
  to["itemIds"] = to_js(env, from.item_ids);
  to["titles"] = to_js(env, from.titles);
  to["sidOffsets"] = to_js(env, from.sid_offsets);
  to["sidCodes"] = to_js(env, from.sid_codes);
  to["sharedLevels"] = to_js(env, from.shared_levels);
  return to;
}

Napi::Value to_js(Napi::Env env, const Appraisal& from) {
  Napi::Object to = Napi::Object::New(env);
  to["scoreWeight"] = to_js(env, static_cast<double>(from.score_weight));
  to["floor"] = to_js(env, static_cast<double>(from.floor));
  to["bid"] = to_js(env, static_cast<double>(from.bid));
  to["names"] = to_js(env, from.names);
  to["terms"] = to_js(env, from.terms);
  to["paces"] = to_js(env, from.paces);
  to["sums"] = to_js(env, from.sums);
  to["headSums"] = to_js(env, from.head_sums);
  return to;
}

Napi::Value to_js(Napi::Env env, const TimedBuild& from) {
  Napi::Object to = Napi::Object::New(env);
  to["itemCount"] = to_js(env, static_cast<double>(from.report.item_count));
  to["pathCount"] = to_js(env, static_cast<double>(from.report.path_count));
  to["fileBytes"] = to_js(env, static_cast<double>(from.report.file_bytes));
  to["seconds"] = to_js(env, static_cast<double>(from.seconds));
  to["digest"] = to_js(env, from.report.digest);
  return to;
}

Napi::Value to_js(Napi::Env env, const store::StoreState& from) {
  Napi::Object to = Napi::Object::New(env);
  to["health"] = to_js(env, from.health, kStoreHealthWords);
  to["reason"] = to_js(env, from.reason);
  return to;
}

Napi::Value to_js(Napi::Env env, const store::StoreRepair& from) {
  Napi::Object to = Napi::Object::New(env);
  to["damage"] = to_js(env, from.damage);
  to["acknowledged"] = to_js(env, static_cast<double>(from.acknowledged));
  to["readable"] = to_js(env, static_cast<double>(from.readable));
  to["isGathered"] = to_js(env, static_cast<bool>(from.is_gathered));
  to["keysLeft"] = to_js(env, static_cast<double>(from.keys_left));
  to["aside"] = to_js(env, from.aside);
  return to;
}

}  // namespace tessera::bridge
