/**
 * The log that decides what all nodes of a cluster serve: entries in one order, kept by a server
 * that exists already. A node's state is a function of the entries up to its offset.
 */

/** Bytes of one entry at most; what is larger lies in the entry store. */
export const ENTRY_BYTES_MAX = 512 << 10;

/** Before the first entry. */
export const NO_OFFSET = 0;

export interface LogEntry {
  /** 1, 2, ...: rises by at least one from entry to entry. */
  readonly offset: number;
  /** When the log took it, by the clock of its server, in milliseconds since 1970. */
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

export interface LogBounds {
  /** Of this log and of no other one, for as long as it exists; '' where nobody has begun it. */
  readonly identity: string;
  /** Offset of the oldest entry that is still there; end + 1 where there is none. */
  readonly first: number;
  /**
   * Offset of the newest entry that there ever was; NO_OFFSET: none. Kafka also counts records that
   * are no entries, such as the one that begins the log: that all was given, read() alone says.
   */
  readonly end: number;
}

/** How far a node is, as it said itself. */
export interface NodePosition {
  readonly node: string;
  /** Of the process: another one of the same name has another. */
  readonly process: string;
  /** Everything up to it is applied. */
  readonly offset: number;
  /** Of the node's state behind `offset`; '' where it keeps a part of it alone. */
  readonly digest: string;
}

export interface SeenPosition extends NodePosition {
  /** Since it was said. */
  readonly ageMs: number;
}

/**
 * Thread: Node's main thread. Every call rejects with STORE_UNAVAILABLE while the server is away,
 * and may be made again.
 */
export interface ClusterLog {
  /** Where it is, for messages: `Redis at HOST:PORT, tessera:log`. */
  readonly place: string;
  bounds(): Promise<LogBounds>;
  /** Gives the log an identity where it has none. Resolves with the one that it has. */
  begin(identity: string): Promise<string>;
  /**
   * Resolves with the offset once the server keeps the entry. After a rejection it may be in the
   * log or not.
   */
  append(bytes: Uint8Array): Promise<number>;
  /**
   * Entries from an offset on, in their order, without an end: [] says that there is nothing behind
   * what was given so far, at least once a second. Ends where `signal` is aborted; throws
   * STORE_UNAVAILABLE where the server is away, LOG_TRIMMED where entries from the offset on are
   * gone, and LOG_DIFFERENT where the log is found to end before what it has given.
   */
  read(from: number, signal: AbortSignal): AsyncIterable<readonly LogEntry[]>;
  /** Entries before the offset may go. */
  trim(before: number): Promise<void>;
  /** Says how far this node is. */
  say(position: NodePosition): Promise<void>;
  /** The newest word of each node that has not left; in no order. */
  positions(): Promise<readonly SeenPosition[]>;
  /** This node serves nobody any more. */
  leave(position: NodePosition): Promise<void>;
  /**
   * The digest that the log has of the state behind an offset: that of the first who said one.
   * Those of older offsets may go.
   */
  digestAt(offset: number, digest: string): Promise<string>;
  close(): Promise<void>;
}
