"""The readers take the documented formats and name the place of what they refuse."""

import gzip
import json
import re
import subprocess
import sys

import pytest

from trainer.data import read_index, read_titles
from trainer.errors import InputError
from trainer.sequences import read_users
from trainer.tokens import build_tokenizer, build_vocabulary


def write(folder, name, value):
    path = folder / name
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_integer_codes_get_ids_by_level_and_code(tmp_path):
    index = read_index(write(tmp_path, "index.json", {"7": [0, 2], "8": [1, 0]}))
    vocabulary = build_vocabulary(index)
    first = vocabulary.id_of("<a_0>")
    assert vocabulary.item_tokens((1, 2)) == [first + 1, first + 4]


def test_named_tokens_get_ids_in_string_order_and_only_those_present_exist(tmp_path):
    codes = {"1": ["<a_11>", "<b_3>"], "2": ["<a_100>", "<b_3>"]}
    vocabulary = build_vocabulary(read_index(write(tmp_path, "x.index.json", codes)))
    assert vocabulary.texts[-3:] == ["<a_100>", "<a_11>", "<b_3>"]
    tokenizer = build_tokenizer(vocabulary)
    ids = tokenizer.encode("<a_11><b_3>", add_special_tokens=False).ids
    assert ids == vocabulary.item_tokens((11, 3))


@pytest.mark.parametrize(("index", "said"), [
    ({}, "at least one item"),
    ({"1": ["<a_1>", "<b_1>"], "2": ["<c_1>"]}, "'2': expected the level patterns"),
    ({"1": [1, -2]}, "item '1' level 1"),
    ({"1": [1, 2.5]}, "item '1' level 1"),
    ({"1": [True, 2]}, "item '1' level 0"),
    ({"1": ["<a_1>"], "2": [1]}, "'2': expected tokens"),
    ({"1": ["<a_1>"], "2": ["<b_1>"]}, "'2': expected the level patterns"),
    ({"1": ["17"]}, "a token with one decimal code"),
    ('{"1": [1], "1": [2]}', "unique keys"),
    ('{"1": [1', "line 1 column"),
])
def test_a_bad_index_is_refused_with_its_place(tmp_path, index, said):
    path = write(tmp_path, "index.json", index)
    with pytest.raises(InputError, match="expected") as caught:
        read_index(path)
    assert said in str(caught.value)


def test_a_sequence_with_an_unknown_item_names_user_and_position(tmp_path):
    index = read_index(write(tmp_path, "index.json", {"1": [0], "2": [1]}))
    path = write(tmp_path, "inter.json.gz", {"u": [1, 2, 9]})
    with pytest.raises(InputError, match="user 'u' position 2"):
        read_users(path, index)


def test_of_several_lines_of_one_user_the_longest_is_kept(tmp_path):
    rows = [{"user": "u", "history": [1], "target": 2}, {"user": "u", "history": [1, 2, 3]},
            {"user": "u", "history": [1]}]
    path = write(tmp_path, "rows.jsonl", "\n".join(map(json.dumps, rows)))
    assert {user: one.items for user, one in read_users(path).items()} == {"u": ["1", "2", "3"]}


def test_half_a_gzip_file_is_refused(tmp_path):
    path = tmp_path / "inter.json.gz"
    path.write_bytes(gzip.compress(b'{"u": [1, 2]}')[:-6])
    with pytest.raises(InputError, match="a whole gzip file"):
        read_users(path)


def test_titles_come_from_tsv_and_from_item_json(tmp_path):
    tsv = write(tmp_path, "items.tsv", "item\tasin\ttitle\tsid_x\n5\tB0\tSoap \"big\"\t1-2\n")
    found = read_titles(tsv)["5"]
    assert (found.title, found.attributes) == ('Soap "big"', {"asin": "B0"})
    other = write(tmp_path, "item.json", {"5": {"title": "Soap", "brand": "X",
                                                "description": "long"}})
    assert read_titles(other)["5"].attributes == {"brand": "X"}


@pytest.mark.parametrize(("name", "items", "said"), [
    ("items.tsv", "item\ttitle\na\tred\n\tgreen\n", "items.tsv line 3: .* 1 to 128 .* got ''"),
    ("items.tsv", "item\ttitle\n" + "x" * 300 + "\tred\n", "items.tsv line 2: .* 1 to 128"),
    ("items.tsv", "item\ttitle\na\tred\nb\t\na\tgreen\n",
     "items.tsv line 4: expected an item that no line before has, got 'a'"),
    ("items.tsv", "item\ttitle\ttitle\na\tred\tgreen\n", "line 1: expected one column title"),
    ("items.json", {"a": "red", "": "green"}, "items.json: item '': .* 1 to 128 .* got ''"),
])
def test_items_that_no_index_can_have_are_refused_by_line(tmp_path, name, items, said):
    with pytest.raises(InputError, match=said):
        read_titles(write(tmp_path, name, items))


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "1" + 400 * "0"])
def test_an_attribute_that_is_no_number_of_the_service_is_refused(number, tmp_path):
    path = write(tmp_path, "item.json", '{"i1": {"title": "x", "price": %s}}' % number)
    with pytest.raises(InputError, match="item.json: item 'i1': price: expected a number"):
        read_titles(path)


def test_a_number_of_thousands_of_digits_is_refused(tmp_path):
    with pytest.raises(InputError, match="item.json: expected JSON with numbers of usual sizes"):
        read_titles(write(tmp_path, "item.json", '{"i1": {"price": 1%s}}' % (5000 * "0")))


def test_a_byte_order_mark_is_no_part_of_a_text_and_utf16_is_named(tmp_path):
    path = tmp_path / "items.tsv"
    path.write_bytes(b"\xef\xbb\xbfitem\ttitle\n1\tred\n")
    assert read_titles(path)["1"].title == "red"
    path.write_bytes("item\ttitle\n".encode("utf-16"))
    with pytest.raises(InputError, match="expected UTF-8, got 'UTF-16'"):
        read_titles(path)


def test_a_python_without_the_client_is_told_in_one_line():
    words = "import sys; sys.modules['tessera_client'] = None; import trainer.__main__"
    found = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert found.returncode == 1
    assert re.fullmatch(r"error: tessera_client.*: expected what trainer/requirements.txt "
                        r"installs, got no such module\n", found.stderr)
