import { type Stats, statSync } from 'node:fs';
import { TesseraError } from '@tessera/errors';
import { readRegularSync, textOf } from '@tessera/files';
import { z } from 'zod';
import {
  type Credentials,
  checkScope,
  Grants,
  type Holder,
  type Principal,
  type TokenHolder,
  unauthenticated,
} from './domain/grants.js';
import { EVERY_SCOPE, type Scope } from './domain/scopes.js';
import { isLoopback } from './domain/site.js';

const FILE_BYTES_MAX = 1 << 20;
/** A file may change twice within one tick of its clock: what is as young is read again. */
const SETTLED_MS = 100;
const LOOK_EVERY_MS = 1000;

export interface AccessSettings {
  /** JSON file of grants; '' for none. */
  readonly tokensPath: string;
  /** `open`: without a file of grants everybody may do everything, wherever they come from. */
  readonly mode?: 'guarded' | 'open';
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
  /** Once for each fault of a file that was read before, and with undefined when it is over. */
  readonly onFault?: (fault: TesseraError | undefined) => void;
}

interface ReadGrants {
  readonly grants: Grants;
  readonly stats: Stats;
  /** The file was so old that its next version will have another time. */
  readonly isSettled: boolean;
}

const anybody = (name: string): Holder => ({ name, scopes: [], reach: EVERY_SCOPE });
const ON_LOOPBACK = anybody('loopback');
const ANYBODY = anybody('open');

/**
 * Permissions of callers. Without a file of grants everybody may do everything where an edge can be
 * reached from its own machine alone or `access.mode` is open, and nobody anything elsewhere. The
 * file is looked at for each question, at most once in a turn of the event loop, and read when it
 * has changed: what is taken away there is gone at once. While it is no file of grants, as where
 * somebody is writing it, those that were read last count. Synchronous, since each call asks; the
 * file is local and small.
 */
export class AccessControl {
  private read: ReadGrants | undefined;
  private fault: TesseraError | undefined;
  private looks: NodeJS.Timeout | undefined;
  /** The file was looked at in this turn of the event loop. */
  private isLookedAt = false;
  /** Verdicts by host: judging one costs more than the rest of a question. */
  private readonly loopback = new Map<string, boolean>();

  private constructor(private readonly settings: AccessSettings) {}

  /** Rejects with CONFIG_INVALID where the file is not readable or not one of grants. */
  static async open(settings: AccessSettings): Promise<AccessControl> {
    const access = new AccessControl(settings);
    if (settings.tokensPath !== '') access.grants();
    return access;
  }

  /** True if callers of an edge that listens on `host` have to say who they are. */
  asks(host: string): boolean {
    const { tokensPath, mode } = this.settings;
    return tokensPath !== '' || (mode !== 'open' && !this.isLoopback(host));
  }

  /**
   * The caller of an edge that listens on `host`.
   * @throws TesseraError UNAUTHENTICATED, CONFIG_INVALID
   */
  identify(credentials: Credentials, host: string): Holder {
    if (this.settings.tokensPath !== '') {
      return this.grants().holderOf(credentials, this.nowMs());
    }
    const { certificate } = credentials;
    if (!this.asks(host)) {
      if (certificate !== undefined) return anybody(certificate);
      return this.isLoopback(host) ? ON_LOOPBACK : ANYBODY;
    }
    throw unauthenticated(
      'expected access.tokensPath to name a file of tokens, since the service listens on ' +
        `${host}, got none`,
    );
  }

  /** @throws TesseraError UNAUTHENTICATED, PERMISSION_DENIED, CONFIG_INVALID */
  authorize(credentials: Credentials, scope: Scope, host: string): Principal {
    const holder = this.identify(credentials, host);
    checkScope(holder, scope);
    return holder;
  }

  /**
   * The holder of a token, or of the hash of one.
   * @throws TesseraError UNAUTHENTICATED, CONFIG_INVALID
   */
  holder(by: { readonly token: string } | { readonly sha256: string }): TokenHolder {
    const grants = this.grants();
    const nowMs = this.nowMs();
    return 'token' in by ? grants.ofToken(by.token, nowMs) : grants.ofHash(by.sha256, nowMs);
  }

  private isLoopback(host: string): boolean {
    let known = this.loopback.get(host);
    if (known === undefined) {
      known = isLoopback(host);
      this.loopback.set(host, known);
    }
    return known;
  }

  private nowMs(): number {
    return this.settings.nowMs?.() ?? Date.now();
  }

  /** Looks at the file though no call asks, and is never the reason that a process lives. */
  watch(): void {
    if (this.settings.tokensPath === '') return;
    this.looks = setInterval(() => this.grants(), LOOK_EVERY_MS).unref();
  }

  close(): void {
    clearInterval(this.looks);
  }

  /** True if the file that is there is the one that counts. Its words are in the log alone. */
  reach(): { readonly state: 'ok' | 'degraded'; readonly reason: string } {
    if (this.fault === undefined) return { state: 'ok', reason: '' };
    const expected = 'access.tokensPath: expected a list of tokens and certificates';
    const reason = `${expected}, got ${gotOf(this.fault.cause)}; what was read last counts`;
    return { state: 'degraded', reason };
  }

  private grants(): Grants {
    const { read } = this;
    if (this.isLookedAt && read !== undefined) return read.grants;
    try {
      const newest = this.newest();
      this.note(undefined);
      return this.lookedAt(newest);
    } catch (thrown) {
      if (read === undefined) throw thrown;
      this.note(TesseraError.from(thrown));
      return this.lookedAt(read);
    }
  }

  private newest(): ReadGrants {
    const { tokensPath } = this.settings;
    const stats = statOf(tokensPath);
    const { read } = this;
    if (read?.isSettled === true && isSame(read.stats, stats)) return read;
    const grants = Grants.parse(contentOf(tokensPath), tokensPath);
    const isSettled = Date.now() - stats.ctimeMs > SETTLED_MS;
    return { grants, stats, isSettled };
  }

  private note(fault: TesseraError | undefined): void {
    if (fault?.message === this.fault?.message) return;
    this.fault = fault;
    this.settings.onFault?.(fault);
  }

  private lookedAt(read: ReadGrants): Grants {
    this.read = read;
    this.isLookedAt = true;
    setImmediate(() => {
      this.isLookedAt = false;
    });
    return read.grants;
  }
}

/** Kind of the file that is there, without a word of it: it may have tokens in the clear. */
function gotOf(cause: unknown): string {
  if (cause instanceof SyntaxError) return 'malformed JSON';
  if (cause instanceof z.ZodError) {
    const [at, ...rest] = cause.issues[0]?.path ?? [];
    return at === undefined ? 'another form' : `another form at [${[at, ...rest].join('.')}]`;
  }
  const isAbsent = (cause as { readonly code?: unknown } | undefined)?.code === 'ENOENT';
  return isAbsent ? 'no file' : 'none that can be read';
}

function isSame(a: Stats, b: Stats): boolean {
  return (
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.dev === b.dev
  );
}

function statOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (cause) {
    throw unreadable(path, (cause as Error).message, cause);
  }
}

function contentOf(path: string): string {
  try {
    return textOf(path, readRegularSync(path, FILE_BYTES_MAX), 'CONFIG_INVALID');
  } catch (cause) {
    throw unreadable(path, (cause as Error).message, cause);
  }
}

function unreadable(path: string, got: string, cause?: unknown): TesseraError {
  const message = `access.tokensPath: ${path}: expected a file of tokens, got: ${got}`;
  return new TesseraError('CONFIG_INVALID', message, { field: 'access.tokensPath', cause });
}
