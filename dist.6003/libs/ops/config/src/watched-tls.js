import { X509Certificate } from "node:crypto";
import { TesseraError } from "../../errors/src/index.js";
import { readTls } from "./key-files.js";
import { markOf } from "./watched-secret.js";
const LOOK_EVERY_MS = 1000;
/**
 * The files of one use of TLS, read again when they change. While what is there does not fit
 * together, as between the writing of a certificate and of its key, the last good ones count.
 * Owner: the main thread.
 */ export class WatchedTls {
    fields;
    paths;
    files;
    mark;
    fault = '';
    listeners = [];
    /** @throws TesseraError CONFIG_INVALID for files that are not what they should be */ constructor(fields, paths){
        this.fields = fields;
        this.paths = paths;
        this.mark = this.marks();
        this.files = readTls(fields, paths);
    }
    get current() {
        return this.files;
    }
    get cert() {
        return this.files.cert;
    }
    get key() {
        return this.files.key;
    }
    get ca() {
        return this.files.ca;
    }
    /** Why the files that are there do not count; '' where they do. */ get reason() {
        return this.fault;
    }
    onChange(listener) {
        this.listeners.push(listener);
    }
    /** Now and then, and never the reason that a process lives. */ watch() {
        setInterval(()=>this.look(), LOOK_EVERY_MS).unref();
    }
    /** Reads the files where they have changed. */ look() {
        const mark = this.marks();
        if (mark === this.mark) return;
        try {
            this.files = readTls(this.fields, this.paths);
            this.mark = mark;
            this.fault = '';
        } catch (thrown) {
            this.fault = TesseraError.from(thrown).message;
            return;
        }
        for (const listener of this.listeners)listener(this.files);
    }
    ends() {
        const { cert, ca } = this.files;
        const { certificate, ca: authority } = this.fields;
        return [
            {
                field: certificate,
                pem: cert
            },
            {
                field: authority,
                pem: ca
            }
        ].flatMap(({ field, pem })=>pem === undefined ? [] : [
                {
                    field,
                    endsMs: Date.parse(new X509Certificate(pem).validTo)
                }
            ]);
    }
    marks() {
        const { certificatePath, keyPath, caPath } = this.paths;
        return [
            certificatePath,
            keyPath,
            caPath
        ].map(markOf).join();
    }
}

//# sourceMappingURL=watched-tls.js.map