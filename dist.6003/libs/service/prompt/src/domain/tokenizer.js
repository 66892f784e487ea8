/** The tokenizer as templates see it. Pure; nothing is added around the text. */ export { };

//# sourceMappingURL=tokenizer.js.map