import { join } from 'node:path';
import { AccessControl, AuditLog } from '@tessera/access';
import type { Config } from '@tessera/config';
import type { RecallRuntime } from '@tessera/recall';

/** Who may do what, and where it is written down. */
export interface Access {
  readonly control: AccessControl;
  readonly audits: Pick<AuditLog, 'write' | 'close'>;
}

const NOWHERE: Access['audits'] = {
  write: async () => undefined,
  close: async () => undefined,
};

/** Rejects with CONFIG_INVALID for a bad file of tokens, IO_FAILED for a log that cannot be had. */
export async function openAccess(
  { access, adapters, weights, grpc }: Config,
  runtime: Pick<RecallRuntime, 'adapters'>,
): Promise<Access> {
  const { tokensPath } = access;
  const control = await AccessControl.open({ tokensPath, host: grpc.host });
  const folder = runtime.adapters === undefined ? weights.path : adapters.path;
  // Without adapters and sets of weights nothing is kept that could be changed.
  if (folder === '') return { control, audits: NOWHERE };
  const path = access.auditPath || join(folder, 'audit.jsonl');
  return { control, audits: await AuditLog.open(path) };
}
