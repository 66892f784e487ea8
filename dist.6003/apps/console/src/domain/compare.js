/** The items that two answers have in common, and the changes between them. */ /** An item in an answer. */ export function compareAnswers(left, right) {
    const onRight = new Map(right.map((item)=>[
            item.itemId,
            item
        ]));
    const onLeft = new Set(left.map((item)=>item.itemId));
    const ofLeft = left.map((item)=>{
        const { itemId, title, rank: leftRank, score: leftScore } = item;
        const other = onRight.get(itemId);
        return other === undefined ? {
            itemId,
            title,
            leftRank,
            leftScore
        } : {
            itemId,
            title,
            leftRank,
            leftScore,
            rightRank: other.rank,
            rightScore: other.score
        };
    });
    const gained = right.filter((item)=>!onLeft.has(item.itemId)).map(({ itemId, title, rank, score })=>({
            itemId,
            title,
            rightRank: rank,
            rightScore: score
        }));
    const shifts = ofLeft.flatMap(({ leftRank, rightRank })=>leftRank === undefined || rightRank === undefined ? [] : [
            Math.abs(leftRank - rightRank)
        ]);
    const all = ofLeft.length + gained.length;
    return {
        items: [
            ...ofLeft,
            ...gained
        ],
        shared: shifts.length,
        lost: ofLeft.length - shifts.length,
        gained: gained.length,
        overlap: all === 0 ? 1 : shifts.length / all,
        rankShift: shifts.length === 0 ? 0 : shifts.reduce((sum, one)=>sum + one, 0) / shifts.length
    };
}
/** Values of an attribute that are counted by name; the others are counted together. */ export const VALUES_MAX = 20;
export const OTHER_VALUES = '(others)';
/** Counts attributes that are texts or lists of texts. */ export class AttributeCounts {
    counts = new Map();
    add(side, attributes) {
        for (const [name, value] of Object.entries(attributes)){
            const values = (Array.isArray(value) ? value : [
                value
            ]).filter((one)=>typeof one === 'string');
            for (const one of values)this.count(name, one)[side] += 1;
        }
    }
    distribution() {
        const entries = [
            ...this.counts
        ].map(([name, values])=>[
                name,
                topValues(values)
            ]);
        return Object.fromEntries(entries);
    }
    count(name, value) {
        const values = this.counts.get(name) ?? new Map();
        this.counts.set(name, values);
        const found = values.get(value) ?? {
            left: 0,
            right: 0
        };
        values.set(value, found);
        return found;
    }
}
function topValues(values) {
    const total = ({ left, right })=>left + right;
    const sorted = [
        ...values
    ].sort(([a, x], [b, y])=>total(y) - total(x) || (a < b ? -1 : 1));
    const named = sorted.slice(0, VALUES_MAX);
    const others = sorted.slice(VALUES_MAX).reduce((sum, [, { left, right }])=>({
            left: sum.left + left,
            right: sum.right + right
        }), {
        left: 0,
        right: 0
    });
    const all = total(others) === 0 ? named : [
        ...named,
        [
            OTHER_VALUES,
            others
        ]
    ];
    return Object.fromEntries(all);
}

//# sourceMappingURL=compare.js.map