/** The name of the cache in a script of planOf. */ export const SCRIPT_CACHE = '$cache';
/**
 * A shell script of the plan for a machine with a card and without Node, run from the repository's
 * root. What a program prints becomes NAME.json among the outputs, what it says NAME.log; one that
 * fails is named and the others go on.
 */ export function scriptOf(tasks) {
    const quoted = (words)=>words.map((word)=>`"${word}"`).join(' ');
    return `#!/bin/sh
# usage: sh SCRIPT CARD_BENCH PYTHON CACHE OUTPUTS
set -u
card_bench=$1 python=$2 cache=$3 outputs=$4 failed=0
mkdir -p "$cache" "$outputs"
run() {
  name=$1
  shift
  if "$@" >"$outputs/$name.part" 2>"$outputs/$name.log"; then
    mv "$outputs/$name.part" "$outputs/$name.json"
  else
    echo "$name failed: $(tail -n 1 "$outputs/$name.log")" >&2
    rm -f "$outputs/$name.part"
    failed=1
  fi
}
${tasks.map(({ name, program, words })=>`run ${name} "$${program}" ${quoted(words)}`).join('\n')}
exit "$failed"
`;
}

//# sourceMappingURL=script.js.map