/**
 * Every answer that a test of this folder gets over HTTP is what the OpenAPI document says, and
 * every body that was taken is one that it allows: `fetch` checks it on the way. Once a worker:
 * its files share their modules, and compiling the document takes seconds.
 */ import { OpenApiCheck } from "./openapi-check.js";
function checked(plain) {
    const check = new OpenApiCheck();
    check.compileAll();
    const fetchChecked = async (input, init)=>{
        const reply = await plain(input, init);
        const url = input instanceof Request ? input.url : String(input);
        await check.exchange({
            method: init?.method ?? 'GET',
            url,
            body: init?.body,
            reply
        });
        return reply;
    };
    fetchChecked.isChecked = true;
    return fetchChecked;
}
const present = globalThis.fetch;
if (present.isChecked === undefined) globalThis.fetch = checked(present);

//# sourceMappingURL=openapi-fetch.js.map