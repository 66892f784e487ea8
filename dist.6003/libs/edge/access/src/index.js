export { AccessControl } from "./access-control.js";
export { AuditLog } from "./audit-log.js";
export { ChangeAudits, NOTED_LINES_PER_SECOND } from "./change-audits.js";
export { AttemptLimit } from "./domain/attempt-limit.js";
export { parseClaimRoles } from "./domain/claims.js";
export { ROLES, reaches, roleOf } from "./domain/roles.js";
export { reachOf, SCOPES } from "./domain/scopes.js";
export { Seal } from "./domain/seal.js";
export { Sessions } from "./domain/sessions.js";
export { hostOfHeader, isForeign, isLoopback, OwnSite } from "./domain/site.js";
export { EdgeGuard } from "./edge-guard.js";
export { OidcLogin } from "./oidc-login.js";

//# sourceMappingURL=index.js.map