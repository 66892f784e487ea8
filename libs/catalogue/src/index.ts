export {
  CatalogueChanges,
  CHANGES_NOT_KEPT,
  type ChangesOptions,
  type ChangesSettings,
} from './catalogue-changes.js';
export {
  type CatalogueSource,
  type ProgressListener,
  parseSource,
} from './domain/catalogue-source.js';
export type { CatalogueChange } from './domain/change.js';
export { type CatalogueOptions, prepareCatalogue, SOURCES_MAX } from './prepare-catalogue.js';
