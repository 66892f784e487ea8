/** Limits of the console: what a page shows and a person waits for. */ export const CONSOLE_LIMITS = {
    sqlSeconds: 10,
    sqlRowsMax: 1000,
    exportSeconds: 300,
    exportRowsMax: 10_000_000,
    compareUsersMax: 1000
};
/** The parts of the process that the console uses; also its DI token. */ export class ConsoleParts {
}

//# sourceMappingURL=console-parts.js.map