import { endProcess, sendAll } from "./channel.js";
import { sentError } from "./sent-error.js";
/** The other end of `ChildLink`: answers calls as long as there is a channel to the service. */ export function serveCalls(channel, answer) {
    channel.on('disconnect', endProcess);
    channel.on('message', (message)=>{
        const { number, method, values } = message;
        answer(method, values).then((answered)=>({
                number,
                answer: answered
            }), (thrown)=>({
                number,
                error: sentError(thrown)
            })).then((reply)=>sendAll(channel, reply)).catch(endProcess);
    });
}

//# sourceMappingURL=child-server.js.map