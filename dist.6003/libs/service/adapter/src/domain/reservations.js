/** Bytes that pushes under way have reserved; each gives back its own. */ export class Reservations {
    open = new Set();
    get bytes() {
        return [
            ...this.open
        ].reduce((sum, { bytes })=>sum + bytes, 0);
    }
    /** @returns what gives them back; idempotent */ add(bytes) {
        const reservation = {
            bytes
        };
        this.open.add(reservation);
        return ()=>void this.open.delete(reservation);
    }
}

//# sourceMappingURL=reservations.js.map