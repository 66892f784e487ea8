import { expecting } from '@tessera/errors';
import { endOf } from '@tessera/etcd';

const invalid = expecting('CONFIG_INVALID');
const OFFSET_DIGITS = 16;

const padded = (offset: number) => String(Math.max(0, offset)).padStart(OFFSET_DIGITS, '0');

/** Keys of a log in etcd; those of entries are in the order of their offsets. */
export class EtcdKeys {
  readonly prefix: string;
  readonly end: string;
  /** Key of the log's end, which every append compares. */
  readonly head: string;
  readonly behindHead: string;
  /** The newest entry that was trimmed. */
  readonly base: string;
  readonly entriesEnd: string;

  /** @throws TesseraError CONFIG_INVALID */
  constructor(cluster: string) {
    if (!/^[\w.:-]+$/.test(cluster)) {
      throw invalid('cluster.name', 'a name of letters, digits and _.:-', cluster);
    }
    this.prefix = `/tessera/${cluster}/log/`;
    this.end = endOf(this.prefix);
    this.head = `${this.prefix}head`;
    this.behindHead = `${this.head}\0`;
    this.base = `${this.prefix}base`;
    this.entriesEnd = endOf(`${this.prefix}entries/`);
  }

  entry(offset: number): string {
    return `${this.prefix}entries/${padded(offset)}`;
  }

  offsetOf(key: string): number {
    return Number(key.slice(-OFFSET_DIGITS));
  }

  digest(offset: number): string {
    return `${this.prefix}digests/${padded(offset)}`;
  }
}
