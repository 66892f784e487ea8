/** A suite of stages, one after another; `--stage` names some of them. */ export const staged = (stages)=>async (context)=>{
        const names = Object.keys(stages);
        const measurements = [];
        for (const name of context.flags.someOf('stage', names, names)){
            measurements.push(...await stages[name](context));
        }
        return measurements;
    };

//# sourceMappingURL=suite.js.map