import { mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { DEFAULT_RANKING, fetchedParts, ranksApart } from '@tessera/adapter';
import { loadConfig } from '@tessera/config';
import {
  createRecallRuntime,
  type RecallRuntime,
  type RecallRuntimeOptions,
} from '@tessera/recall';
import { adapterSettings } from '../../apps/standalone/src/adapters.js';

export const RANKING_USAGE = `  --version NAME|FOLDER    of the heads: a configured adapter,
                       or a folder as it is pushed (default: ${DEFAULT_RANKING})`;

/** A version that ranks in a runtime of this process. */
export interface RankingVersion {
  readonly rank: { readonly adapter: string };
  /** Where the version changes prompts too, so that requests run with it. */
  readonly own: { readonly adapter?: string };
}

/** A registry of its own where the version is a folder, else that which is configured. */
export class RankingVersions {
  static async of(wanted = DEFAULT_RANKING): Promise<RankingVersions> {
    const isFolder = await stat(wanted).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) return new RankingVersions(wanted, undefined, '');
    const registry = await mkdtemp(join(tmpdir(), 'tessera-rank-'));
    return new RankingVersions(wanted, await realpath(resolve(wanted)), registry);
  }

  private constructor(
    private readonly wanted: string,
    /** Undefined: the configured registry has it. */
    private readonly folder: string | undefined,
    private readonly registry: string,
  ) {}

  /** The runtime, and the version that it serves. Rejects as both do, and leaves nothing then. */
  async open(options: RecallRuntimeOptions): Promise<[RecallRuntime, RankingVersion]> {
    const { config } = loadConfig();
    const { adapters } = config;
    const path = this.folder === undefined ? adapters.path : this.registry;
    const kept = { ...config, adapters: { ...adapters, path, goldenPath: '' } };
    const settings = adapterSettings(kept, () => undefined);
    let runtime: RecallRuntime | undefined;
    try {
      runtime = await createRecallRuntime({
        ...options,
        ...(settings && { adapters: settings, adapterBytesMax: adapters.bytesMax }),
      });
      return [runtime, await this.serve(runtime)];
    } catch (thrown) {
      await runtime?.close();
      await this.remove();
      throw thrown;
    }
  }

  async remove(): Promise<void> {
    if (this.registry !== '') await rm(this.registry, { recursive: true, force: true });
  }

  private async serve({ operations, facts }: RecallRuntime): Promise<RankingVersion> {
    const { adapters } = operations;
    const { wanted, folder } = this;
    if (adapters === undefined) return { rank: { adapter: wanted }, own: {} };
    if (folder !== undefined) {
      const baseModel = facts.summary.model.digest;
      const [root, location] = [dirname(folder), basename(folder)];
      const announced = { name: DEFAULT_RANKING, baseModel, location, sha256: {} };
      await adapters.serve(fetchedParts(root, announced));
    }
    const adapter = folder === undefined ? wanted : DEFAULT_RANKING;
    const lease = adapters.choose(adapter, '');
    lease.release();
    const isOwn = lease.adapter !== undefined && !ranksApart(lease.adapter.engine);
    return { rank: { adapter }, own: isOwn ? { adapter } : {} };
  }
}
