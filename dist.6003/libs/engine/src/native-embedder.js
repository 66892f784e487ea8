import { addon } from "./addon.js";
import { awaitNative, callNative } from "./native-error.js";
/** A model of texts: token ids in, vectors out. Passes of one model wait for each other. */ export class NativeEmbedder {
    handle;
    info;
    constructor(handle, info){
        this.handle = handle;
        this.info = info;
    }
    /** @throws TesseraError MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT, ENGINE_OVERLOADED */ static async open(options) {
        const handle = await awaitNative(()=>addon().embedderOpen(options));
        return new NativeEmbedder(handle, callNative(()=>addon().embedderInfo(handle)));
    }
    /**
   * One pass: the vectors of all texts end to end. `seconds`: per text where its second segment
   * begins; left out: no text has one.
   * @throws TesseraError REQUEST_INVALID, MODEL_NOT_FINITE
   */ embed(texts, seconds = []) {
        const { tokens, offsets } = endToEnd(texts);
        return awaitNative(()=>addon().embedderEmbed(this.handle, tokens, offsets, Uint32Array.from(seconds)));
    }
    /**
   * Writes the static scales that `w8a8-static` needs beside the encoder's checkpoint, as measured
   * over these texts by this model, which computes in f32.
   * @throws TesseraError REQUEST_INVALID, MODEL_INVALID, MODEL_NOT_FINITE, IO_FAILED
   */ measure(texts) {
        const { tokens, offsets } = endToEnd(texts);
        return awaitNative(()=>addon().embedderMeasure(this.handle, tokens, offsets));
    }
    /** Idempotent. Passes under way end first. */ close() {
        callNative(()=>addon().embedderClose(this.handle));
    }
}
function endToEnd(texts) {
    const offsets = new Uint32Array(texts.length + 1);
    for (const [i, text] of texts.entries())offsets[i + 1] = (offsets[i] ?? 0) + text.length;
    const tokens = new Uint32Array(offsets[texts.length] ?? 0);
    for (const [i, text] of texts.entries())tokens.set(text, offsets[i]);
    return {
        tokens,
        offsets
    };
}

//# sourceMappingURL=native-embedder.js.map