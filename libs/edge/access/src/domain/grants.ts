/** Tokens and certificates with their scopes. Of tokens only hashes are known. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { parseJson, TesseraError } from '@tessera/errors';
import { z } from 'zod';
import { reachOf, SCOPES, type Scope } from './scopes.js';

const GRANTS_MAX = 1000;
const TOKEN_BYTES_MAX = 1024;

const common = {
  /** The caller's name in audits. */
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

type Grant = z.infer<typeof grantsSchema>[number];

/** The caller's credentials, as a transport has them. */
export interface Credentials {
  /** Value of the header or metadata `authorization`. */
  readonly authorization?: string | undefined;
  /** Common name of the client's certificate, where the transport has checked it. */
  readonly certificate?: string | undefined;
}

/** A caller who is known. */
export interface Principal {
  readonly name: string;
}

/** A caller, and what was granted. */
export interface Holder extends Principal {
  /** Scopes as the file of tokens lists them. */
  readonly scopes: readonly Scope[];
  /** These and all that come with them. */
  readonly reach: ReadonlySet<Scope>;
}

/** A caller whose token was checked, whatever it allows. */
export interface TokenHolder extends Holder {
  /** Hash of the token, by which the caller is found again. */
  readonly sha256: string;
}

interface Granted {
  readonly holder: Holder;
  /** Milliseconds since 1970; Infinity: for good. */
  readonly endsMs: number;
  readonly expires: string | undefined;
}

interface TokenGranted extends Granted {
  readonly holder: TokenHolder;
  readonly digest: Buffer;
}

function grantedOf({ name, scopes, expires }: Grant): Granted {
  const endsMs = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires);
  return { holder: { name, scopes, reach: reachOf(scopes) }, endsMs, expires };
}

/** The file of tokens and certificates, read once and looked up per call. */
export class Grants {
  private readonly tokens = new Map<string, TokenGranted>();
  private readonly certificates = new Map<string, Granted>();
  /**
   * By whole header, those that were known: hashing one costs each call more than all else. A map
   * compares keys only where their hashes, which have a secret seed, are the same.
   */
  private readonly headers = new Map<string, TokenGranted>();

  private constructor(grants: readonly Grant[]) {
    for (const grant of grants) {
      const granted = grantedOf(grant);
      if ('certificate' in grant) {
        if (!this.certificates.has(grant.certificate)) {
          this.certificates.set(grant.certificate, granted);
        }
        continue;
      }
      const { sha256 } = grant;
      const holder = { ...granted.holder, sha256 };
      this.tokens.set(sha256, { ...granted, holder, digest: Buffer.from(sha256, 'hex') });
    }
  }

  /** @throws TesseraError CONFIG_INVALID */
  static parse(text: string, place: string): Grants {
    try {
      return new Grants(grantsSchema.parse(parseJson(text)));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message.slice(0, 400) : String(cause);
      const message = `${place}: expected a list of tokens and certificates, got: ${reason}`;
      throw new TesseraError('CONFIG_INVALID', message, { field: 'access.tokensPath', cause });
    }
  }

  /** @throws TesseraError UNAUTHENTICATED */
  holderOf({ authorization, certificate }: Credentials, nowMs: number): Holder {
    if (authorization !== undefined && authorization !== '') {
      const known = this.headers.get(authorization);
      if (known !== undefined) return valid(known, nowMs).holder;
      const token = /^Bearer (.+)$/i.exec(authorization)?.[1];
      if (token === undefined) throw unauthenticated("expected 'Bearer TOKEN', got something else");
      const granted = this.grantedOf(token);
      if (this.headers.size >= GRANTS_MAX) this.headers.clear();
      this.headers.set(authorization, granted);
      return valid(granted, nowMs).holder;
    }
    const granted = certificate === undefined ? undefined : this.certificates.get(certificate);
    if (granted === undefined) throw unauthenticated("expected 'Bearer TOKEN', got nothing");
    return valid(granted, nowMs).holder;
  }

  /** @throws TesseraError UNAUTHENTICATED */
  ofToken(token: string, nowMs: number): TokenHolder {
    return valid(this.grantedOf(token), nowMs).holder;
  }

  private grantedOf(token: string): TokenGranted {
    if (!/^[\x21-\x7e]+$/.test(token) || token.length > TOKEN_BYTES_MAX) {
      throw unauthenticated(
        `expected a token of 1..${TOKEN_BYTES_MAX} letters, got something else`,
      );
    }
    const sha256 = createHash('sha256').update(token).digest('hex');
    // The lookup is by hash: how far it matches reveals nothing of a token.
    const granted = this.tokens.get(sha256);
    if (granted === undefined || !timingSafeEqual(Buffer.from(sha256, 'hex'), granted.digest)) {
      throw unauthenticated('expected a known token, got another');
    }
    return granted;
  }

  /** @throws TesseraError UNAUTHENTICATED */
  ofHash(sha256: string, nowMs: number): TokenHolder {
    const granted = this.tokens.get(sha256);
    if (granted === undefined) throw unauthenticated('expected a token that is still known');
    return valid(granted, nowMs).holder;
  }
}

function valid<Some extends Granted>(granted: Some, nowMs: number): Some {
  if (granted.endsMs > nowMs) return granted;
  throw unauthenticated(`expected a token that is valid, got one that expired ${granted.expires}`);
}

export function unauthenticated(message: string): TesseraError {
  return new TesseraError('UNAUTHENTICATED', `authorization: ${message}`, {
    field: 'authorization',
  });
}

/** @throws TesseraError PERMISSION_DENIED for a scope that is not granted */
export function checkScope({ name, scopes, reach }: Holder, scope: Scope): void {
  if (reach.has(scope)) return;
  const had = scopes.join(', ');
  const message = `authorization: expected the scope '${scope}', '${name}' has ${had}`;
  throw new TesseraError('PERMISSION_DENIED', message, { field: 'authorization' });
}
