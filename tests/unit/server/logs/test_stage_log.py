"""Ids from outside become names that stay in their folder, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.logs.stage_log import LogKeyError, StageLogKey, deployment_folder, log_folder, log_key

IDS = st.text(st.characters(), min_size=1, max_size=16)
KEYS = st.builds(StageLogKey, IDS, IDS, st.integers(0, 2**31))


@given(KEYS)
def test_an_object_name_leads_back_to_its_log(key: StageLogKey) -> None:
    assert log_key(f"{log_folder(key)}completed") == key


@given(KEYS)
def test_a_folder_has_three_harmless_names(key: StageLogKey) -> None:
    names = log_folder(key).split("/")

    assert len(names) == 4
    assert not [name for name in names[:3] if not name or "." in name or "\0" in name or len(name) > 200]


@given(KEYS, KEYS)
def test_two_logs_never_share_a_folder(one: StageLogKey, other: StageLogKey) -> None:
    assert (log_folder(one) == log_folder(other)) == (one == other)


def test_plain_ids_stay_readable() -> None:
    assert log_folder(StageLogKey("6f1c-77", "stage_2", 3)) == "6f1c-77/stage_2/3/"


def test_a_path_in_an_id_is_only_a_name() -> None:
    assert deployment_folder("../../etc") == "=2e=2e=2f=2e=2e=2fetc/"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        pytest.param(
            StageLogKey("", "s", 0),
            "expected a deployment id of 1 to 200 plain characters, found an empty one",
            id="no deployment",
        ),
        pytest.param(
            StageLogKey("d", "", 0),
            "expected a stage id of 1 to 200 plain characters, found an empty one",
            id="no stage",
        ),
        pytest.param(
            StageLogKey("d", "s" * 201, 0),
            f"expected a stage id of 1 to 200 plain characters, found '{'s' * 40}'… of 201 characters",
            id="too long",
        ),
        pytest.param(
            StageLogKey("d", "s", -1), "-1 is not how often a stage was retried; expected 0 or more", id="retried less"
        ),
    ],
)
def test_a_key_that_names_no_log_is_refused(key: StageLogKey, message: str) -> None:
    with pytest.raises(LogKeyError) as raised:
        log_folder(key)

    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["deployment/notes.txt", "deployment/stage/first/completed", "a/b/0/c/d"])
def test_a_file_of_somebody_else_belongs_to_no_log(name: str) -> None:
    assert log_key(name) is None
