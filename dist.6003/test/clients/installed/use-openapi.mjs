// Types of openapi-typescript with fetch: node use-openapi.mts URL
import createClient from "openapi-fetch";
const api = createClient({
    baseUrl: process.argv[2] ?? ''
});
const predicate = {
    all: [
        {
            attribute: 'labels',
            contains: [
                'nothing-has-it'
            ]
        },
        {
            not: {
                attribute: 'price',
                min: 0.5,
                max: 2
            }
        }
    ]
};
const { data, error } = await api.POST('/v1/recall', {
    body: {
        userId: '1',
        resultCount: 3
    }
});
if (error !== undefined) throw new Error(error.error.message);
for (const { itemId, score } of data.items)console.log(`${itemId}\t${score}`);
console.error(data.versions.model, data.timings.totalUs);
const body = {
    userId: '1',
    eligibility: {
        predicate
    }
};
const none = await api.POST('/v1/recall', {
    body
});
if (none.data?.items.length !== 0) throw new Error('expected no item to pass the predicate');
const recalls = [
    {
        userId: '1',
        resultCount: 3
    }
];
const { data: batch } = await api.POST('/v1/recall/batch', {
    body: {
        recalls
    }
});
const [only] = batch?.outcomes ?? [];
if (only?.answer?.items[0]?.itemId !== data.items[0]?.itemId) throw new Error('expected the same');
const refused = await api.POST('/v1/recall', {
    body: {
        userId: '1',
        resultCount: 1_000_000
    }
});
const code = refused.error?.error.code;
if (code !== 'REQUEST_INVALID' || refused.error?.error.field !== 'resultCount') {
    throw new Error(`expected a refusal of resultCount, got ${code}`);
}

//# sourceMappingURL=use-openapi.mjs.map