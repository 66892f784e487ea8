/**
 * The log that decides what all nodes of a cluster serve: entries in one order, kept by a server
 * that exists already. A node's state is a function of the entries up to its offset.
 */

/** Bytes of one entry at most; what is larger lies in the entry store. */
export const ENTRY_BYTES_MAX = 128 << 10;

/** Before the first entry. */
export const NO_OFFSET = 0;

/**
 * Milliseconds after which a node that says nothing is waited for no longer: long enough for a
 * pause of the process or a failover of the log, short enough for an erasure that waits.
 */
export const LEASE_MS = 3000;

export interface LogEntry {
  /** 1, 2, ...: rises by at least one from entry to entry. */
  readonly offset: number;
  /** When the log took it, by the clock of its server, in milliseconds since 1970. */
  readonly atMs: number;
  readonly bytes: Uint8Array;
  /** Chain of this entry and all before it, as the server keeps it; left out: it keeps none. */
  readonly chain?: string;
}

/** An offset, and the digest of all entries up to it: two logs that have the same are one. */
export interface ChainPoint {
  readonly offset: number;
  readonly chain: string;
}

export interface LogBounds {
  /** Identity of this log alone, for as long as it exists; '' where nobody has begun it. */
  readonly identity: string;
  /** Offset of the oldest entry that is still there; end + 1 where there is none. */
  readonly first: number;
  /**
   * Offset of the newest entry that there ever was; NO_OFFSET: none. Kafka also counts records that
   * are no entries, such as the one that begins the log: that all was given, read() alone says.
   */
  readonly end: number;
  /** Chain of all entries up to `end`, as the server keeps it; left out: it keeps none. */
  readonly chain?: string;
  /** How a person has begun the log anew; left out: nobody has. */
  readonly anew?: Renewal | undefined;
}

/** A log that goes on, with the state of one node, from logs that lost entries. */
export interface Renewal {
  /** The node whose state the log begins with. */
  readonly founder: string;
  /** Identities of the logs before: nodes that have followed one of these follow this one. */
  readonly continues: readonly string[];
}

/**
 * A node as others see it: `serving`: they wait for it; `wants-snapshot`: it cannot go on from its
 * offset by entries; `stopped`: it takes nothing from the log, and says how far it is.
 */
export type NodeStanding = 'serving' | 'wants-snapshot' | 'stopped';

/** How far a node is, as it said itself. */
export interface NodePosition extends ChainPoint {
  readonly node: string;
  /** ID of the process: another process of the same name has another ID. */
  readonly process: string;
  /** Identity of the log that it follows; '' of a node that does not say it. */
  readonly log: string;
  readonly standing: NodeStanding;
  /** Every erasure up to it is done in all stores of the node, but for those of `open`. */
  readonly erased: number;
  /** Offsets up to `erased` of erasures that are not done yet. */
  readonly open: readonly number[];
  /** Digest of the node's state after `offset`; '' where the node keeps only a part of it. */
  readonly digest: string;
  /** Snapshots of its state can be made. */
  readonly canSnapshot: boolean;
}

export interface SeenPosition extends NodePosition {
  /** Since it was said. */
  readonly ageMs: number;
}

/** The end of the log behind which an entry is about to be put. */
export type LogEnd = Pick<LogBounds, 'identity' | 'end' | 'anew'>;

/**
 * Judge of an append right before each attempt to send it, with the end that it is to follow and no
 * other: throws what the append is to reject with.
 */
export type Admit = (end: LogEnd) => void;

/**
 * Thread: Node's main thread. Every call rejects with STORE_UNAVAILABLE while the server is away,
 * and may be made again.
 */
export interface ClusterLog {
  /** Address of the server, for messages: `etcd at HOST:PORT, tessera:log`. */
  readonly place: string;
  bounds(): Promise<LogBounds>;
  /** Gives the log an identity where it has none. Resolves with the one that it has. */
  begin(identity: string): Promise<string>;
  /**
   * Resolves with the offset once the server keeps the entry. Rejects with LOG_DIFFERENT where the
   * log is known not to go on from `after`, and as `admit` throws: then the entry was not sent.
   * After any other rejection the entry may be in the log, or come into it directly behind an end
   * that was admitted, and behind no other one: a late entry never undoes a newer one.
   * @param after what the appender has applied
   * @param admit left out: whatever the end is
   */
  append(bytes: Uint8Array, after: ChainPoint, admit?: Admit): Promise<number>;
  /**
   * Entries from an offset on, in their order, without an end: [] says that there is nothing behind
   * what was given so far, at least once a second. Ends where `signal` is aborted; throws
   * STORE_UNAVAILABLE where the server is away, LOG_TRIMMED where entries from the offset on are
   * gone, and LOG_DIFFERENT where the log is found to end before what it has given.
   */
  read(from: number, signal: AbortSignal): AsyncIterable<readonly LogEntry[]>;
  /** Entries before the offset may go. */
  trim(before: number): Promise<void>;
  /**
   * Says how far this node is. Resolves with the time, by performance.now(), until which others
   * count on it. Rejects with CONFIG_INVALID where another process has the name.
   */
  say(position: NodePosition): Promise<number>;
  /** The newest word of each node that has not left; in no order. */
  positions(): Promise<readonly SeenPosition[]>;
  /** This node serves nobody any more. */
  leave(position: NodePosition): Promise<void>;
  /**
   * Begins the log anew, without entries, for the state of one node: what a person decides. Nodes
   * take that state, and no other one may begin it.
   */
  beginAnew(identity: string, anew: Renewal): Promise<void>;
  /**
   * The digest that the log has of the state behind an offset: that of the first who said one.
   * Those of older offsets may go.
   */
  digestAt(offset: number, digest: string): Promise<string>;
  close(): Promise<void>;
}
