import { endProcess, sendAll, startLimited } from "../../../processes/src/index.js";
/**
 * The other end of `Launcher`: starts processes, and passes on what they and the service say to
 * each other. It lives as long as its channel; what it started ends when theirs to it does.
 */ export function serveLauncher(channel) {
    const children = new Map();
    const tell = (reply)=>void sendAll(channel, reply).catch(endProcess);
    const start = ({ number, program, limits })=>{
        const ended = (reason)=>{
            if (children.delete(number)) tell({
                kind: 'ended',
                number,
                reason
            });
        };
        const child = startLimited(program, limits);
        children.set(number, child);
        child.on('message', (message)=>tell({
                kind: 'message',
                number,
                message
            }));
        child.once('close', ()=>ended(''));
        child.once('error', (cause)=>ended(cause.message));
    };
    channel.on('disconnect', endProcess);
    channel.on('message', (message)=>{
        const order = message;
        if (order.kind === 'start') {
            start(order);
            return;
        }
        const child = children.get(order.number);
        if (order.kind === 'kill') child?.kill('SIGKILL');
        else if (child?.connected === true) child.send(order.message, ()=>undefined);
    });
}

//# sourceMappingURL=launcher-server.js.map