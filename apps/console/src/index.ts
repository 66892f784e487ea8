export type { AnalysisPort } from './analysis-port.js';
export type { ClusterPort } from './cluster-port.js';
export { ConsoleModule } from './console.module.js';
export { type ConsoleAccess, LoopbackAccess } from './console-access.js';
export { CONSOLE_LIMITS, type ConsoleParts } from './console-parts.js';
export { checkVisitor } from './gate.js';
export { LoginAccess } from './login-access.js';
export { CONSOLE_SCHEMAS, consolePaths } from './openapi.js';
export { PAGE_HEADERS, servePages } from './pages.js';
