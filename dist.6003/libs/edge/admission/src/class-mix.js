/** Share of a class in the mix that a call leaves to those before it. */ const KEPT = 0.99;
/**
 * Classes of recent calls. A call that is refused by its head counts as demand of the class that
 * the mix is due for: credits are shares of what is asked for.
 */ export class ClassMix {
    shares = [
        1 / 3,
        1 / 3,
        1 / 3
    ];
    due = [
        0,
        0,
        0
    ];
    note(cls) {
        for (const [one, share] of this.shares.entries()){
            this.shares[one] = share * KEPT + (one === cls ? 1 - KEPT : 0);
        }
    }
    next() {
        for (const [one, share] of this.shares.entries())this.due[one] = (this.due[one] ?? 0) + share;
        const cls = this.due.indexOf(Math.max(...this.due));
        this.due[cls] = (this.due[cls] ?? 0) - 1;
        return cls;
    }
}

//# sourceMappingURL=class-mix.js.map