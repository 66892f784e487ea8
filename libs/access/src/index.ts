export { AccessControl, type AccessSettings, isLoopback } from './access-control.js';
export { type AuditEntry, AuditLog, type AuditsRead } from './audit-log.js';
export { AttemptLimit, type AttemptSettings } from './domain/attempt-limit.js';
export { parseClaimRoles } from './domain/claims.js';
export type { Credentials, Principal, Scope, TokenHolder } from './domain/grants.js';
export { ROLES, type Role, reaches, roleOf } from './domain/roles.js';
export { Seal } from './domain/seal.js';
export { type SessionLimits, Sessions } from './domain/sessions.js';
export { type BegunLogin, type OidcHolder, OidcLogin, type OidcSettings } from './oidc-login.js';
