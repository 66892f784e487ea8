import { TesseraError } from '@tessera/errors';
import type { ServedAdapter } from './domain/adapter-choice.js';
import type { EngineAdapter } from './domain/adapter-engine.js';
import {
  type AdapterFacts,
  type AdapterFile,
  type AdapterVersion,
  checkFiles,
  checkName,
  digestOf,
  fileBytes,
  invalid,
  REMARK_LENGTH_MAX,
  receivedVersion,
} from './domain/adapter-version.js';
import { checkHolder, type WantedLease, wantedLease } from './domain/name-lease.js';
import type { PushHeader, PushPart, PushParts } from './domain/push-parts.js';
import { receive, reject, validate } from './domain/registry-state.js';
import type { StagedVersion } from './outside/version-folders.js';
import type { AdapterRegistry } from './registry.js';

export interface Pushed {
  readonly version: AdapterVersion;
  /** It was there before. */
  readonly isKnown: boolean;
  /** To be taken now; undefined: a person pushed. */
  readonly lease: WantedLease | undefined;
}

/** Clocks of trainers may be so far ahead. */
const LEARNED_AHEAD_MS_MAX = 5 * 60 * 1000;

/** Answers something with a version that serves nobody yet; rejects where it does so badly. */
export type Trial = (adapter: ServedAdapter) => Promise<void>;

interface SignedHeader extends PushHeader {
  readonly by: string;
}

/** Errors that reject a version; others may pass, and the version waits. */
const FAULTS: ReadonlySet<string> = new Set([
  'ADAPTER_INVALID',
  'ADAPTER_CORRUPT',
  'MODEL_NOT_FINITE',
]);

/** Versions on their way in: kept whole or not at all, and looked into before anybody gets them. */
export class PushIntake {
  private readonly names = new Set<string>();

  constructor(
    private readonly registry: AdapterRegistry,
    private readonly trial: Trial,
  ) {}

  /** Pushes that have not ended. */
  get underway(): number {
    return this.names.size;
  }

  /**
   * Resolves when the version is kept and valid. Rejects with PUSH_CONFLICT where another push of
   * the name is under way or another holder has its lease, ADAPTER_INVALID, ADAPTER_CORRUPT,
   * STORE_FULL, ADAPTER_ARENA_FULL, IO_FAILED.
   * @param by who pushes
   */
  async push(parts: PushParts, by: string): Promise<Pushed> {
    const all = parts[Symbol.asyncIterator]();
    try {
      const header = headerOf(await all.next());
      const files = this.checked(header);
      const lease = this.leaseOf(header);
      const taken = await this.alone(header.name, () => this.take({ ...header, by }, files, all));
      return { ...taken, lease };
    } finally {
      await all.return?.();
    }
  }

  /** Undefined as well where this push is not to take one. */
  private leaseOf({ name, holder = '', leaseSeconds }: PushHeader): WantedLease | undefined {
    if (leaseSeconds === undefined) return undefined;
    const lease = wantedLease(holder, leaseSeconds);
    // Before its bytes come; the lease is taken behind the trial, where this is asked again.
    if (lease !== undefined) checkHolder(this.registry.state, name, holder, this.registry.nowMs());
    return lease;
  }

  private checked(header: PushHeader): AdapterFile[] {
    const { name, baseModel, files, remark, learnedUntilMs = 0 } = header;
    checkName(name);
    const { limits, engine } = this.registry.parts;
    if (baseModel !== engine.model.digest) {
      throw invalid('baseModel', `${engine.model.digest}, which is served`, `'${baseModel}'`);
    }
    if (remark.length > REMARK_LENGTH_MAX) {
      throw invalid('remark', `at most ${REMARK_LENGTH_MAX} characters`, remark.length);
    }
    const latestMs = this.registry.nowMs() + LEARNED_AHEAD_MS_MAX;
    if (!Number.isSafeInteger(learnedUntilMs) || learnedUntilMs < 0 || learnedUntilMs > latestMs) {
      throw invalid('learnedUntilMs', `0..${latestMs}, five minutes from now`, learnedUntilMs);
    }
    return checkFiles(files, Math.min(limits.versionBytesMax, limits.diskBytesMax));
  }

  private async alone<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
    if (this.names.has(name)) {
      const message = `name: another push of '${name}' is under way`;
      throw new TesseraError('PUSH_CONFLICT', message, { field: 'name' });
    }
    this.names.add(name);
    try {
      return await act();
    } finally {
      this.names.delete(name);
    }
  }

  private async take(
    header: SignedHeader,
    files: readonly AdapterFile[],
    rest: AsyncIterator<PushPart>,
  ): Promise<Omit<Pushed, 'lease'>> {
    const digest = digestOf(files);
    const { versions } = this.registry.state;
    const known = versions.find((one) => one.name === header.name && one.digest === digest);
    if (known === undefined || known.state === 'rejected') {
      const version = await this.receive(header, files, digest, rest);
      return { version: await this.validate(version), isKnown: false };
    }
    if (known.state !== 'received') return { version: known, isKnown: true };
    return { version: await this.validate(known), isKnown: true };
  }

  /** The files are there and known to be; from here on a start finds them. */
  private async receive(
    { name, baseModel, remark, by: pushedBy, holder = '', learnedUntilMs = 0 }: SignedHeader,
    files: readonly AdapterFile[],
    digest: string,
    rest: AsyncIterator<PushPart>,
  ): Promise<AdapterVersion> {
    const { registry } = this;
    const giveBack = await registry.reserve(fileBytes(files));
    const staged = await registry.folders.stage(files).catch((thrown: unknown) => {
      giveBack();
      throw thrown;
    });
    try {
      await takeBytes(staged, rest);
      const given = { name, digest, baseModel, files, remark, pushedBy, holder, learnedUntilMs };
      const version = receivedVersion(given, registry.nowMs());
      await registry.change(
        (state) => receive(state, version),
        () => registry.keepFiles(staged, digest),
      );
      return version;
    } finally {
      giveBack();
      await staged.discard();
    }
  }

  /** Loads the version where it serves nobody, and answers the golden set with it. */
  private async validate(version: AdapterVersion): Promise<AdapterVersion> {
    const { registry } = this;
    const { name, digest } = version;
    try {
      const held = await registry.loaded.load(version);
      try {
        await this.trial(held.served);
        const facts = factsOf(held.served.engine);
        await registry.change((state) => validate(state, version, facts, registry.nowMs()));
      } finally {
        held.release();
      }
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (FAULTS.has(error.code)) {
        await registry.change((state) => reject(state, version, error.message, registry.nowMs()));
      }
      throw error;
    }
    return registry.find(name, digest);
  }
}

function factsOf(adapter: EngineAdapter): AdapterFacts {
  const { rankMax, targetCount, replacedRows, largestNorm, heads, isActivated } = adapter;
  return { rankMax, targetCount, replacedRows, largestNorm, heads, isActivated };
}

function headerOf(first: IteratorResult<PushPart>): PushHeader {
  if (first.done !== true && 'header' in first.value) return first.value.header;
  throw invalid('header', 'it first', first.done === true ? 'the end of the stream' : 'bytes');
}

/** Rejects with ADAPTER_CORRUPT where the stream ends early: its client may have gone. */
async function takeBytes(staged: StagedVersion, rest: AsyncIterator<PushPart>): Promise<void> {
  for (;;) {
    const { done, value } = await rest.next();
    if (done === true) {
      const message = 'end: expected it last, got the end of the stream: the upload is cut off';
      throw new TesseraError('ADAPTER_CORRUPT', message, { field: 'end' });
    }
    if ('isEnd' in value) return;
    if ('header' in value) throw invalid('header', 'it once', 'another');
    await staged.write(value.data);
  }
}
