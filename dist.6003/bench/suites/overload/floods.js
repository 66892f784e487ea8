import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { MEBIBYTE } from "../../../libs/ops/units/src/index.js";
import { callFields, ErrorCode, Flag, FrameType, frame, greeting, headerBlock, resetStream } from "./http2-frames.js";
import { ServedProcess } from "./served-process.js";
const BAR_MIB = 64;
const READERS = 16;
const ITEMS = 100_000;
const IDLE_CONNECTIONS = 2000;
const FLOOD_FRAMES = 20_000;
const SETTLE_MS = 1000;
const LIST_ITEMS = '/tessera.catalogue.v1.CatalogueService/ListItems';
const EMPTY_MESSAGE = Buffer.alloc(5);
/** Memory of the service while callers do what no friendly caller does. */ export async function floods({ quick, say }) {
    const catalogue = largeCatalogue();
    const served = await ServedProcess.start({
        catalogue: {
            path: catalogue.path
        }
    });
    const seconds = quick ? 5 : 20;
    const rows = [];
    try {
        await listedOnce(served.grpcAddress);
        for (const [name, flood] of FLOODS){
            say(`floods: ${name}`);
            await after(SETTLE_MS);
            const before = served.residentBytes();
            const sockets = await flood(served.grpcAddress);
            let peak = before;
            for(let second = 0; second < seconds; second++){
                await after(1000);
                peak = Math.max(peak, served.residentBytes());
            }
            for (const socket of sockets)socket.destroy();
            const isServing = (await fetch(`${served.httpUrl}/health`)).ok;
            rows.push({
                name: `memory added by ${name}`,
                value: (peak - before) / MEBIBYTE,
                unit: 'MiB',
                bar: BAR_MIB,
                bound: 'at-most'
            }, {
                name: `serves after ${name}`,
                value: Number(isServing),
                unit: '1: yes',
                bar: 1
            });
        }
        return rows;
    } finally{
        await served.stop();
        catalogue.remove();
    }
}
/** Items enough that what readers do not read would be hundreds of megabytes. */ function largeCatalogue() {
    const folder = mkdtempSync(join(tmpdir(), 'tessera-floods-'));
    const path = join(folder, 'catalogue.jsonl');
    const demo = readFileSync(join(repositoryRoot, 'models', 'demo', 'catalogue.jsonl'), 'utf8');
    const sids = demo.trim().split('\n').map((line)=>JSON.parse(line).sid);
    const lines = Array.from({
        length: ITEMS
    }, (_, i)=>JSON.stringify({
            item_id: String(i),
            sid: sids[i % sids.length],
            title: 'a title '.repeat(20)
        }));
    writeFileSync(path, `${lines.join('\n')}\n`);
    return {
        path,
        remove: ()=>rmSync(folder, {
                recursive: true,
                force: true
            })
    };
}
const FLOODS = [
    [
        `${READERS} readers of ListItems that do not read`,
        unreadLists
    ],
    [
        'a flood of calls that are reset at once',
        resets
    ],
    [
        'a flood of pings',
        pings
    ],
    [
        `${IDLE_CONNECTIONS} idle connections`,
        idle
    ]
];
/** A first listing, whose cost is not the flood's. */ async function listedOnce(address) {
    const session = connectHttp2(`http://${address}`);
    const stream = session.request(callFields(address, LIST_ITEMS));
    stream.end(EMPTY_MESSAGE);
    stream.resume();
    await once(stream, 'close');
    session.destroy();
}
async function opened(address, windowBytes) {
    const [host, port] = address.split(':');
    const socket = connect({
        host,
        port: Number(port)
    });
    socket.on('error', ()=>undefined);
    await once(socket, 'connect');
    socket.write(greeting(windowBytes));
    return socket;
}
function calls(address, stream, path) {
    const head = headerBlock(callFields(address, path));
    return Buffer.concat([
        frame(FrameType.HEADERS, Flag.END_HEADERS, stream, head),
        frame(FrameType.DATA, Flag.END_STREAM, stream, EMPTY_MESSAGE)
    ]);
}
/** The window lets everything through; the socket is never read. */ async function unreadLists(address) {
    const sockets = await Promise.all(Array.from({
        length: READERS
    }, ()=>opened(address, 2 ** 30)));
    for (const socket of sockets){
        socket.pause();
        socket.write(calls(address, 1, LIST_ITEMS));
    }
    return sockets;
}
async function resets(address) {
    const socket = await opened(address, 2 ** 20);
    socket.resume();
    const path = '/tessera.recall.v1.RecallService/Recall';
    for(let call = 0; call < FLOOD_FRAMES; call++){
        const stream = 1 + 2 * call;
        socket.write(calls(address, stream, path));
        socket.write(resetStream(stream, ErrorCode.CANCEL));
    }
    return [
        socket
    ];
}
async function pings(address) {
    const socket = await opened(address, 2 ** 20);
    socket.resume();
    const ping = frame(FrameType.PING, 0, 0, Buffer.alloc(8));
    for(let count = 0; count < FLOOD_FRAMES * 10; count++)socket.write(ping);
    return [
        socket
    ];
}
async function idle(address) {
    const sockets = [];
    for(let count = 0; count < IDLE_CONNECTIONS; count++)sockets.push(await opened(address, 2 ** 20));
    return sockets;
}

//# sourceMappingURL=floods.js.map