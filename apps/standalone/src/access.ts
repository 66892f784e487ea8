import { join } from 'node:path';
import { AccessControl, AuditLog, OidcLogin, parseClaimRoles } from '@tessera/access';
import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import type { RecallRuntime } from '@tessera/recall';

/** Who may do what, and where it is written down. */
export interface Access {
  readonly control: AccessControl;
  readonly audits: Pick<AuditLog, 'write' | 'newest' | 'close'>;
  /** Undefined where nobody logs in with a provider. */
  readonly oidc: OidcLogin | undefined;
}

const NOWHERE: Access['audits'] = {
  write: async () => undefined,
  newest: async () => ({ entries: [], isWhole: true }),
  close: async () => undefined,
};

function auditPathOf(
  { access, adapters, weights, inspection }: Config,
  { adapters: kept }: Pick<RecallRuntime, 'adapters'>,
): string {
  if (access.auditPath !== '') return access.auditPath;
  const folders = [kept === undefined ? '' : adapters.path, weights.path, inspection.path];
  const folder = folders.find((one) => one !== '');
  return folder === undefined ? '' : join(folder, 'audit.jsonl');
}

/** Rejects with CONFIG_INVALID. */
async function oidcOf({ oidc, login, console }: Config): Promise<OidcLogin | undefined> {
  const { publicUrl } = login;
  if (publicUrl !== '' && !/^https?:\/\/[^/]+\/?$/.test(publicUrl)) {
    const message = `login.publicUrl: expected http(s)://HOST, came ${publicUrl}`;
    throw new TesseraError('CONFIG_INVALID', message, { field: 'login.publicUrl' });
  }
  if (console.pages === 'off' || oidc.issuer === '') return undefined;
  return OidcLogin.open({ ...oidc, roles: parseClaimRoles(oidc.roles) });
}

/** Rejects with CONFIG_INVALID for a bad file of tokens, IO_FAILED for a log that cannot be had. */
export async function openAccess(
  config: Config,
  runtime: Pick<RecallRuntime, 'adapters'>,
): Promise<Access> {
  const { tokensPath } = config.access;
  const control = await AccessControl.open({ tokensPath, host: config.grpc.host });
  const oidc = await oidcOf(config);
  const path = auditPathOf(config, runtime);
  // Without any folder nothing is kept that could be changed.
  const audits = path === '' ? NOWHERE : await AuditLog.open(path);
  return { control, audits, oidc };
}
