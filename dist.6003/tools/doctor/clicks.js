import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { expecting, TesseraError } from "../../libs/ops/errors/src/index.js";
import { openRegular } from "../../libs/ops/files/src/index.js";
const HEADER_BYTES = 4096;
const VENV = '.venv/bin/python';
const NO_PACKAGES = /ModuleNotFoundError|ENOENT/;
/** Only the trainer reads clicks: what it says of them is printed as it is. */ const READ = `import sys
from pathlib import Path
from trainer.errors import InputError
from trainer.logs import read_log
try:
    log = read_log(Path(sys.argv[1]))
except InputError as error:
    sys.exit(str(error))
print(sum(map(len, log.values())), "clicks of", len(log), "users")`;
/** True if a file is a table with a column of users, as `trainer sequences` takes it. */ export async function isClicks(path) {
    const file = await openRegular(path);
    try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
        const [header = ''] = buffer.toString('utf8', 0, bytesRead).split(/\r?\n/);
        const columns = header.split('\t');
        return columns.length > 1 && columns.some((name)=>name === 'user' || name === 'user_id');
    } finally{
        await file.close();
    }
}
/**
 * Findings of the trainer on a file of clicks, line by line.
 * @param python with the trainer's packages; undefined: that of .venv, or python3
 * @throws TesseraError IO_FAILED with the row, or without the trainer's packages
 */ export async function readClicks(path, python = existsSync(VENV) ? VENV : 'python3') {
    try {
        const { stdout } = await promisify(execFile)(python, [
            '-c',
            READ,
            path
        ]);
        return stdout.trim().split('\n');
    } catch (thrown) {
        const said = String(Object(thrown).stderr || thrown).trim();
        const packages = `a Python with trainer/requirements.txt in ${VENV}, or --python`;
        if (NO_PACKAGES.test(said)) throw expecting('IO_FAILED')('clicks', packages, python);
        throw new TesseraError('IO_FAILED', said, {
            field: 'clicks'
        });
    }
}

//# sourceMappingURL=clicks.js.map