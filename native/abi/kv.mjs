// The user KV pool (docs/internals/kv-pool.md).
import { each, f64, flag, list, record, text, texts, u32, u53 } from './fields.mjs';

/** Those that have fields of their own; lists have every tier. */
const TIERS = ['device', 'host', 'disk'];

const KvTierMetrics = record('KvTierMetrics', 'kv::TierMetrics', '', {
  tier: text('', 'from.name'),
  capacityBlocks: u53(),
  usedBlocks: u53(),
  hitTokens: u53(),
  readBytes: u53(),
  writtenBytes: u53(),
  readUs: u53(),
  writtenUs: u53(),
  evictedBlocks: u53(),
  evictedDirtyBlocks: u53('Of them, those that no lower tier had.'),
});

const counted = (doc, name) => u53(doc, `from.pool.${name}`);

const KvMetrics = record(
  'KvMetrics',
  'PoolReport',
  'Counts since the pool opened; those up to prefetching, and storeQueue, are as of now.',
  {
    chains: counted('', 'chains'),
    chainTokens: counted('', 'chain_tokens'),
    leases: counted('', 'leases'),
    prefetching: counted('Prefetches that have not ended.', 'prefetching'),
    lookups: counted('', 'lookups'),
    askedTokens: counted('', 'asked_tokens'),
    inexactTokens: counted('Found, but through a lossy codec.', 'inexact_tokens'),
    inheritedTokens: counted(
      'Found, but computed under a version of the adapter before.',
      'inherited_tokens',
    ),
    inheritedChains: counted(
      "Users' chains that passed on to a newer version of the adapter.",
      'inherited_chains',
    ),
    commits: counted('', 'commits'),
    commitsRematched: counted(
      'Of them, behind another append that had come first.',
      'commits_rematched',
    ),
    commitsLost: counted('', 'commits_lost'),
    refusedExtends: counted('', 'refused_extends'),
    prefetches: counted('', 'prefetches'),
    prefetchesRefused: counted('', 'prefetches_refused'),
    loadsFailed: counted('', 'loads_failed'),
    loadsCorrupt: counted('', 'loads_corrupt'),
    loadWaitUs: counted('', 'load_wait_us'),
    stores: counted('', 'stores'),
    storesDropped: counted('', 'stores_dropped'),
    storesFailed: counted('', 'stores_failed'),
    storeWaitUs: counted('', 'store_wait_us'),
    storeQueue: counted('', 'store_queue'),
    looks: counted('For heads in stores that other processes use.', 'looks'),
    looksFound: counted('', 'looks_found'),
    lookUs: counted('', 'look_us'),
    puts: counted('Heads put into such stores.', 'puts'),
    putsChanged: counted('Refused: another process had been first.', 'puts_changed'),
    putsErased: counted('Refused: the user was erased.', 'puts_erased'),
    putsFailed: counted('', 'puts_failed'),
    loadsMissing: counted('Blocks that such a store has forgotten.', 'loads_missing'),
    headsRefused: counted('From there, not those asked for.', 'heads_refused'),
    isStoring: u32('0 while an error of the disk holds stores back.', 'from.pool.is_storing'),
    indexesDropped: counted(
      'Of the disk tier: 1 where its index was damaged at the start and begun anew.',
      'indexes_dropped',
    ),
    computeTokenUs: f64(
      'Prefill per token without context, as the engine predicts it now.',
      'from.rates.compute_token_us',
    ),
    blockBytes: u53(),
    storedBlockBytes: u53('Of a block in the host and disk tiers.'),
    tiers: list(
      KvTierMetrics,
      'In the order of the list, all that the pool has.',
      'from.pool.tiers',
    ),
    storeError: text(
      "The last error that kept blocks from being stored; '' for none.",
      'from.pool.store_error',
    ),
  },
);

const KvChain = record(
  'KvChain',
  'kv::ChainReport',
  'Blocks of a user in the pool, under one version of prompts.',
  {
    version: text('Digest of model, template, codebook and layout.', 'kv::to_text(from.version)'),
    isRetired: flag(),
    seq: u53(),
    tokens: u32('Without those of the static text below.'),
    prefixTokens: u32(),
    ...Object.fromEntries(
      TIERS.map((tier, i) => [`${tier}Tokens`, u32('', `from.tier_tokens[${i}]`)]),
    ),
    durableTokens: u32('Tokens that a restart would find.'),
    unusedUs: u53(),
    versionsBack: u32('Versions between the one that computed its front and this one.'),
  },
);

const KvIntegrity = record('KvIntegrity', 'kv::IntegrityReport', '', {
  chains: u53(),
  blocks: u53(),
  checkedDiskBlocks: u53(),
  corruptDiskBlocks: u53('Given up: their bytes do not have their checksum.'),
  unreadableDiskBlocks: u53(),
  faults: texts("Of the pool's own accounts; empty unless there is a bug."),
});

const KvTierTokens = record('KvTierTokens', 'engine::Completion', 'Tokens found in one tier.', {
  tier: text('', 'from.kv_tiers[i]'),
  tokens: u32('', 'from.kv_tokens[i]'),
});

export const KvFound = record(
  'KvFound',
  'engine::Completion',
  'Where the keys and values of a prompt were found.',
  {
    ...Object.fromEntries(
      TIERS.map((tier, i) => [`${tier}Tokens`, u32('', `from.kv_tokens[${i}]`)]),
    ),
    tiers: each(KvTierTokens, 'from.kv_tiers.size()', 'The same of every tier that the pool has.'),
    lossy: flag(
      'Some are not those computed from nothing: they came back through a lossy codec.',
      'from.kv_is_lossy',
    ),
    inheritedTokens: u32(
      "Of those found, what a version of the adapter before the request's computed.",
      'from.kv_inherited_tokens',
    ),
    versionsBack: u32(
      "Versions between the oldest of these, or of what was shared, and the request's.",
      'from.kv_versions_back',
    ),
    waitUs: u32(
      "Waited for blocks on their way to the device when the request's turn had come.",
      'from.kv_wait_us',
    ),
  },
);

export default { written: [KvTierMetrics, KvMetrics, KvChain, KvIntegrity] };
