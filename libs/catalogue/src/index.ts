export {
  type CatalogueSource,
  type ProgressListener,
  parseSource,
} from './domain/catalogue-source.js';
export { type CatalogueOptions, prepareCatalogue, SOURCES_MAX } from './prepare-catalogue.js';
