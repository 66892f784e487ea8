import { TesseraError } from '@tessera/errors';
import {
  type AdapterArena,
  type AdapterInfo,
  type AdapterLimits,
  type EngineHandle,
  NOTHING,
} from '@tessera/native';
import { addon } from './addon.js';
import type { EngineAdapter } from './engine.js';
import { awaitNative, callNative } from './native-error.js';

/** Adapters of an engine, by what callers hold of them. */
export class NativeAdapters {
  private readonly slots = new WeakMap<EngineAdapter, number>();

  constructor(private readonly handle: EngineHandle) {}

  async load(folder: string, limits: AdapterLimits): Promise<EngineAdapter> {
    const loaded: AdapterInfo = await awaitNative(() =>
      addon().engineLoadAdapter(this.handle, folder, limits),
    );
    const { slot, ...adapter } = loaded;
    this.slots.set(adapter, slot);
    return adapter;
  }

  release(adapter: EngineAdapter): void {
    const slot = this.slotOf(adapter);
    this.slots.delete(adapter);
    callNative(() => addon().engineReleaseAdapter(this.handle, slot));
  }

  succeed(adapter: EngineAdapter, predecessor: EngineAdapter): void {
    const [slot, before] = [this.slotOf(adapter), this.slotOf(predecessor)];
    callNative(() => addon().engineSucceedAdapter(this.handle, slot, before));
  }

  arena(): AdapterArena {
    return callNative(() => addon().engineAdapterArena(this.handle));
  }

  /** Throws INTERNAL for an adapter that this engine did not load, or that was released. */
  slotOf(adapter: EngineAdapter | undefined): number {
    if (adapter === undefined) return NOTHING.adapter;
    const slot = this.slots.get(adapter);
    if (slot !== undefined) return slot;
    throw new TesseraError('INTERNAL', 'adapter: expected one that this engine has loaded');
  }
}
