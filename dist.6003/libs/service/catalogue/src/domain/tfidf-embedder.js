import { expecting } from "../../../../ops/errors/src/index.js";
import { inSlices } from "../../../../ops/turns/src/index.js";
import { partsOf, wordsOf } from "./words.js";
const invalid = expecting('CATALOGUE_INVALID');
/** Characters of a text at most: as many as a title has bytes. */ const TEXT_CHARACTERS_MAX = 65_535;
/** Sum of squares from the first number to the last, and its root. */ function lengthOf(numbers) {
    let sum = 0;
    for(let i = 0; i < numbers.length; i++)sum += numbers[i] ** 2;
    return Math.sqrt(sum);
}
/**
 * TF-IDF and a truncated SVD, as the trainer has them (trainer/semantic_ids/text_embedding.py), bit
 * for bit: float64 in one order, rounded to float32 at the end.
 */ export class TfidfEmbedder {
    numbers;
    name = 'TF-IDF';
    dimension;
    places;
    constructor(numbers){
        this.numbers = numbers;
        const { words, components } = numbers;
        this.dimension = components.length / words.length;
        this.places = new Map(words.map((word, place)=>[
                word,
                place
            ]));
    }
    embed(texts, fieldOf) {
        return inSlices(texts, (text, index)=>this.vectorOf(text, ()=>fieldOf(index)));
    }
    vectorOf(text, field) {
        if (text.length > TEXT_CHARACTERS_MAX) {
            throw invalid(field(), `at most ${TEXT_CHARACTERS_MAX} characters`, text.length);
        }
        const counts = new Map();
        for (const word of wordsOf(text)){
            for (const part of this.places.has(word) ? [
                word
            ] : partsOf(word)){
                const place = this.places.get(part);
                if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
            }
        }
        if (counts.size === 0) {
            throw invalid(field(), 'a text with a word, or a part of one, of the vocabulary', text);
        }
        return this.project(counts);
    }
    project(counts) {
        const { idf, components } = this.numbers;
        const places = [
            ...counts.keys()
        ].sort((a, b)=>a - b);
        const weights = Float64Array.from(places, (place)=>Math.sqrt(counts.get(place) ?? 0) * idf[place]);
        const weightLength = lengthOf(weights);
        const total = new Float64Array(this.dimension);
        for(let word = 0; word < places.length; word++){
            const weight = weights[word] / weightLength;
            const first = places[word] * this.dimension;
            for(let i = 0; i < total.length; i++){
                total[i] = total[i] + weight * components[first + i];
            }
        }
        const length = lengthOf(total);
        return length > 0 ? Float32Array.from(total, (sum)=>sum / length) : new Float32Array(total);
    }
}

//# sourceMappingURL=tfidf-embedder.js.map