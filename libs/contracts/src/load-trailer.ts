/** Trailer, or header, with the load class of who answers (`loadClassOf` of libs/routing). */
export const LOAD_TRAILER = 'tessera-load';
