/** Store of bodies too large for an entry, under names made of their content or offset. */
export interface EntryStore {
  /** Address of the store, for messages. */
  readonly place: string;
  /** Whole or not at all; a name that is there already keeps its content. */
  put(name: string, content: Uint8Array): Promise<void>;
  /** Puts the content of a file, as `put` does. */
  putFile(name: string, path: string): Promise<void>;
  /** Rejects with STORE_UNAVAILABLE, and STORE_CORRUPT where it is not there. */
  get(name: string): Promise<Uint8Array>;
  /** Writes the content into a file and syncs it. */
  getFile(name: string, path: string): Promise<void>;
  /** Names below a prefix. */
  list(prefix: string): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
}
