import { pino } from "pino";
import { createLog } from "./logger.js";
const STDOUT = 1;
/** Lines on the standard output and the log on the standard error; of `isJson` the log alone. */ export function openOutput(level, isJson) {
    const toStdout = ()=>pino.destination({
            dest: STDOUT,
            sync: true
        });
    const log = isJson ? createLog(level, toStdout()) : createLog(level);
    const report = isJson ? (_lines, fields, message)=>log.info(fields, message) : (lines)=>void process.stdout.write(`${lines}\n`);
    return {
        log,
        report,
        print: (line)=>report(line, {}, line.trim())
    };
}
/** Where the process serves, by what is there. */ export function reportServing({ report }, addresses) {
    const width = Math.max(...Object.keys(addresses).map((name)=>name.length));
    const rows = Object.entries(addresses).map(([name, at])=>`  ${name.padEnd(width)}  ${at}`);
    report([
        '\nServing',
        ...rows
    ].join('\n'), addresses, 'serving');
}

//# sourceMappingURL=output.js.map