import { DuckDbInspectionStore } from '@tessera/inspection';

/** A store that keeps whatever it is given. */
export function benchStore(path: string): Promise<DuckDbInspectionStore> {
  return DuckDbInspectionStore.open({
    path,
    memoryBytes: 2 ** 29,
    queueMax: 10_000,
    retention: { ageMsMax: 1e15, bytesMax: 2 ** 40 },
    onRecords: () => undefined,
    onFault: (thrown) => {
      throw thrown;
    },
  });
}
