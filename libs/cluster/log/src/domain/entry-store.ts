/** Where what is too large for an entry lies, under a name that its content or offset gives. */
export interface EntryStore {
  /** Where it is, for messages. */
  readonly place: string;
  /** Whole or not at all; a name that is there already keeps its content. */
  put(name: string, content: Uint8Array): Promise<void>;
  /** The same for a file. */
  putFile(name: string, path: string): Promise<void>;
  /** Rejects with STORE_UNAVAILABLE, and STORE_CORRUPT where it is not there. */
  get(name: string): Promise<Uint8Array>;
  /** The same into a file, synced. */
  getFile(name: string, path: string): Promise<void>;
  /** Names below a prefix. */
  list(prefix: string): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
}
