import { expecting, shown } from "../../../../ops/errors/src/index.js";
const NAME = /^[0-9a-f]{32}$/;
/** Bytes of a key's begin: letters that neither Redis Cluster nor a path of S3 reads. */ const PREFIX = /^[\w.:-]{1,200}$/;
const requestExpected = expecting('REQUEST_INVALID');
const configExpected = expecting('CONFIG_INVALID');
/** @throws TesseraError REQUEST_INVALID with the field, for what is no name */ export function checkName(field, name) {
    if (!NAME.test(name)) throw requestExpected(field, '32 hexadecimal digits', shown(name));
}
/** @throws TesseraError REQUEST_INVALID */ export function checkChain({ owner, version }) {
    checkName('owner', owner);
    checkName('version', version);
}
/** @throws TesseraError CONFIG_INVALID */ export function checkPrefix(field, prefix) {
    if (PREFIX.test(prefix)) return;
    throw configExpected(field, '1 to 200 letters, digits and _.:-', shown(prefix));
}

//# sourceMappingURL=store-names.js.map