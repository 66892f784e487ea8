import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { type Disk, FILE_SYSTEM, replaceFile } from '@tessera/files';

const FILE = 'holders.json';

/**
 * Names of all nodes that have ever been members: each may hold something of a user on its disks,
 * also while it is away. An operator has a node forgotten whose disks are gone.
 */
export class Holders {
  private changing: Promise<void> = Promise.resolve();

  private constructor(
    private readonly path: string,
    private readonly disk: Disk,
    private known: ReadonlySet<string>,
  ) {}

  /** Rejects with IO_FAILED. */
  static async open(folder: string, disk = FILE_SYSTEM): Promise<Holders> {
    const path = join(folder, FILE);
    try {
      await disk.makeFolder(folder);
      const bytes = await disk.read(path);
      const names = bytes === undefined ? [] : JSON.parse(bytes.toString());
      return new Holders(path, disk, new Set(names as string[]));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `cluster.path: expected a folder with a list of nodes, got: ${reason}`;
      throw new TesseraError('IO_FAILED', message, { field: 'cluster.path', cause });
    }
  }

  names(): readonly string[] {
    return [...this.known].sort();
  }

  /** Durable when it resolves. Rejects with IO_FAILED, or STORE_FULL where there is no room. */
  add(names: readonly string[]): Promise<void> {
    return this.change((known) => [...known, ...names]);
  }

  /** As add(). No erasure waits for the node any more. */
  forget(name: string): Promise<void> {
    return this.change((known) => [...known].filter((other) => other !== name));
  }

  /** One after the other. */
  private change(next: (known: ReadonlySet<string>) => readonly string[]): Promise<void> {
    const changed = this.changing.then(async () => {
      const all = new Set(next(this.known));
      if (all.size === this.known.size) return;
      const text = JSON.stringify([...all].sort());
      await replaceFile(this.disk, this.path, text, 'cluster.path: nodes');
      this.known = all;
    });
    this.changing = changed.catch(() => undefined);
    return changed;
  }
}
