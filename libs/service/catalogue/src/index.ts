export {
  type BundleDelta,
  type BundleExport,
  type BundleReading,
  exportBundle,
  readDelta,
} from './bundle.js';
export {
  CatalogueChanges,
  CHANGES_NOT_KEPT,
  type ChangesOptions,
  type ChangesSettings,
} from './catalogue-changes.js';
export type { AppliedBatch, ToldChange } from './domain/applied-batch.js';
export { deltaChanges } from './domain/bundle-delta.js';
export type { BundleManifest } from './domain/bundle-manifest.js';
export type { BundleBucket, BundleItem, BundleRow } from './domain/bundle-row.js';
export {
  type CatalogueSource,
  type ProgressListener,
  parseSource,
} from './domain/catalogue-source.js';
export {
  type CatalogueSpec,
  parseCatalogueSpecs,
} from './domain/catalogue-spec.js';
export type { AttributePatch, CatalogueChange, ChangedItems } from './domain/change.js';
export { ChangeBatch, MESSAGE_CHANGES_MAX } from './domain/change-batch.js';
export { parseChangeLine } from './domain/change-line.js';
export { clauseJson, clauseOf, FormReader, readClause } from './domain/clause-json.js';
export { parseFlight } from './domain/flight.js';
export type { ImportMark } from './domain/import-mark.js';
export type { ItemState, PinnedItems } from './domain/item-states.js';
export type { Landing, Neighbour } from './domain/landing.js';
export type {
  AppliedImport,
  BundleStep,
  ChangeOrder,
  OrderedChanges,
} from './domain/ordered-changes.js';
export type { VectorSource } from './domain/semantic-ids.js';
export type { EncoderMark, ItemEncoders, TextEmbedder } from './domain/text-embedder.js';
export { parseValuations } from './domain/valuation-file.js';
export { readAttributeSchema, valueByFile } from './outside/attribute-file.js';
export { BundleLabel } from './outside/bundle-label.js';
export { readCodebookFolder } from './outside/codebook-folder.js';
export { ImportMarks } from './outside/import-marks.js';
export {
  type CatalogueOptions,
  type PreparedCatalogue,
  prepareCatalogue,
} from './prepare-catalogue.js';
