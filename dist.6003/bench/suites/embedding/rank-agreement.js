/** Places by value, ties in their order. */ function placesOf(values) {
    const order = Array.from(values.keys()).sort((a, b)=>values[a] - values[b] || a - b);
    const places = new Float64Array(values.length);
    for (const [place, at] of order.entries())places[at] = place;
    return places;
}
/** Spearman's rank correlation of numbers without ties. */ export function spearman(a, b) {
    const [one, other] = [
        placesOf(a),
        placesOf(b)
    ];
    const count = a.length;
    let squares = 0;
    for (const [at, place] of one.entries())squares += (place - other[at]) ** 2;
    return 1 - 6 * squares / (count * (count ** 2 - 1));
}
/** The products of a vector with all others. */ function similarities(vectors, own) {
    const query = vectors[own];
    const others = vectors.filter((_, at)=>at !== own);
    return Float64Array.from(others, (other)=>{
        let product = 0;
        for(let i = 0; i < query.length; i += 1)product += query[i] * (other[i] ?? 0);
        return product;
    });
}
/**
 * How alike two encoders order texts: of each of the first `queries` texts, the rank correlation of
 * all others by their products with it; the mean of these.
 */ export function rankAgreement(exact, ours, queries) {
    let sum = 0;
    for(let own = 0; own < queries; own += 1){
        sum += spearman(similarities(exact, own), similarities(ours, own));
    }
    return sum / queries;
}

//# sourceMappingURL=rank-agreement.js.map