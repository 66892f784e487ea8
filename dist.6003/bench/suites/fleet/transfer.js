/** Bytes a second from Redis into this process, against a socket whose bytes are thrown away. */ import { connect } from "node:net";
import { openStore } from "../../../libs/service/shared-kv/src/index.js";
import { missingFor, startRedisServer } from "../../../libs/testing/src/index.js";
const MEBIBYTE = 1024 * 1024;
const SIZES = [
    1,
    2,
    4
];
/** Of each measured round, and so many are asked for at once. */ const ROUND_MEBIBYTES = {
    quick: 256,
    full: 1024
};
const AT_ONCE = 16;
const ROUNDS = {
    quick: 4,
    full: 10
};
const KEPT_BLOCKS = 16;
const BAR = 0.4;
const CHAIN = {
    owner: 'a'.repeat(32),
    version: 'b'.repeat(32)
};
const PREFIX = 'bench';
const blockOf = (index)=>index.toString(16).padStart(32, '0');
/** Seconds of so many reads through the store. */ async function throughStore(store, reads) {
    const began = performance.now();
    let next = 0;
    const act = async ()=>{
        while(next < reads){
            const index = next % KEPT_BLOCKS;
            next += 1;
            if (await store.read(CHAIN, blockOf(index)) === undefined) throw new Error('a block is gone');
        }
    };
    await Promise.all(Array.from({
        length: AT_ONCE
    }, act));
    return (performance.now() - began) / 1000;
}
/** Seconds of the same commands over a socket; as many are on their way at once. */ async function throughSocket(address, blockBytes, reads) {
    const [host = '', port = ''] = address.split(':');
    const socket = connect(Number(port), host);
    await new Promise((resolve)=>socket.once('connect', resolve));
    const key = `${PREFIX}:{${CHAIN.owner}}`;
    const commandOf = (index)=>{
        const words = [
            'HGET',
            key,
            `${CHAIN.version}b${blockOf(index % KEPT_BLOCKS)}`
        ];
        return `*3\r\n${words.map((word)=>`$${word.length}\r\n${word}\r\n`).join('')}`;
    };
    const answerBytes = `$${blockBytes}\r\n`.length + blockBytes + 2;
    const began = performance.now();
    let sent = 0;
    let bytes = 0;
    const send = ()=>{
        const until = Math.min(reads, Math.floor(bytes / answerBytes) + AT_ONCE);
        for(; sent < until; sent += 1)socket.write(commandOf(sent));
    };
    await new Promise((resolve, reject)=>{
        socket.on('error', reject);
        socket.on('data', (part)=>{
            bytes += part.length;
            if (bytes >= reads * answerBytes) resolve();
            else send();
        });
        send();
    });
    const seconds = (performance.now() - began) / 1000;
    socket.destroy();
    return seconds;
}
/** One row a size: the best round of each, which take turns. */ export async function transferStage({ quick, say }) {
    const missing = missingFor([
        'redis'
    ]);
    if (missing.length > 0) throw new Error(`${missing.join(', ')}: not installed`);
    const server = await startRedisServer([
        '--appendonly',
        'no'
    ]);
    const limits = {
        prefix: PREFIX,
        ttlMs: 3_600_000,
        timeoutMs: 60_000
    };
    const s3 = {
        endpoint: '',
        region: '',
        isPathStyle: false
    };
    const store = openStore('address', {
        address: `redis://${server.address}`,
        s3,
        ...limits
    });
    const mode = quick ? 'quick' : 'full';
    const rows = [];
    try {
        for (const size of SIZES){
            say(`blocks of ${size} MiB from Redis, through the store and through a socket`);
            const block = Buffer.alloc(size * MEBIBYTE, 7);
            for(let index = 0; index < KEPT_BLOCKS; index += 1){
                await store.write(CHAIN, blockOf(index), block, 0);
            }
            const reads = ROUND_MEBIBYTES[mode] / size;
            let stored = Number.POSITIVE_INFINITY;
            let bare = Number.POSITIVE_INFINITY;
            for(let round = 0; round < ROUNDS[mode]; round += 1){
                bare = Math.min(bare, await throughSocket(server.address, block.length, reads));
                stored = Math.min(stored, await throughStore(store, reads));
            }
            const value = ROUND_MEBIBYTES[mode] / stored;
            rows.push({
                name: `blocks of ${size} MiB from Redis`,
                value,
                unit: 'MiB/s',
                ratio: {
                    value: bare / stored,
                    to: 'a socket that throws them away'
                },
                bar: BAR,
                bound: 'at-least'
            });
        }
        return rows;
    } finally{
        await store.close();
        await server.stop();
    }
}

//# sourceMappingURL=transfer.js.map