/** Names all that a store keeps of one owner under one version. */
export interface ChainName {
  /** 32 hexadecimal digits. */
  readonly owner: string;
  /** 32 hexadecimal digits: model, adapter, template, codebook and layout. */
  readonly version: string;
}

export interface FoundHead {
  /** Head as `publish` was given it. */
  readonly head: Uint8Array;
  /** Changes with each `publish` of the chain; never empty. */
  readonly revision: string;
}

/**
 * Keys and values of users, outside of all nodes: heads and blocks by name. It understands none of
 * the bytes, and may lose any of them at any time; a node computes them again. Its answers may be
 * damaged or of another writer; the reader checks them.
 *
 * Every method rejects with a TesseraError: STORE_UNAVAILABLE where the store does not answer in
 * time or answers what it should not, STORE_FULL where it has no space, CONFIG_INVALID where it
 * refuses the password.
 */
export interface SharedKvStore {
  /** Address as the operator knows it, without a password; for messages. */
  readonly place: string;
  /** It has several nodes, each of which may fail alone. */
  readonly isCluster: boolean;
  /**
   * Of the bytes that have come from the store, of answers under way too: another number whenever
   * some have. A store that is late and one that is away differ by it.
   */
  arrivedBytes(): number;

  /** The head of a chain; undefined: there is none. */
  find(chain: ChainName): Promise<FoundHead | undefined>;

  /**
   * One block; undefined: the store has none of that name (never written, expired, evicted).
   * @param block 32 hexadecimal digits
   */
  read(chain: ChainName, block: string): Promise<Uint8Array | undefined>;

  /**
   * Keeps one block.
   * @param erasedUntil offset of the newest erasure that this process has applied
   * @returns 'erased': the owner was erased at a later offset, nothing was written
   */
  write(
    chain: ChainName,
    block: string,
    bytes: Uint8Array,
    erasedUntil: number,
  ): Promise<'kept' | 'erased'>;

  /**
   * Replaces the head if its revision is still `replaces`; '': there is none.
   * @param gone blocks that no head names any more, removed with the head
   * @param erasedUntil as in `write`
   * @returns the new revision; 'changed': the revision is another one, nothing was written;
   *   'erased': the owner was erased at a later offset, nothing was written
   */
  publish(
    chain: ChainName,
    head: Uint8Array,
    replaces: string,
    gone: readonly string[],
    erasedUntil: number,
  ): Promise<{ readonly kept: string } | 'changed' | 'erased'>;

  /**
   * Removes everything of the owner, of all versions, and refuses writes by processes that have
   * not applied the erasure at offset `at`. Applying it again changes nothing.
   */
  erase(owner: string, at: number): Promise<void>;

  close(): Promise<void>;
}
