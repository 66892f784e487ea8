import type { StoreCall, StoreCallStatus, StoreLink } from '@tessera/shared-kv';

export interface StoreCallEnd {
  readonly status: StoreCallStatus;
  readonly bytes?: Uint8Array;
  readonly text?: string;
}

/** The engine's side of a store, in memory: tests make its calls. */
export class FakeStoreLink implements StoreLink {
  /** Calls that ended more than once, or that were none. */
  readonly endedTwice: number[] = [];
  isAvailable = false;
  private readonly calls: StoreCall[] = [];
  private readonly carried = new Map<number, Uint8Array>();
  private readonly waiting = new Map<number, (end: StoreCallEnd) => void>();
  private each: ((call: StoreCall) => void) | undefined;

  /** @param bytes of a write or publish; left out: the engine gives it up at once */
  call(
    asked: Pick<StoreCall, 'kind' | 'owner'> & Partial<StoreCall>,
    bytes?: Uint8Array,
  ): Promise<StoreCallEnd> {
    const id = this.calls.length;
    const rest = { version: '', block: '', replaces: '', gone: [], at: 0 };
    const call: StoreCall = { ...rest, ...asked, id };
    this.calls.push(call);
    if (bytes !== undefined) this.carried.set(id, bytes);
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.each?.(call);
    });
  }

  kindOf(id: number): StoreCall['kind'] | undefined {
    return this.calls[id]?.kind;
  }

  serve(each: (call: StoreCall) => void): void {
    this.each = each;
  }

  bytes(id: number): Uint8Array | undefined {
    return this.carried.get(id);
  }

  end(id: number, status: StoreCallStatus, bytes?: Uint8Array, text?: string): void {
    const resolve = this.waiting.get(id);
    if (resolve === undefined) this.endedTwice.push(id);
    this.waiting.delete(id);
    const copy = bytes && Uint8Array.from(bytes);
    resolve?.({ status, ...(copy && { bytes: copy }), ...(text !== undefined && { text }) });
  }

  setAvailable(isAvailable: boolean): void {
    this.isAvailable = isAvailable;
  }

  close(): void {
    this.each = undefined;
  }
}
