export { exportBundle, readDelta } from "./bundle.js";
export { CatalogueChanges, CHANGES_NOT_KEPT } from "./catalogue-changes.js";
export { deltaChanges } from "./domain/bundle-delta.js";
export { parseSource } from "./domain/catalogue-source.js";
export { parseCatalogueSpecs } from "./domain/catalogue-spec.js";
export { ChangeBatch, MESSAGE_CHANGES_MAX } from "./domain/change-batch.js";
export { parseChangeLine } from "./domain/change-line.js";
export { clauseJson, clauseOf, FormReader, readClause } from "./domain/clause-json.js";
export { parseFlight } from "./domain/flight.js";
export { readAttributeSchema, valueByFile } from "./outside/attribute-file.js";
export { BundleLabel } from "./outside/bundle-label.js";
export { readCodebookFolder } from "./outside/codebook-folder.js";
export { ImportMarks } from "./outside/import-marks.js";
export { prepareCatalogue } from "./prepare-catalogue.js";

//# sourceMappingURL=index.js.map