import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { ChildInspectionStore } from '@tessera/inspection';

/** A store that keeps whatever it is given. */
export function benchStore(path: string): Promise<ChildInspectionStore> {
  return ChildInspectionStore.open({
    program: join(repositoryRoot, 'dist', 'apps', 'inspection', 'src', 'main.js'),
    niceness: { recorder: 10, query: 19 },
    path,
    memoryBytes: 2 ** 29,
    queueMax: 10_000,
    retention: { ageMsMax: 1e15, bytesMax: 2 ** 40 },
    queries: {
      countMax: 4,
      memoryBytes: 2 ** 29,
      diskBytes: 2 ** 30,
      answerBytesMax: 2 ** 22,
    },
    onRecords: () => undefined,
    onFault: (thrown) => {
      throw thrown;
    },
  });
}
