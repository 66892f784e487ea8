import { once } from "node:events";
/**
 * The next message of a child that was forked.
 * @throws Error where the child ends first
 */ export async function nextMessage(child) {
    const heard = new AbortController();
    const { signal } = heard;
    const ended = async ()=>{
        const [code, killedBy] = await once(child, 'exit', {
            signal
        });
        throw new Error(`expected a message of ${child.spawnargs[1]}, it ended: ${killedBy ?? code}`);
    };
    try {
        const [message] = await Promise.race([
            once(child, 'message', {
                signal
            }),
            ended()
        ]);
        return message;
    } finally{
        heard.abort();
    }
}

//# sourceMappingURL=next-message.js.map