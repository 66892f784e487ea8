import { parseCatalogueSpecs } from '@tessera/catalogue';
import type { Config } from '@tessera/config';
import {
  answeredBy,
  type ChildFactStore,
  type EndedRecall,
  ItemFeed,
  PredicateFeed,
} from '@tessera/facts';
import type { RecallRuntime } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';
import { MILLISECONDS_PER_MINUTE } from '@tessera/units';
import type { Inspection } from './inspection.js';

/** Watches what serves, for the facts. */
export interface FactFeeds {
  recalled(recall: EndedRecall): void;
  close(): Promise<void>;
}

/**
 * Versions that serve or wait, as the facts have them: adapters from when they began to, others
 * from when they were seen.
 */
function versionsOf({ operations, facts }: RecallRuntime, timeMs: number) {
  const { promptTemplate } = facts.summary;
  const none = { timeMs, name: '', state: 'active', parent: '' };
  const { digest } = operations.weights.current();
  const adapters = operations.adapters?.list('') ?? [];
  const { digest: templateDigest, name: template } = promptTemplate;
  const parentOf = (name: string, own: string) =>
    adapters.find((one) => one.name === name && one.isPredecessor && one.digest !== own)?.digest;
  return [
    { ...none, kind: 'model', digest } as const,
    { ...none, kind: 'template', digest: templateDigest, name: template } as const,
    ...adapters.map(
      ({ name, digest: own, state, changedMs }) =>
        ({
          timeMs: changedMs,
          kind: 'adapter',
          digest: own,
          name,
          state,
          parent: parentOf(name, own) ?? '',
        }) as const,
    ),
  ];
}

/**
 * Records changes of the catalogues, and turns recalls into facts. Undefined where
 * nothing is kept.
 */
export function factFeeds(
  config: Config,
  runtime: RecallRuntime,
  inspection: Inspection | undefined,
  log: Log,
): FactFeeds | undefined {
  if (inspection === undefined) return undefined;
  const { operations } = runtime;
  const { store, facts } = inspection;
  inspection.showScenes(runtime.facts.summary.promptTemplate.sceneKeys ?? []);
  const onFault = (thrown: unknown) => log.warn({ err: thrown }, 'facts of items are incomplete');
  const names = ['', ...parseCatalogueSpecs(config.catalogue.more).map(({ name }) => name)];
  const feeds = names.map((name) => {
    const changes = operations.changesOf(name);
    const parts = { store: facts, catalogue: { name, changes }, nowMs: Date.now, onFault };
    const feed = new ItemFeed(parts);
    changes.follow((applied) => {
      const { sequence, changeCount, ops, told, source } = applied;
      const change = { sequence, changeCount, ops, told, source };
      store.offerChange({ ...change, catalogue: name, timeMs: Date.now() });
      feed.applied(applied);
    });
    feed.start();
    return feed;
  });
  const catalogue = (name: string) => operations.changesOf(name);
  const predicates = new PredicateFeed({ store: facts, catalogue, nowMs: Date.now, onFault });
  const watch = watchVersions(runtime, facts, onFault);
  return {
    recalled: (recall) => {
      watch.seen(recall);
      if (facts.offerRecall(recall)) predicates.note(recall.request);
    },
    close: async () => {
      watch.end();
      await predicates.close();
      for (const feed of feeds) await feed.close();
    },
  };
}

/**
 * Each minute, at the beginning, and with the first recall that a version answers: it may be gone
 * within the minute.
 */
function watchVersions(
  runtime: RecallRuntime,
  facts: ChildFactStore,
  onFault: (thrown: unknown) => void,
) {
  const answered = new Set<string>();
  const note = () => void facts.noteVersions(versionsOf(runtime, Date.now())).catch(onFault);
  note();
  const timer = setInterval(note, MILLISECONDS_PER_MINUTE);
  timer.unref();
  return {
    seen: (recall: EndedRecall) => {
      const key = answeredBy(recall);
      if (key === '' || answered.has(key)) return;
      answered.add(key);
      note();
    },
    end: () => clearInterval(timer),
  };
}
