/** Opaque handles: what one holds is released when it is closed, or with the last that names it. */

declare const engineBrand: unique symbol;
declare const catalogueBrand: unique symbol;
declare const reachBrand: unique symbol;
declare const viewBrand: unique symbol;
declare const storeBrand: unique symbol;
declare const embedderBrand: unique symbol;
declare const folderLockBrand: unique symbol;

/** Of an open engine. */
export interface EngineHandle {
  readonly [engineBrand]: true;
}
/** Of an open catalogue: a snapshot and what has changed since. */
export interface CatalogueHandle {
  readonly [catalogueBrand]: true;
}
/** Of one version of a catalogue: what the ordinals that cross with it are of. */
export interface ViewHandle {
  readonly [viewBrand]: true;
}
/** Of what a request may find: of one version of one catalogue. */
export interface ReachHandle {
  readonly [reachBrand]: true;
}
/** Of an open ordered store. */
export interface StoreHandle {
  readonly [storeBrand]: true;
}
/** Of an open model of texts. */
export interface EmbedderHandle {
  readonly [embedderBrand]: true;
}
/** Of a folder that this process alone uses. */
export interface FolderLockHandle {
  readonly [folderLockBrand]: true;
}
