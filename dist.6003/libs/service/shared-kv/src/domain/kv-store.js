/** Names all that a store keeps of one owner under one version. */ /**
 * Keys and values of users, outside of all nodes: heads and blocks by name. It understands none of
 * the bytes, and may lose any of them at any time; a node computes them again. Its answers may be
 * damaged or of another writer; the reader checks them.
 *
 * Every method rejects with a TesseraError: STORE_UNAVAILABLE where the store does not answer in
 * time or answers what it should not, STORE_FULL where it has no space, CONFIG_INVALID where it
 * refuses the password.
 */ export { };

//# sourceMappingURL=kv-store.js.map