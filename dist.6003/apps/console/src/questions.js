import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { readRegular, replaceFile } from "../../../libs/ops/files/src/index.js";
import { invalid } from "./fields.js";
export const QUESTIONS_MAX = 500;
const BYTES_MAX = 64 * 2 ** 20;
/** Questions in SQL that analysts keep for each other, in one file that is written as a whole. */ export class QuestionFile {
    path;
    disk;
    turn = Promise.resolve();
    /** @param path '': none can be kept */ constructor(path, disk){
        this.path = path;
        this.disk = disk;
    }
    /** By name. Rejects with IO_FAILED for a file that is damaged. */ list() {
        return this.inTurn(()=>this.read());
    }
    /**
   * Takes the place of the one of the same name.
   * @param check throws where that one may not be replaced
   */ save(question, check) {
        return this.inTurn(async ()=>{
            const all = await this.read();
            const old = all.find(({ name })=>name === question.name);
            if (old !== undefined) check(old);
            else if (all.length >= QUESTIONS_MAX) {
                throw invalid('name', `at most ${QUESTIONS_MAX} questions; remove one`, 'one more');
            }
            await this.write([
                ...all.filter((one)=>one !== old),
                question
            ]);
        });
    }
    /**
   * False: there was none of the name.
   * @param check throws where it may not be removed
   */ remove(name, check) {
        return this.inTurn(async ()=>{
            const all = await this.read();
            const old = all.find((one)=>one.name === name);
            if (old === undefined) return false;
            check(old);
            await this.write(all.filter((one)=>one !== old));
            return true;
        });
    }
    async read() {
        if (this.path === '') return [];
        try {
            const text = (await readRegular(this.path, BYTES_MAX)).toString();
            return JSON.parse(text);
        } catch (thrown) {
            if (thrown.code === 'ENOENT') return [];
            const message = `the saved questions in ${this.path} cannot be read`;
            throw new TesseraError('IO_FAILED', message, {
                cause: thrown
            });
        }
    }
    async write(all) {
        if (this.path === '') {
            const message = 'inspection.path: expected a folder to keep questions in, got none';
            throw new TesseraError('STORE_UNAVAILABLE', message, {
                field: 'inspection.path'
            });
        }
        const sorted = [
            ...all
        ].sort((a, b)=>a.name < b.name ? -1 : 1);
        await replaceFile(this.disk, this.path, JSON.stringify(sorted), 'the saved questions');
    }
    inTurn(act) {
        const done = this.turn.then(act);
        this.turn = done.catch(()=>undefined);
        return done;
    }
}

//# sourceMappingURL=questions.js.map