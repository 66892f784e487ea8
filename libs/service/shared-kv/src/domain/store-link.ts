export interface StoreCall {
  /** ID of this call, among those of one link. */
  readonly id: number;
  readonly kind: 'find' | 'read' | 'write' | 'publish' | 'erase';
  /** 32 hexadecimal digits. */
  readonly owner: string;
  /** 32 hexadecimal digits; empty for `erase`. */
  readonly version: string;
  /** Block of `read` and `write`: 32 hexadecimal digits. */
  readonly block: string;
  /** Revision that `publish` replaces, empty for none. */
  readonly replaces: string;
  /** Blocks that `publish` removes. */
  readonly gone: readonly string[];
  /** Offset of the erasure, of `erase`. */
  readonly at: number;
}

export type StoreCallStatus = 'ok' | 'missing' | 'changed' | 'erased' | 'failed';

/** The engine's side of a store: calls that it makes, and where their ends go. Of one thread. */
export interface StoreLink {
  /** Calls `each` on this thread for every call of the engine until `close`. */
  serve(each: (call: StoreCall) => void): void;

  /** Copy of the bytes that a write or publish carries; undefined: the engine has given it up. */
  bytes(id: number): Uint8Array | undefined;

  /**
   * Ends a call, exactly once. It copies the bytes before it returns.
   * @param bytes of `find` (the head) and `read` (the block) that are 'ok'
   * @param text the revision of a `find` or `publish` that is 'ok', the message of one 'failed'
   */
  end(id: number, status: StoreCallStatus, bytes?: Uint8Array, text?: string): void;

  /** False: the engine begins nothing but erasures until it is true again. */
  setAvailable(isAvailable: boolean): void;

  close(): void;
}
