export { ConsoleModule } from "./console.module.js";
export { LoopbackAccess } from "./console-access.js";
export { CONSOLE_LIMITS } from "./console-parts.js";
export { checkVisitor } from "./gate.js";
export { LoginAccess } from "./login-access.js";
export { CONSOLE_SCHEMAS, consolePaths } from "./openapi.js";
export { PAGE_HEADERS, servePages } from "./pages.js";
export { QuestionFile } from "./questions.js";

//# sourceMappingURL=index.js.map