/** Who may do what: tokens and certificates with their scopes. Of tokens only hashes are known. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';

/** push, activate: versions over gRPC; operate, admin: the console; read: both. */
export const SCOPES = ['push', 'activate', 'read', 'operate', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const GRANTS_MAX = 1000;
const TOKEN_BYTES_MAX = 1024;

const common = {
  /** What audits call the caller. */
  name: z.string().min(1).max(128),
  scopes: z.array(z.enum(SCOPES)).min(1),
  /** Not valid from then on; left out: for good. */
  expires: z.iso.datetime({ offset: true }).optional(),
};
const grantsSchema = z
  .array(
    z.union([
      z.strictObject({ ...common, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
      /** Common name of a certificate that the server's own authority has signed. */
      z.strictObject({ ...common, certificate: z.string().min(1).max(256) }),
    ]),
  )
  .max(GRANTS_MAX);

export type Grant = z.infer<typeof grantsSchema>[number];

/** Who calls, as a transport says it. */
export interface Credentials {
  /** Value of the header or metadata `authorization`. */
  readonly authorization?: string | undefined;
  /** Common name of the client's certificate, where the transport has checked it. */
  readonly certificate?: string | undefined;
}

/** A caller whose right was checked. */
export interface Principal {
  readonly name: string;
}

/** A caller whose token was checked, whatever it allows. */
export interface TokenHolder extends Principal {
  readonly scopes: readonly Scope[];
  /** Of the token: what the caller is found by again. */
  readonly sha256: string;
}

/** @throws TesseraError CONFIG_INVALID */
export function parseGrants(text: string, place: string): readonly Grant[] {
  try {
    return grantsSchema.parse(JSON.parse(text));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 400) : String(cause);
    const message = `${place}: expected a list of tokens and certificates, came: ${reason}`;
    throw new TesseraError('CONFIG_INVALID', message, { field: 'access.tokensPath', cause });
  }
}

type TokenGrant = Extract<Grant, { readonly sha256: string }>;

const hashOf = (token: string) => createHash('sha256').update(token).digest();

/** Looks at every grant, and as long at each, whichever it is. */
function ofHash(grants: readonly Grant[], hash: Buffer): TokenGrant | undefined {
  let found: TokenGrant | undefined;
  for (const grant of grants) {
    if ('sha256' in grant && timingSafeEqual(hash, Buffer.from(grant.sha256, 'hex'))) found = grant;
  }
  return found;
}

function ofCertificate(grants: readonly Grant[], name: string): Grant | undefined {
  return grants.find((grant) => 'certificate' in grant && grant.certificate === name);
}

function unauthenticated(message: string): TesseraError {
  return new TesseraError('UNAUTHENTICATED', `authorization: ${message}`, {
    field: 'authorization',
  });
}

/** @throws TesseraError UNAUTHENTICATED */
function ofToken(grants: readonly Grant[], token: string): TokenGrant {
  if (!/^[\x21-\x7e]+$/.test(token) || token.length > TOKEN_BYTES_MAX) {
    throw unauthenticated(`expected a token of 1..${TOKEN_BYTES_MAX} letters, came something else`);
  }
  const grant = ofHash(grants, hashOf(token));
  if (grant === undefined) throw unauthenticated('expected a known token, came another');
  return grant;
}

function grantOf(grants: readonly Grant[], { authorization, certificate }: Credentials): Grant {
  if (authorization !== undefined && authorization !== '') {
    const token = /^Bearer (.+)$/.exec(authorization)?.[1];
    if (token === undefined) throw unauthenticated("expected 'Bearer TOKEN', came something else");
    return ofToken(grants, token);
  }
  const grant = certificate === undefined ? undefined : ofCertificate(grants, certificate);
  if (grant === undefined) throw unauthenticated("expected 'Bearer TOKEN', came nothing");
  return grant;
}

function checkExpiry({ expires }: Grant, nowMs: number): void {
  if (expires === undefined || Date.parse(expires) > nowMs) return;
  throw unauthenticated(`expected a token that is valid, came one that expired at ${expires}`);
}

/** @throws TesseraError UNAUTHENTICATED; PERMISSION_DENIED for a scope that is not granted */
export function authorized(
  grants: readonly Grant[],
  credentials: Credentials,
  scope: Scope,
  nowMs: number,
): Principal {
  const grant = grantOf(grants, credentials);
  checkExpiry(grant, nowMs);
  const { name, scopes } = grant;
  if (scopes.includes(scope)) return { name };
  const had = scopes.join(', ');
  const message = `authorization: expected the scope '${scope}', '${name}' has ${had}`;
  throw new TesseraError('PERMISSION_DENIED', message, { field: 'authorization' });
}

/**
 * Whose token it is, or whose hash of one.
 * @throws TesseraError UNAUTHENTICATED
 */
export function tokenHolder(
  grants: readonly Grant[],
  by: { readonly token: string } | { readonly sha256: string },
  nowMs: number,
): TokenHolder {
  const grant =
    'token' in by ? ofToken(grants, by.token) : ofHash(grants, Buffer.from(by.sha256, 'hex'));
  if (grant === undefined) throw unauthenticated('expected a token that is still known, came none');
  checkExpiry(grant, nowMs);
  const { name, scopes, sha256 } = grant;
  return { name, scopes, sha256 };
}
