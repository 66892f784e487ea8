/** Keys of what lets analysts look into recalls, and of how they log in. */ import { MEBIBYTE } from "../../units/src/index.js";
import { z } from "zod";
import { integer, nonEmptyText, oneOf, storeFolder, text } from "./schema-fields.js";
const GIBIBYTE = 2 ** 30;
const BYTES_MAX = 2 ** 50;
const HOURS_MAX = 24 * 3660;
const MINUTES_MAX = 60 * 24 * 366;
export const inspectionSchema = z.strictObject({
    path: storeFolder('inspection', 'folder of recorded recalls; empty: none are recorded', {
        canBeEmpty: true
    }),
    percent: integer(0, 100, 10, 'percentage of recalls that are recorded, besides those of inspection.users and of ' + 'requests that ask for it'),
    users: text('', 'users with all recalls recorded, separated by commas'),
    keepHours: integer(1, HOURS_MAX, 168, 'hours before a recorded recall, or a fact, is deleted'),
    keepBytes: integer(MEBIBYTE, BYTES_MAX, 2 * GIBIBYTE, 'bytes of recorded recalls, and as many of facts; the oldest are deleted first'),
    outcomes: nonEmptyText('window=30m; impression=impression; conversion=purchase,order', 'how behaviours become outcomes: time after a recall in which one without a request ID ' + 'belongs to it, actions that are impressions and conversions')
});
export const consoleSchema = z.strictObject({
    pages: oneOf([
        'on',
        'off'
    ], 'on', 'console for analysts under /console'),
    gateway: text('', 'HOST:PORT of the HTTP edge of the gateway before this node, for the cluster page; empty: none')
});
export const loginSchema = z.strictObject({
    publicUrl: text('', 'URL of the service behind a proxy, with the path that it takes off, e.g. ' + 'https://example.org/recall; empty: the URL of the request'),
    sessionMinutes: integer(1, MINUTES_MAX, 480, 'minutes of a session of the console')
});
export const oidcSchema = z.strictObject({
    issuer: text('', 'URL of an OpenID provider for the login; empty: none'),
    clientId: text('', 'client ID of the console'),
    clientSecretPath: text('', 'file of the client secret; empty: none'),
    roleClaim: nonEmptyText('roles', 'claim with the roles, or its path with dots'),
    roles: nonEmptyText('read=read,operate=operate,admin=admin', 'VALUE=ROLE for each value of the claim, separated by commas; the highest role counts')
});

//# sourceMappingURL=schema-console.js.map