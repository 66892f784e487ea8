import { watchedSecret } from '@tessera/config';
import { expecting, TesseraError } from '@tessera/errors';
import type { ClientAuth, Configuration } from 'openid-client';
import { claimAt, rolesOfClaim } from './domain/claims.js';
import { highestRole, type Role } from './domain/roles.js';
import { isLoopback } from './domain/site.js';

/** Scopes of the login (OpenID Connect Core 1.0, section 5.4): who it is, and their name. */
const OIDC_SCOPES = 'openid profile';
/** Claim that names the person (section 5.1). */
const NAME_CLAIM = 'preferred_username';

const badConfig = expecting('CONFIG_INVALID');

/** Time limit of one call to the provider. */
const CALL_SECONDS = 10;
/** Milliseconds between two looks at the provider. */
const LOOK_MS = 60_000;
const REASON_LENGTH_MAX = 300;
const NAME_LENGTH_MAX = 128;

/** Loaded only where there is a provider. */
const loadClient = () => import('openid-client');

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** File of the client's secret; '': a public client, which has none. */
  readonly clientSecretPath: string;
  /** Claim that has the roles: its name, or its path with dots. */
  readonly roleClaim: string;
  /** Roles by value of the claim. */
  readonly roles: ReadonlyMap<string, Role>;
}

/** Secrets that end a login that was begun; only the browser that began it has them. */
export interface BegunLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** A person who has logged in with the provider. */
export interface OidcHolder {
  readonly name: string;
  /** The subject: the provider never gives it to another person. */
  readonly subject: string;
  readonly role: Role;
}

/**
 * Login with an OpenID Connect provider: authorization code with PKCE (RFC 7636), state and nonce;
 * the ID token is checked against the provider's keys (OpenID Connect Core 1.0, section 3.1.3.7).
 */
export class OidcLogin {
  private provider: Promise<Configuration> | undefined;
  private fault = '';

  private constructor(
    private readonly settings: OidcSettings,
    private readonly clientSecret: () => string,
  ) {}

  /** Asks the provider nothing yet: it may start later. Rejects with CONFIG_INVALID. */
  static async open(settings: OidcSettings): Promise<OidcLogin> {
    const { issuer, clientId, clientSecretPath } = settings;
    const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
    const isSafe = url?.protocol === 'https:' || (url && isLoopback(url.hostname));
    if (isSafe !== true) {
      throw badConfig('oidc.issuer', 'an address that begins with https', issuer);
    }
    if (clientId === '') throw badConfig('oidc.clientId', 'the ID of a client', 'nothing');
    return new OidcLogin(settings, watchedSecret('oidc.clientSecretPath', clientSecretPath));
  }

  /** Address to send the browser to. Rejects with ISSUER_UNAVAILABLE, CONFIG_INVALID. */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly begun: BegunLogin }> {
    const [oidc, provider] = await Promise.all([loadClient(), this.discovered()]);
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const verifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri,
      scope: OIDC_SCOPES,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return { url: url.href, begun: { state, nonce, verifier, redirectUri } };
  }

  /**
   * The person who came back from the provider. Rejects with UNAUTHENTICATED, ISSUER_UNAVAILABLE,
   * and with PERMISSION_DENIED for somebody who has no role.
   * @param query what the provider has sent the browser back with
   */
  async end(query: string, begun: BegunLogin): Promise<OidcHolder> {
    const { state, nonce, verifier, redirectUri } = begun;
    const [oidc, provider] = await Promise.all([loadClient(), this.discovered()]);
    const callback = new URL(redirectUri);
    callback.search = query;
    const tokens = await oidc
      .authorizationCodeGrant(provider, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      .catch(refused);
    const claims = tokens.claims();
    if (claims === undefined) throw unauthenticated('got an answer without an ID token');
    const { roleClaim } = this.settings;
    if (claimAt(claims, roleClaim) !== undefined) return this.holder(claims, claims.sub);
    const more = await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub).catch(refused);
    return this.holder({ ...claims, ...more }, claims.sub);
  }

  private holder(claims: Readonly<Record<string, unknown>>, subject: string): OidcHolder {
    const { roleClaim, roles } = this.settings;
    const called = claimAt(claims, NAME_CLAIM);
    const name = (typeof called === 'string' && called !== '' ? called : subject).slice(
      0,
      NAME_LENGTH_MAX,
    );
    const role = highestRole(rolesOfClaim(claimAt(claims, roleClaim), roles));
    if (role !== undefined) return { name, subject, role };
    const message =
      `role: expected ${[...roles.keys()].join(', ')} in the claim ${roleClaim} of '${name}', ` +
      'got none of them';
    throw new TesseraError('PERMISSION_DENIED', message, { field: 'role' });
  }

  /** Asks the provider until it answers, and then each minute. */
  watch(): () => void {
    const look = () =>
      this.discover().then(
        () => {
          this.fault = '';
        },
        (thrown: unknown) => {
          this.fault = TesseraError.from(thrown).message;
        },
      );
    void look();
    const timer = setInterval(() => void look(), LOOK_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Cheap: what the last look has found. */
  reach(): { readonly state: 'ok' | 'down'; readonly reason: string } {
    return { state: this.fault === '' ? 'ok' : 'down', reason: this.fault };
  }

  /** Once; again where it has failed. */
  private async discovered(): Promise<Configuration> {
    this.provider ??= this.discover();
    try {
      return await this.provider;
    } catch (thrown) {
      this.provider = undefined;
      throw thrown;
    }
  }

  private async discover(): Promise<Configuration> {
    const oidc = await loadClient();
    const { issuer, clientId } = this.settings;
    const url = new URL(issuer);
    const insecure = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
    const shown: ClientAuth = (...call) => oidc.ClientSecretBasic(this.clientSecret())(...call);
    const authentication = this.clientSecret() === '' ? oidc.None() : shown;
    return oidc
      .discovery(url, clientId, undefined, authentication, {
        execute: [...insecure, oidc.enableNonRepudiationChecks],
        timeout: CALL_SECONDS,
      })
      .catch((cause: unknown) => {
        throw otherIssuer(issuer, cause) ?? unavailable(cause);
      });
  }
}

/** The provider answers and has another name: a mistake in writing, which no waiting heals. */
function otherIssuer(issuer: string, thrown: unknown): TesseraError | undefined {
  const { cause } = (thrown ?? {}) as { cause?: { attribute?: string; body?: object } };
  const { issuer: own } = (cause?.body ?? {}) as { issuer?: unknown };
  if (cause?.attribute !== 'issuer' || typeof own !== 'string') return undefined;
  return badConfig('oidc.issuer', `the issuer that the provider says it is, '${own}'`, issuer);
}

function reasonOf(cause: unknown): string {
  const { message = String(cause), cause: deeper } = (cause ?? {}) as Error;
  const reason = deeper instanceof Error ? `${message}: ${deeper.message}` : message;
  return reason.slice(0, REASON_LENGTH_MAX);
}

/** A refusal of the provider is the caller's fault; a provider that does not answer is not. */
function refused(cause: unknown): never {
  if (cause instanceof TypeError || (cause as Error)?.name === 'TimeoutError') {
    throw unavailable(cause);
  }
  throw unauthenticated(`got: ${reasonOf(cause)}`, cause);
}

function unauthenticated(got: string, cause?: unknown): TesseraError {
  const message = `login: expected somebody whom the provider knows, ${got}`;
  return new TesseraError('UNAUTHENTICATED', message, { field: 'login', cause });
}

function unavailable(cause: unknown): TesseraError {
  const message = `oidc.issuer: expected an answer of the provider, got: ${reasonOf(cause)}`;
  return new TesseraError('ISSUER_UNAVAILABLE', message, { field: 'oidc.issuer', cause });
}
