import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';

const FILE = 'holders.json';

/**
 * Names of all nodes that have ever been members: each may hold something of a user on its disks,
 * also while it is away. An operator takes out of the file whose disks are no more.
 */
export class Holders {
  private constructor(
    private readonly path: string,
    private readonly known: Set<string>,
  ) {}

  /** @throws TesseraError IO_FAILED */
  static open(folder: string): Holders {
    const path = join(folder, FILE);
    try {
      mkdirSync(folder, { recursive: true });
      const names = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
      return new Holders(path, new Set(names as string[]));
    } catch (cause) {
      throw failed(cause);
    }
  }

  names(): readonly string[] {
    return [...this.known].sort();
  }

  /** @throws TesseraError IO_FAILED */
  add(names: readonly string[]): void {
    const before = this.known.size;
    for (const name of names) this.known.add(name);
    if (this.known.size === before) return;
    try {
      writeFileSync(`${this.path}.part`, JSON.stringify(this.names()), { flush: true });
      renameSync(`${this.path}.part`, this.path);
    } catch (cause) {
      throw failed(cause);
    }
  }
}

function failed(cause: unknown): TesseraError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `cluster.path: expected a folder with a list of nodes, got: ${reason}`;
  return new TesseraError('IO_FAILED', message, { field: 'cluster.path', cause });
}
