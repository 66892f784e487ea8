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
  { access, adapters, grpc }: Config,
  runtime: Pick<RecallRuntime, 'adapters'>,
): Promise<Access> {
  const { tokensPath } = access;
  const control = await AccessControl.open({ tokensPath, host: grpc.host });
  // Without adapters nothing is kept that could be changed.
  if (runtime.adapters === undefined) return { control, audits: NOWHERE };
  const path = access.auditPath || join(adapters.path, 'audit.jsonl');
  return { control, audits: await AuditLog.open(path) };
}
