"""Times are what they say on every way in, ties keep the file's order, repeated rows count once."""

import json

import pytest

from trainer.behaviours import read_file
from trainer.data import read_titles
from trainer.errors import InputError
from trainer.exposures import read_exposures
from trainer.logs import read_log, read_profiles
from trainer.sequences import read_users
from trainer.times import check_time

#: 24 November 2026; a click of May 2020.
NOW, CLICK = 1_795_500_000.0, 1_588_687_728.0


@pytest.mark.parametrize(("value", "unit", "moment"), [
    (0, "seconds", 0), (CLICK, "seconds", CLICK), (CLICK * 1e3, "milliseconds", CLICK),
    (NOW + 299, "seconds", NOW + 299), (7, "seconds", 7), (7, "milliseconds", 0.007)])
def test_a_time_is_taken(value, unit, moment):
    assert check_time(value, "t", unit, NOW) == pytest.approx(moment)


@pytest.mark.parametrize(("value", "unit", "said"), [
    (CLICK * 1e3, "seconds", "looks like milliseconds .name the column time_ms"),
    (CLICK, "milliseconds", "looks like seconds"),
    (CLICK * 1e6, "seconds", "looks like microseconds"),
    (NOW + 301, "seconds", "at most five minutes ahead, got '1795500301'"),
    (-62_135_596_800, "seconds", "not negative")])
def test_a_time_of_another_unit_is_refused_with_that_unit(value, unit, said):
    with pytest.raises(InputError, match=said):
        check_time(value, "t", unit, NOW)


def test_every_way_in_refuses_milliseconds_taken_for_seconds(tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text(f"user_id\titem_id\ttimestamp\nu\ta\t{CLICK * 1e3:.0f}\n")
    with pytest.raises(InputError, match="line 2: timestamp: .*looks like milliseconds"):
        read_log(log)
    lines = tmp_path / "users.jsonl"
    lines.write_text(json.dumps({"user": "u", "history": ["a"], "times": [CLICK * 1e3]}))
    with pytest.raises(InputError, match=r"times\[0\]: .*looks like milliseconds"):
        read_users(lines)
    events = tmp_path / "events.jsonl"
    events.write_text(json.dumps({"user_id": "u", "item_id": "a", "time_ms": CLICK}))
    with pytest.raises(InputError, match="time_ms: .*looks like seconds"):
        read_file(events, {})


def test_ties_keep_the_order_of_the_file_and_repeated_rows_count_once(tmp_path, capsys):
    log = tmp_path / "log.tsv"
    rows = [("u", "b", 20), ("u", "c", 10), ("u", "a", 20), ("u", "b", 20), ("u", "b", 30)]
    log.write_text("user\titem\ttime\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    assert [one.item for one in read_log(log)["u"]] == ["c", "b", "a", "b"]
    printed = capsys.readouterr().out
    assert "1 rows repeat user, item, time and action" in printed
    assert "25.0% of the behaviours have the time of the one before" in printed


@pytest.mark.parametrize(("reads", "text", "said"), [
    (read_log, "user\titem\ttime\ttime\nu\ta\t1\t2\n", "line 1: expected one column time, got"),
    (read_log, "user\titem\ttime\nu\ta\t1\nu\t" + "x" * 140_000 + "\t1\n",
     "log.tsv line 3: expected columns of at most 131,072 characters .*field larger"),
    (read_log, "user\titem\ttime\nu\ta\t1\nu\ta\n", "line 3: expected 3 columns, got 2"),
    (read_profiles, "user\tage\tage\nu\t1\t2\n", "line 1: expected one column age, got"),
    (read_exposures, "user\ttime\titem\tclick\tclick\nu\t1\ta\t1\t0\n",
     "line 1: expected one column click, got"),
    (read_titles, "item\ttitle\na\t" + "x" * 140_000 + "\n", "log.tsv line 2: .*field larger"),
])
def test_a_table_that_is_not_read_as_it_stands_is_refused_by_line(tmp_path, reads, text, said):
    (tmp_path / "log.tsv").write_text(text)
    with pytest.raises(InputError, match=said):
        reads(tmp_path / "log.tsv")
