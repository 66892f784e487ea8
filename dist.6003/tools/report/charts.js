/** Charts as SVG that needs nothing else: Observable Plot draws them without a browser. */ import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
const WIDTH = 720;
const HEIGHT = 180;
const BAR = 20;
const NAME_LENGTH_MAX = 34;
const COLOUR = '#0b7285';
/** A line over time, from 0. */ export function lineChart(title, points) {
    const timed = points.map(({ timeMs, value })=>({
            time: new Date(timeMs),
            value
        }));
    return figure(title, {
        height: HEIGHT,
        x: {
            type: 'utc',
            label: 'UTC'
        },
        y: {
            zero: true,
            nice: true,
            label: null,
            grid: true,
            ticks: 4
        },
        marks: [
            Plot.ruleY([
                0
            ]),
            Plot.lineY(timed, {
                x: 'time',
                y: 'value',
                stroke: COLOUR,
                strokeWidth: 2
            })
        ]
    });
}
const isBounded = ({ low, high })=>low !== undefined && high !== undefined;
/** Horizontal bars, with intervals where they have any. */ export function barChart(title, bars) {
    return figure(title, {
        height: 50 + bars.length * BAR,
        marginLeft: 220,
        marginRight: 60,
        x: {
            zero: true,
            label: null,
            grid: true,
            ticks: 5,
            axis: 'top'
        },
        y: {
            domain: bars.map(({ name })=>name),
            label: null,
            tickSize: 0,
            tickFormat: (name)=>name.slice(0, NAME_LENGTH_MAX)
        },
        marks: [
            Plot.barX(bars, {
                x: 'value',
                y: 'name',
                fill: '#66a3b0'
            }),
            Plot.ruleY(bars.filter(isBounded), {
                x1: 'low',
                x2: 'high',
                y: 'name',
                strokeWidth: 2
            }),
            Plot.text(bars, {
                x: ({ value, high = value })=>high,
                y: 'name',
                text: ({ value })=>Number(value.toPrecision(3)).toString(),
                textAnchor: 'start',
                dx: 6
            })
        ]
    });
}
/** A chart of its own document, under its title. */ function figure(title, options) {
    const { document } = parseHTML('<!doctype html><html lang="en"><body></body></html>');
    const chart = Plot.plot({
        width: WIDTH,
        ariaLabel: title,
        ...options,
        document
    });
    chart.setAttribute('role', 'img');
    const caption = document.createElement('figcaption');
    caption.textContent = title;
    const whole = document.createElement('figure');
    whole.append(caption, chart);
    return whole.outerHTML;
}

//# sourceMappingURL=charts.js.map