"""The template that a training writes its prompts by, and serves: one given with `--prompt`, that
of the checkpoint in `--from`, or `<|bos|>` and one history."""

import re
import statistics
from dataclasses import replace
from pathlib import Path

from .data import SidIndex, level_pattern
from .errors import InputError
from .export import prompt_document
from .history import User, Users
from .prompts import PromptWriter
from .template import PROMPT_TOKENS_MAX, Template, parse_template, read_template
from .tokens import BOS, EOS, PAD

#: Items that a prompt shows where neither template nor flag says how many: a median within these.
LEAST_ITEMS, MOST_ITEMS = 20, 100
#: Texts of a template that become tokens of a vocabulary that has none for them.
TOKEN_TEXT = re.compile(r"<\|[^<>|\s]+\|>")


def usual_items(users: Users) -> int:
    """The median of the users' behaviours, within bounds."""
    median = int(statistics.median(len(user.behaviours) for user in users.values()))
    return min(MOST_ITEMS, max(LEAST_ITEMS, median))


def default_template(patterns: list[str], shown: int) -> Template:
    """`<|bos|>` and the newest items."""
    return parse_template(prompt_document("sequence", patterns, shown, shown * len(patterns) + 1))


def trained_template(prompt: str | None, start_from: str | None, max_items: int | None,
                     index: SidIndex, users: Users) -> tuple[Template, SidIndex]:
    """The template, and the index with its patterns. Errors: InputError where the template has what
    a training cannot do, or other tokens than the index names."""
    path = Path(prompt) if prompt else Path(start_from or "") / "prompt.json"
    if not prompt and not (start_from and path.exists()):
        return default_template(index.patterns, max_items or usual_items(users)), index
    if max_items is not None:
        raise InputError("--max-items", f"none: {path} says how many items its histories show",
                         max_items)
    template = read_template(path)
    _check_trainable(template, path, start_from)
    patterns = [str(form) for form in template.levels]
    own = index.patterns if index.from_tokens else []
    for level, (ours, theirs) in enumerate(zip(patterns, own, strict=False)):
        if ours != theirs:
            raise InputError(f"{path}: levels[{level}]", f"{theirs} as the index has it", ours)
    patterns += [own[level] if own else level_pattern(level)
                 for level in range(len(patterns), index.depth)]
    document = {**template.document, "levels": patterns}
    return parse_template(document, str(path)), replace(index, patterns=patterns[:index.depth])


def _check_trainable(template: Template, path: Path, start_from: str | None) -> None:
    for level, form in enumerate(template.levels):
        if not isinstance(form, str):
            raise InputError(f"{path}: levels[{level}]", "a pattern with {code}: a training makes "
                             "tokens by their texts", form)
    if template.terminal:
        raise InputError(f"{path}: answer.terminal", "none: the search of a training ends a path "
                         "with its last code", template.terminal)
    if not template.histories:
        raise InputError(f"{path}: segments", "one history or more", "none")
    if template.max_tokens == PROMPT_TOKENS_MAX and not start_from:
        raise InputError(f"{path}: maxPromptTokens", "a number: a model from scratch is made "
                         "for it", None)


def template_tokens(template: Template) -> list[str]:
    """Texts such as <|daypart_night|> that the template writes, in its order."""
    known = [re.escape(str(form)).replace(r"\{code\}", r"\d+") for form in template.levels]
    known += map(re.escape, (BOS, EOS, PAD))
    found = (token for text in template.texts() for token in TOKEN_TEXT.findall(text))
    return list(dict.fromkeys(token for token in found
                              if not any(re.fullmatch(one, token) for one in known)))


def check_users(writer: PromptWriter, users: Users, where: str) -> None:
    """Refuses users of whom prompts cannot be written as they are served: the actions or times that
    the template's histories go by are missing."""
    needed = []
    if writer.template.uses_actions:
        needed.append(("actions", lambda user: all(one.action for one in user.behaviours)))
    if writer.template.uses_times:
        needed.append(("times", lambda user: user.has_times))
    for name, user in users.items():
        for field, has in needed:
            if not has(user):
                raise InputError(f"{where}: user {name!r}",
                                 f"{field}: the template's histories go by them", "none")


def check_values(writer: PromptWriter, users: Users, where: str) -> None:
    """Refuses values that the service refuses, and a slot that no user has a value for: a model
    would be served with prompts that it has never seen."""
    missing = {(slot.kind, slot.key) for slot in writer.template.values}
    for name, user in users.items():
        try:
            _check_user(writer, user)
        except InputError as error:
            raise InputError(f"{where}: user {name!r}: {error.where}", error.expected,
                             error.got) from error
        missing -= {("profile", key) for key in user.profile}
        missing -= {("scene", key) for one in user.behaviours for key in one.scene}
    for kind, key in sorted(missing):
        raise InputError(f"{where}: {kind}", f"a {key} in some {kind}, as the template writes it",
                         "none")


def _check_user(writer: PromptWriter, user: User) -> None:
    if not user.behaviours:
        writer.check_values(user.profile)
    for scene in {tuple(sorted(one.scene.items())) for one in user.behaviours}:
        writer.check_values(user.profile, dict(scene))
