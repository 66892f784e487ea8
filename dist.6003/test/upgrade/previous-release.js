import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
const git = (...words)=>execFileSync('git', words, {
        encoding: 'utf8'
    }).trim();
/**
 * A release of the history, built in a worktree of its own below .cache/upgrade, once.
 * @param ref a tag, branch or commit
 * @returns its folder
 */ export function previousRelease(ref) {
    const commit = git('rev-parse', '--verify', `${ref}^{commit}`);
    const folder = resolve('.cache', 'upgrade', commit);
    if (!existsSync(join(folder, 'package.json'))) {
        git('worktree', 'add', '--force', '--detach', folder, commit);
    }
    const words = [
        'tools/bootstrap.mjs',
        '--quiet'
    ];
    execFileSync(process.execPath, words, {
        cwd: folder,
        stdio: [
            'ignore',
            2,
            2
        ]
    });
    return folder;
}

//# sourceMappingURL=previous-release.js.map