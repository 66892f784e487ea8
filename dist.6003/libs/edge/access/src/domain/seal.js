import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
const KEY_BYTES = 32;
/**
 * Values that are given away and come back, and are only believed as this process gave them and in
 * time: nothing has to be kept for those who never come back.
 */ export class Seal {
    lifetimeMs;
    nowMs;
    key = randomBytes(KEY_BYTES);
    constructor(lifetimeMs, /** Milliseconds since 1970. */ nowMs){
        this.lifetimeMs = lifetimeMs;
        this.nowMs = nowMs;
    }
    close(value) {
        const content = {
            value,
            endsMs: this.nowMs() + this.lifetimeMs
        };
        const text = Buffer.from(JSON.stringify(content)).toString('base64url');
        return `${text}.${this.sign(text).toString('base64url')}`;
    }
    /** Undefined: it is not of here, or too old. */ open(sealed) {
        const [text = '', signature = ''] = sealed.split('.');
        const expected = this.sign(text);
        const given = Buffer.from(signature, 'base64url');
        if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
        const content = JSON.parse(Buffer.from(text, 'base64url').toString());
        return content.endsMs > this.nowMs() ? content.value : undefined;
    }
    sign(text) {
        return createHmac('sha256', this.key).update(text).digest();
    }
}

//# sourceMappingURL=seal.js.map