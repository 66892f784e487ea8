/** Answers to the questions of analysts (docs/operate/analysis.md defines each figure). */ /** A share of successes with the bounds of its 95 % interval (Wilson 1927). */ /** An export on its way. */ export { };

//# sourceMappingURL=answers.js.map