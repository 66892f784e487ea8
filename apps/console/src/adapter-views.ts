import type { AuditEntry } from '@tessera/access';
import { type Adapters, fileBytes, type ListedVersion } from '@tessera/adapter';
import type { AdapterChange, AdapterView, CanaryView } from './api-types.js';

/** Actions of the audit log that versions of adapters have gone through. */
const ADAPTER_ACTIONS: ReadonlySet<string> = new Set([
  ...['push', 'activate', 'rollback', 'pin', 'unpin', 'delete', 'lost', 'waits'],
]);

type Known = Pick<Adapters, 'list' | 'watchOf'>;

export function adapterView(adapters: Known, version: ListedVersion): AdapterView {
  const { files, baseModel: _, activation: _activation, ...rest } = version;
  const report = adapters.watchOf(version);
  return { ...rest, fileBytes: fileBytes(files), ...(report !== undefined && { report }) };
}

/** The canaries of this moment. */
export function canaryViews(adapters: Known | undefined): readonly CanaryView[] {
  const versions = adapters?.list('') ?? [];
  return versions
    .filter(({ state }) => state === 'canary')
    .flatMap((version) => {
      const { name, digest, share, changedMs } = version;
      const report = adapters?.watchOf(version);
      return [{ name, digest, share, changedMs, ...(report !== undefined && { report }) }];
    });
}

/** How an action on an adapter ended; not that it was begun. */
export function isAdapterChange({ action, outcome }: AuditEntry): boolean {
  return ADAPTER_ACTIONS.has(action) && outcome !== 'begun';
}

export function adapterChange(entry: AuditEntry): AdapterChange {
  const { timeMs, action, actor, role = '', name, digest, outcome, detail } = entry;
  return { timeMs, action, actor, role, name, digest, outcome, detail };
}

/**
 * The changes with those by which the versions that serve began to, where the log has none of
 * them: it was begun later, or nobody asked for it, as in the first start of a demo.
 */
export function withServing(
  changes: readonly AdapterChange[],
  versions: readonly Pick<ListedVersion, 'state' | 'changedMs' | 'name' | 'digest'>[],
  isWhole: boolean,
): readonly AdapterChange[] {
  const begins = (change: AdapterChange, { name, digest }: (typeof versions)[number]) =>
    change.name === name &&
    (change.action === 'rollback' ||
      (change.action === 'activate' && digest.startsWith(change.digest)));
  const unsaid = versions.filter(
    (version) =>
      isWhole &&
      (version.state === 'active' || version.state === 'canary') &&
      !changes.some((change) => begins(change, version)),
  );
  const said = unsaid.map(({ changedMs: timeMs, name, digest, state }) => {
    const detail = `${state} since then; the log of audits does not say who did it`;
    const nobody = { actor: '', role: '', outcome: 'OK', detail };
    return Object.assign({ timeMs, action: 'activate', name, digest }, nobody);
  });
  return [...changes, ...said].sort((a, b) => b.timeMs - a.timeMs);
}
