/** Opaque handles: what one holds is released when it is closed, or with the last that names it. */

declare const engineBrand: unique symbol;
declare const catalogueBrand: unique symbol;
declare const reachBrand: unique symbol;
declare const viewBrand: unique symbol;
declare const storeBrand: unique symbol;
declare const embedderBrand: unique symbol;
declare const folderLockBrand: unique symbol;

/** Handle of an open engine. */
export interface EngineHandle {
  readonly [engineBrand]: true;
}
/** Handle of an open catalogue: a snapshot and what has changed since. */
export interface CatalogueHandle {
  readonly [catalogueBrand]: true;
}
/** Handle of one version of a catalogue, to which the ordinals that cross with it belong. */
export interface ViewHandle {
  readonly [viewBrand]: true;
}
/** Handle of what a request may find in one version of one catalogue. */
export interface ReachHandle {
  readonly [reachBrand]: true;
}
/** Handle of an open ordered store. */
export interface StoreHandle {
  readonly [storeBrand]: true;
}
/** Handle of an open model of texts. */
export interface EmbedderHandle {
  readonly [embedderBrand]: true;
}
/** Handle of a folder that this process alone uses. */
export interface FolderLockHandle {
  readonly [folderLockBrand]: true;
}
