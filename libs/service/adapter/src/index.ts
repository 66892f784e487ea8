export {
  CANARY_RULES,
  DEFAULT_ADAPTER,
  DEFAULT_RANKING,
  FETCH_TIMEOUT_MS,
  NORM_MAX,
  RANK_MAX,
  VERSION_BYTES_MAX,
} from './adapter-choices.js';
export type { AdapterEvent, AdapterSettings } from './adapter-settings.js';
export { Adapters } from './adapters.js';
export type { SeenAnswer, SeenRecall } from './canary-watch.js';
export type { AdapterAct, AdapterOrder } from './domain/adapter-act.js';
export {
  type AdapterChoice,
  type AdapterLease,
  type Arm,
  BASE_LEASE,
  type ItemReading,
  type ServedAdapter,
} from './domain/adapter-choice.js';
export { ranksApart } from './domain/adapter-engine.js';
export type { AdapterProbe, ProbeAnswer, ProbeUser } from './domain/adapter-probe.js';
export {
  type AdapterFile,
  type AdapterState,
  type AdapterVersion,
  fileBytes,
  filesFound,
  type ListedVersion,
  type ReceivedVersion,
} from './domain/adapter-version.js';
export type {
  ArmSummary,
  CanaryReport,
  ComparisonSummary,
  RuleVerdict,
} from './domain/canary-comparison.js';
export type { ClickRate } from './domain/click-rates.js';
export type { PushHeader, PushPart, PushParts } from './domain/push-parts.js';
export { AnnouncedVersions } from './outside/announced-versions.js';
export { type Announced, fetchedParts } from './outside/fetched-folder.js';
export { hashOf } from './outside/regular-file.js';
export { type S3Settings, S3Store } from './outside/s3-store.js';
export { WeightsFile } from './outside/weights-file.js';
export type { Pushed } from './push.js';
export type {
  RegistryParts,
  RegistrySettings,
} from './registry-parts.js';
export {
  type RegistryRepair,
  type RegistryRepairWanted,
  repairRegistry,
} from './repair-registry.js';
export type {
  Activated,
  Activation,
  RollbackWanted,
  RolledBack,
  RolloutSettings,
} from './rollout.js';
export {
  ServedWeights,
  type ServedWeightsParts,
  type WantedWeights,
  type WeightsState,
  type WeightsUpdate,
} from './served-weights.js';
