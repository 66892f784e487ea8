/**
 * The log that decides what all nodes of a cluster serve: entries in one order, kept by a server
 * that exists already. A node's state is a function of the entries up to its offset.
 */ /** Bytes of one entry at most; what is larger lies in the entry store. */ export const ENTRY_BYTES_MAX = 128 << 10;
/** Before the first entry. */ export const NO_OFFSET = 0;
/**
 * Milliseconds after which a node that says nothing is waited for no longer: long enough for a
 * pause of the process or a failover of the log, short enough for an erasure that waits.
 */ export const LEASE_MS = 3000;

//# sourceMappingURL=cluster-log.js.map