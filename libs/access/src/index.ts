export { AccessControl, type AccessSettings } from './access-control.js';
export { type AuditEntry, AuditLog } from './audit-log.js';
export type { Credentials, Principal, Scope } from './domain/grants.js';
