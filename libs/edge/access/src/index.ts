export { AccessControl, type AccessSettings } from './access-control.js';
export type { AccessRule, Need } from './access-rule.js';
export { type AuditCounts, type AuditEntry, AuditLog, type AuditsRead } from './audit-log.js';
export { type Change, ChangeAudits, NOTED_LINES_PER_SECOND } from './change-audits.js';
export { AttemptLimit, type AttemptSettings } from './domain/attempt-limit.js';
export { parseClaimRoles } from './domain/claims.js';
export type { Credentials, Holder, Principal, TokenHolder } from './domain/grants.js';
export { ROLES, type Role, reaches, roleOf } from './domain/roles.js';
export { reachOf, SCOPES, type Scope } from './domain/scopes.js';
export { Seal } from './domain/seal.js';
export { type SessionLimits, Sessions } from './domain/sessions.js';
export {
  hostOfHeader,
  isForeign,
  isLoopback,
  OwnSite,
  type SiteHeaders,
  type SiteSettings,
} from './domain/site.js';
export { EdgeGuard, type EdgeGuardParts } from './edge-guard.js';
export { type BegunLogin, type OidcHolder, OidcLogin, type OidcSettings } from './oidc-login.js';
