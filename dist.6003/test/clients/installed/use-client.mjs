// Run in an empty project that has @tessera/client alone: node use-client.mts ADDRESS TLS_ADDRESS CA
import { Client, TesseraError } from "../../../libs/edge/client/src/index.js";
const [address = '', tlsAddress = '', ca = ''] = process.argv.slice(2);
const tessera = new Client(address, {
    deadlineMs: 30_000
});
if (!await tessera.serving()) throw new Error('expected a service that serves');
const eligibility = {
    predicate: {
        contains: {
            attribute: 'labels',
            values: [
                'nothing-has-it'
            ]
        }
    }
};
const { items, versions } = await tessera.recall({
    userId: '1',
    resultCount: 3
});
for (const { itemId, score } of items)console.log(`${itemId}\t${score}`);
console.error(versions?.model);
const none = await tessera.recall({
    userId: '1',
    search: 'SEARCH_CERTIFIED',
    eligibility
});
if (none.items.length > 0) throw new Error('expected no item to pass the predicate');
const [first, failed] = await tessera.recallBatch([
    {
        userId: '1',
        resultCount: 3
    },
    {
        userId: '1',
        resultCount: 1_000_000
    }
]);
if (first instanceof TesseraError || first === undefined) throw new Error(String(first));
if (first.items[0]?.itemId !== items[0]?.itemId) throw new Error('expected the same items');
if (!(failed instanceof TesseraError) || failed.field !== 'resultCount' || failed.retryable) {
    throw new Error(`expected a refusal of resultCount, got ${failed}`);
}
const now = Date.now();
const click = {
    userId: 'of-node',
    eventId: 'e',
    itemId: '75',
    action: 'click',
    timeMs: now
};
const [outcome] = await tessera.append([
    click
]);
const { behaviours } = await tessera.history('of-node');
const known = await tessera.erase('of-node');
console.error(outcome, behaviours.length, known);
if (outcome !== 'APPEND_OUTCOME_ADDED' || behaviours.length !== 1 || !known) {
    throw new Error('expected a behaviour that was stored, told and erased');
}
tessera.close();
const away = new Client('127.0.0.1:9', {
    deadlineMs: 300
});
const popular = {
    ...none,
    fallback: 'mine'
};
const { fallback } = await away.recall({
    userId: '1'
}, {
    fallback: ()=>popular
});
if (fallback !== 'mine') throw new Error(`expected the fallback, got ${fallback}`);
away.close();
const began = performance.now();
const nobody = new Client(tlsAddress, {
    tls: {
        ca
    },
    deadlineMs: 60_000
});
const refused = await nobody.recall({
    userId: '1'
}, {
    fallback: ()=>popular
}).catch((e)=>e);
if (refused.code !== 'UNAUTHENTICATED' || refused.retryable || performance.now() - began > 30_000) {
    throw new Error(`expected a fault of set-up at once, got ${refused}`);
}
nobody.close();

//# sourceMappingURL=use-client.mjs.map