/** Trailer or header with the load class of the answering node (`loadClassOf` of libs/cluster). */ export const LOAD_TRAILER = 'tessera-load';

//# sourceMappingURL=load-trailer.js.map