import { join } from 'node:path';
import { OidcLogin, parseClaimRoles } from '@tessera/access';
import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { ProcessAccess } from '@tessera/hosting';
import type { RecallOperations } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';

/** Permissions of callers, and the log of their changes. */
export interface Access {
  readonly process: ProcessAccess;
  /** Undefined where nobody logs in with a provider. */
  readonly oidc: OidcLogin | undefined;
}

function auditPathOf(
  { access, adapters, weights, inspection }: Config,
  { adapters: kept }: RecallOperations,
): string {
  if (access.auditPath !== '') return access.auditPath;
  const folders = [kept === undefined ? '' : adapters.path, weights.path, inspection.path];
  const folder = folders.find((one) => one !== '');
  // Without any folder nothing is kept that could be changed.
  return folder === undefined ? '' : join(folder, 'audit.jsonl');
}

/** Rejects with CONFIG_INVALID. */
async function oidcOf({ oidc, login, console }: Config): Promise<OidcLogin | undefined> {
  const { publicUrl } = login;
  if (publicUrl !== '' && !/^https?:\/\/[^/?#]+(\/[^?#]*)?$/.test(publicUrl)) {
    const message = `login.publicUrl: expected http(s)://HOST or HOST/PATH, got ${publicUrl}`;
    throw new TesseraError('CONFIG_INVALID', message, { field: 'login.publicUrl' });
  }
  if (console.pages === 'off' || oidc.issuer === '') return undefined;
  return OidcLogin.open({ ...oidc, roles: parseClaimRoles(oidc.roles) });
}

/**
 * Rejects with CONFIG_INVALID for a bad file of tokens or open doors, IO_FAILED for a log that
 * cannot be had.
 */
export async function openAccess(
  config: Config,
  operations: RecallOperations,
  log: Log,
): Promise<Access> {
  const oidc = await oidcOf(config);
  return { process: await ProcessAccess.open(config, auditPathOf(config, operations), log), oidc };
}
