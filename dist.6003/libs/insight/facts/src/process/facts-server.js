import { serveCalls } from "../../../processes/src/index.js";
import { FactWriter, factsFailure } from "../outside/fact-writer.js";
/** The process that alone writes facts: one call after the other. */ export function serveFacts(channel) {
    const server = new FactsServer();
    serveCalls(channel, (method, values)=>server.answer(method, values));
}
let FactsServer = class FactsServer {
    writer;
    turn = Promise.resolve();
    /** Calls that write rows: merges give way to them, because a stop has little time. */ flushes = 0;
    answer(method, values) {
        const isFlush = Number(method === 'flush' || method === 'close');
        this.flushes += isFlush;
        return this.inTurn(()=>{
            this.flushes -= isFlush;
            return this.act(method, values);
        });
    }
    async act(method, values) {
        if (method === 'open') {
            this.writer = await FactWriter.open(values[0]);
            return undefined;
        }
        const { writer } = this;
        if (writer === undefined) throw new Error('expected open() before any other call');
        const act = methodsOf(writer, ()=>this.flushes === 0)[method];
        if (typeof act !== 'function') throw new Error(`expected a method of facts, got ${method}`);
        return act(...values);
    }
    inTurn(act) {
        const done = this.turn.then(act).catch((thrown)=>{
            throw factsFailure(thrown);
        });
        this.turn = done.catch(()=>undefined);
        return done;
    }
};
function methodsOf(writer, isIdle) {
    const { items } = writer;
    return {
        append: (batch)=>writer.append(batch),
        applyItems: (batch)=>items.apply(batch),
        beginItems: ()=>items.beginAll(),
        addItems: (rows)=>items.addAll(rows),
        endItems: (batch)=>items.endAll(batch),
        noteVersions: (rows)=>writer.versions.note(rows),
        flush: (nowMs)=>writer.flush(nowMs),
        tidy: (nowMs)=>writer.tidy(nowMs, isIdle),
        find: (userId)=>writer.find(userId),
        forget: (userId)=>writer.forget(userId),
        sizes: ()=>writer.sizes(),
        close: ()=>writer.close()
    };
}

//# sourceMappingURL=facts-server.js.map