import { createHash } from 'node:crypto';
import { type Config, followsLog, redisIdentity, redisPrefix } from '@tessera/config';
import { closeStoreLink, type KvSharing, makeStoreLink } from '@tessera/engine';
import { expecting } from '@tessera/errors';
import type { Conditions } from '@tessera/lifecycle';
import { parseStoreAddress, StoreThread } from '@tessera/shared-kv';
import type { Log } from '@tessera/telemetry';
import { MEBIBYTE, MILLISECONDS_PER_HOUR } from '@tessera/units';

/** Milliseconds of a find, and of a read without a byte: what takes longer is computed. */
const READ_MS = 200;
/** Maximum duration of a read that moves, and of its wait for others. */
const READ_MOST_MS = 10_000;
/** Maximum duration of a write, and of all else that one operation of a store may take. */
const WRITE_MS = 5000;
/** Bytes a second written into each store: half of a gigabit network, which answers need too. */
const WRITE_BYTES_PER_SECOND = 64 * MEBIBYTE;
/** Maximum duration of a call of the engine, including pauses for the budget of writes. */
const LINK_MS = 30_000;
/** Time for which an erasure is tried before its call ends with an error, and is begun again. */
const ERASE_MS = 20_000;
/** Time for which Redis keeps a user whom nobody reads or writes, if it has the room: a week. */
const KEPT_MS = 168 * MILLISECONDS_PER_HOUR;
const STORES_MAX = 2;

/** Hexadecimal, of the word that nodes of one store have in common. */
const WORD_DIGITS = 12;

const invalid = expecting('CONFIG_INVALID');

interface Opened {
  readonly link: number;
  readonly thread: StoreThread;
  readonly address: string;
}

const isAway = ({ thread }: Opened): boolean =>
  thread.failure !== undefined || thread.metrics?.isOpen === true;

/** The stores of keys and values that all nodes share (`kv.shared`), each on a thread. */
export class SharedStores {
  private opened: Opened[] = [];

  constructor(
    private readonly config: Config,
    private readonly log: Log,
  ) {}

  /**
   * Connects them for an engine that is about to be opened; those of the one before are closed.
   * Undefined where there are none.
   * @throws TesseraError CONFIG_INVALID for what is no address
   */
  async open(): Promise<KvSharing | undefined> {
    await this.close();
    const addresses = this.config.kv.shared.split(/\s+/).filter((address) => address !== '');
    if (addresses.length === 0) return undefined;
    if (addresses.length > STORES_MAX || new Set(addresses).size < addresses.length) {
      const message = `at most ${STORES_MAX} stores, each once`;
      throw invalid('kv.shared', message, this.config.kv.shared);
    }
    for (const address of addresses) parseStoreAddress('kv.shared', address);
    this.opened = addresses.map((address) => this.connect(address));
    const erasedUntil = (offset: number) => {
      for (const { thread } of this.opened) thread.setErasedUntil(offset);
    };
    // Erasures have offsets where there is a log: a node knows them once it has caught up.
    if (!followsLog(this.config)) erasedUntil(0);
    return { links: this.opened.map(({ link }) => link), erasedUntil };
  }

  private connect(address: string): Opened {
    const link = makeStoreLink(LINK_MS);
    const thread = new StoreThread(
      {
        field: 'kv.shared',
        store: {
          address,
          prefix: `${redisPrefix(this.config)}kv`,
          ttlMs: KEPT_MS,
          timeoutMs: WRITE_MS,
          identity: redisIdentity(this.config, address),
          s3: this.config.buckets,
        },
        guard: {
          readMs: READ_MS,
          readMostMs: READ_MOST_MS,
          writeMs: WRITE_MS,
          writeBytesPerSecond: WRITE_BYTES_PER_SECOND,
        },
        serve: { eraseMs: ERASE_MS },
        link: { data: link },
      },
      ({ isOpen, reason }) => this.note(address, isOpen, reason),
    );
    return { link, thread, address };
  }

  private readonly away = new Set<string>();

  private note(address: string, isOpen: boolean, reason: string): void {
    if (isOpen === this.away.has(address)) return;
    if (isOpen) {
      this.away.add(address);
      this.log.warn({ address, reason }, 'a shared store of keys and values does not answer');
    } else {
      this.away.delete(address);
      this.log.info({ address }, 'a shared store of keys and values answers again');
    }
  }

  /**
   * Word that is equal at nodes that find each other's keys and values; undefined while the nearest
   * store does not answer, or where there is none.
   */
  get word(): string | undefined {
    const [nearest] = this.opened;
    if (nearest === undefined || isAway(nearest)) return undefined;
    const text = `${nearest.address} ${redisPrefix(this.config)}`;
    return createHash('sha256').update(text).digest('hex').slice(0, WORD_DIGITS);
  }

  /** Adds one condition for all of them: without them users of other nodes are computed anew. */
  addTo(conditions: Conditions): void {
    if (this.opened.length === 0) return;
    const read = () => {
      const failed = this.opened.find(isAway);
      if (failed === undefined) return { state: 'ok', reason: '' } as const;
      const { address, thread } = failed;
      const why = thread.failure?.message ?? thread.metrics?.reason ?? '';
      return { state: 'degraded', reason: `${address}: ${why}` } as const;
    };
    conditions.add({ name: 'kv-shared', kind: 'dependency', isNeeded: false, read });
  }

  /** Closes after the engine's own close, which ends its calls. Idempotent. */
  async close(): Promise<void> {
    const { opened } = this;
    this.opened = [];
    for (const { link } of opened) closeStoreLink(link);
    await Promise.all(opened.map(({ thread }) => thread.close()));
  }
}
