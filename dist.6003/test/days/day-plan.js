/** Events of a day, drawn by the seed; pure but for the random numbers that it takes. */ export const BRANDS = [
    'bread',
    'bikes',
    'books'
];
const PLACES = [
    'north',
    'south',
    'east',
    'west'
];
const LEVEL_CODES = 8;
const ADS_MIN = 40;
const ADS_MAX = 160;
const BIDS = 100;
/** Days after which each of these happens, on the mean. */ const EVERY = {
    campaign: 3,
    erase: 3,
    push: 2,
    rollBack: 12,
    compact: 9,
    kill: 15,
    restart: 20,
    base: 30
};
const USERS_NEW_SHARE = 0.2;
const EVENTS_OF_A_USER_MAX = 200;
const EVENT_MS = 60_000;
/** How many of the newest events of all users a cap may reach back over. */ const CAPPED_EVENTS = 400;
const CAPS_MAX = 2;
export class DayPlan {
    random;
    model;
    firstMs;
    ads = 0;
    users = 0;
    events = 0;
    pushes = 0;
    constructor(random, model, /** Of the first behaviour; they follow by a minute. */ firstMs){
        this.random = random;
        this.model = model;
        this.firstMs = firstMs;
    }
    /** Events of the next day; each is to be done before the next is taken. */ *day() {
        yield* this.morning();
        for(let visits = 1 + this.random.below(4); visits > 0; visits -= 1){
            const userId = this.userId();
            yield {
                kind: 'behaviours',
                events: this.behaviours(userId)
            };
            yield this.recall(userId);
        }
        if (this.happens(EVERY.campaign)) yield this.campaign();
        if (this.happens(EVERY.push)) yield {
            kind: 'push adapter',
            seed: ++this.pushes
        };
        if (this.happens(EVERY.rollBack)) yield {
            kind: 'roll adapter back'
        };
        if (this.happens(EVERY.compact)) yield {
            kind: 'compact'
        };
        if (this.happens(EVERY.erase)) yield* this.erasure();
        if (this.happens(EVERY.kill)) yield {
            kind: 'kill'
        };
        if (this.happens(EVERY.restart)) yield {
            kind: 'restart'
        };
        if (this.happens(EVERY.base)) yield {
            kind: 'change base'
        };
        yield this.recall(this.userId());
    }
    ad() {
        this.ads += 1;
        const sid = [
            0,
            0,
            0
        ].map(()=>this.random.below(LEVEL_CODES));
        return {
            itemId: `ad ${this.ads}`,
            sid,
            isPaused: false,
            ...this.attributes()
        };
    }
    attributes() {
        return {
            brand: this.one(BRANDS),
            bid: this.random.below(BIDS),
            places: PLACES.filter(()=>this.random.below(2) === 0)
        };
    }
    *morning() {
        const { size } = this.model.ads;
        const few = 1 + this.random.below(8);
        if (size < ADS_MAX) yield {
            kind: 'begin ads',
            ads: Array.from({
                length: few
            }, ()=>this.ad())
        };
        if (size > ADS_MIN) {
            const itemIds = new Set(Array.from({
                length: few
            }, ()=>this.known().itemId));
            yield {
                kind: 'end ads',
                itemIds: [
                    ...itemIds
                ]
            };
        }
        const ad = this.known();
        yield {
            kind: ad.isPaused ? 'resume' : 'pause',
            itemId: ad.itemId
        };
        yield {
            kind: 'change attributes',
            ad: {
                ...this.known(),
                ...this.attributes()
            }
        };
    }
    campaign() {
        const form = this.one([
            'pause',
            'resume',
            'raise'
        ]);
        const condition = this.condition(2);
        if (form !== 'raise') return {
            kind: 'campaign',
            condition,
            edit: {
                form
            }
        };
        const edit = {
            form,
            bid: this.random.below(9) - 4,
            place: this.one(PLACES)
        };
        return {
            kind: 'campaign',
            condition,
            edit
        };
    }
    *erasure() {
        if (this.model.users.size > 0) yield {
            kind: 'erase',
            userId: this.one([
                ...this.model.users.keys()
            ])
        };
    }
    behaviours(userId) {
        const last = this.model.users.get(userId)?.at(-1);
        const again = last !== undefined && this.random.below(4) === 0 ? [
            last
        ] : [];
        const fresh = Array.from({
            length: 1 + this.random.below(3)
        }, ()=>{
            this.events += 1;
            return {
                userId,
                eventId: `event ${this.events}`,
                itemId: this.known().itemId,
                timeMs: this.firstMs + this.events * EVENT_MS
            };
        });
        return [
            ...again,
            ...fresh
        ];
    }
    recall(userId) {
        const count = Math.max(0, this.random.below(CAPS_MAX + 3) - 2);
        const caps = Array.from({
            length: count
        }, ()=>this.cap());
        return this.random.below(2) === 0 ? {
            kind: 'recall',
            userId,
            caps
        } : {
            kind: 'recall',
            userId,
            caps,
            condition: this.condition(2)
        };
    }
    /** Halfway between two events: a second more or less makes no difference. */ cap() {
        const since = this.events - this.random.below(CAPPED_EVENTS);
        const attribute = this.one([
            '',
            'brand'
        ]);
        const maxBehaviours = 1 + this.random.below(attribute === '' ? 2 : 12);
        return {
            attribute,
            maxBehaviours,
            sinceMs: this.firstMs + (since + 0.5) * EVENT_MS
        };
    }
    condition(depth) {
        const form = this.random.below(depth > 0 ? 6 : 3);
        if (form === 0) return {
            in: {
                attribute: 'brand',
                values: [
                    this.one(BRANDS)
                ]
            }
        };
        if (form === 1) {
            return {
                contains: {
                    attribute: 'places',
                    values: [
                        this.one(PLACES),
                        this.one(PLACES)
                    ]
                }
            };
        }
        if (form === 2) {
            const min = this.random.below(BIDS);
            const max = min + this.random.below(BIDS);
            return {
                range: {
                    attribute: 'bid',
                    min,
                    max
                }
            };
        }
        if (form === 3) return {
            not: this.condition(depth - 1)
        };
        const predicates = [
            this.condition(depth - 1),
            this.condition(depth - 1)
        ];
        return form === 4 ? {
            all: {
                predicates
            }
        } : {
            any: {
                predicates
            }
        };
    }
    userId() {
        const { users } = this.model;
        const known = [
            ...users
        ].filter(([, events])=>events.length < EVENTS_OF_A_USER_MAX);
        if (known.length === 0 || this.random.uniform() < USERS_NEW_SHARE) {
            this.users += 1;
            return `user ${this.users}`;
        }
        return this.one(known)[0];
    }
    known() {
        return this.one([
            ...this.model.ads.values()
        ]);
    }
    happens(everyDays) {
        return this.random.below(everyDays) === 0;
    }
    one(list) {
        return list[this.random.below(list.length)];
    }
}

//# sourceMappingURL=day-plan.js.map