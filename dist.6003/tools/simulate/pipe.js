/** A way for bytes that carries one transfer after the other. */ export class Pipe {
    bytesPerUs;
    bytes = 0;
    freeAtUs = 0;
    /** `bytesPerUs`: megabytes a second; 0: endless. */ constructor(bytesPerUs){
        this.bytesPerUs = bytesPerUs;
    }
    /** Until a transfer that comes now begins. */ waitUs(nowUs) {
        return Math.max(0, this.freeAtUs - nowUs);
    }
    /** @returns when so many bytes are through that come at `fromUs` */ carry(bytes, fromUs) {
        this.bytes += bytes;
        if (bytes === 0 || this.bytesPerUs === 0) return fromUs;
        this.freeAtUs = Math.max(this.freeAtUs, fromUs) + bytes / this.bytesPerUs;
        return this.freeAtUs;
    }
}

//# sourceMappingURL=pipe.js.map