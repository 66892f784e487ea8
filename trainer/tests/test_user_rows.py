"""Rows of users: all that may be learnt from is, as the prompts of the template show it."""

import numpy as np
import pytest
from tokenizers.pre_tokenizers import ByteLevel

from trainer.history import Behaviour, User, answers_of
from trainer.prompts import PromptItem, PromptWriter
from trainer.template import parse_template
from trainer.tokens import BOS, Vocabulary, build_tokenizer
from trainer.user_rows import Augmentation, UserRows

FIRST = 1000
PAGES = ("home", "search")


def rows_of(user, segments, augmentation=Augmentation(), actions=None, **more):
    document = {"version": 1, "name": "t", "levels": ["<a_{code}>"], "segments": segments, **more}
    texts = [*sorted(ByteLevel.alphabet()), BOS, *PAGES]
    tokenizer = build_tokenizer(Vocabulary(texts, [], [], []))
    items = {str(i): PromptItem((FIRST + i,)) for i in range(60)}
    writer = PromptWriter(parse_template(document), tokenizer, items)
    return UserRows({"u": user}, writer, answers_of(actions), augmentation), tokenizer


PLAIN = [{"text": BOS}, {"slot": "history", "maxItems": 5}]


def test_of_a_user_who_fits_there_is_one_row():
    rows, tokenizer = rows_of(User([Behaviour(str(i)) for i in range(6)]), PLAIN)
    [row] = rows.epoch(np.random.default_rng(0))
    assert row.tokens == [tokenizer.token_to_id(BOS), *range(FIRST, FIRST + 6)]
    assert row.counted == [False] + [True] * 6


@pytest.mark.parametrize("more", [{}, {"trimStep": 3}])
def test_rows_of_a_long_history_cover_all_of_it_and_show_no_more_than_is_served(more):
    rows, _ = rows_of(User([Behaviour(str(i)) for i in range(60)]), PLAIN, **more)
    for seed in range(50):
        found = rows.epoch(np.random.default_rng(seed))
        counted = [token for row in found for token, has in zip(row.tokens, row.counted) if has]
        assert set(counted) == set(range(FIRST, FIRST + 60)), f"seed {seed}"
        assert max(len(row.tokens) for row in found) <= 7
        assert len(found) <= 60


@pytest.mark.parametrize("augmentation", [Augmentation(), Augmentation(0.3, 2.0, 1.0)])
def test_an_answer_stands_in_its_own_scene_and_is_of_an_action_that_is_asked_for(augmentation):
    pages = {str(i): PAGES[i % 2] for i in range(40)}
    done = [Behaviour(str(i), 1.0 + i, "click" if i % 3 else "view", {"page": pages[str(i)]})
            for i in range(40)]
    scene = {"slot": "scene", "key": "page", "values": {page: page for page in PAGES}}
    rows, tokenizer = rows_of(User(done), [*PLAIN, scene], augmentation, ["click"])
    ends = set()
    for seed in range(20):
        for row in rows.epoch(np.random.default_rng(seed)):
            *_, page, answer = row.tokens
            item = str(answer - FIRST)
            assert page == tokenizer.token_to_id(pages[item]), f"seed {seed}"
            assert int(item) % 3 > 0
            ends.add(item)
            for token, has in zip(row.tokens, row.counted, strict=True):
                assert has == (token >= FIRST and (token - FIRST) % 3 > 0)
    # Rows end everywhere, not at the newest behaviour alone.
    assert len(ends) >= 20


def test_shuffled_items_keep_the_times_in_order():
    done = [Behaviour(str(i), 100.0 * (i + 1)) for i in range(30)]
    gaps = [{"atLeastSeconds": 1, "text": "home"}]
    segments = [{"text": BOS}, {"slot": "history", "timeGaps": gaps}]
    rows, tokenizer = rows_of(User(done), segments, Augmentation(0.0, 3.0, 1.0))
    home = tokenizer.token_to_id("home")
    row = max(rows.epoch(np.random.default_rng(1)), key=lambda one: len(one.tokens))
    items = [token for token in row.tokens if token >= FIRST]
    assert items != sorted(items)
    assert row.tokens.count(home) == len(items) - 2
