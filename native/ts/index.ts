export {
  ABI_VERSION,
  type AbiDescription,
  type BindingOptions,
  type EngineHandle,
  type EngineOptions,
  type ModelInfo,
  type ModelShape,
  type NativeAddon,
  type PriorityCode,
  type RequestKindCode,
  type ScoreNormCode,
  STATS_SLOTS,
  type SubmitBatch,
  type SubmitOutcome,
} from './abi.js';
export type { AdapterArena, AdapterInfo, AdapterLimits } from './adapter-abi.js';
export {
  type CatalogueBuildOptions,
  type CatalogueBuildReport,
  type CatalogueHandle,
  type CatalogueInfo,
  type CatalogueJudgement,
  type CatalogueKeepOptions,
  type CatalogueListing,
  type CatalogueState,
  type CatalogueVersions,
  type ReachHandle,
  VERDICTS,
} from './catalogue-abi.js';
export {
  COMPLETENESS,
  type Completions,
  NO_ROW,
  PASS_SLOTS,
  TERMINAL_CODE,
  TIMING_SLOTS,
  TREE_OUTCOMES,
  TREE_SLOTS,
} from './completions-abi.js';
export {
  KV_CHAIN_SLOTS,
  KV_METRICS_SLOTS,
  KV_TIER_SLOTS,
  KV_TIERS,
  type KvChains,
  type KvIntegrity,
} from './kv-abi.js';
export { loadAddon } from './load.js';
export type { StoreHandle, StoreRepair, StoreState } from './store-abi.js';
export { LANES } from './tasks-abi.js';
export type { WeightsUpdate } from './weights-abi.js';
