from fairway.config.read import read_file
from fairway.config.remembered import RememberedReadings

GOOD = b"apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec: {name: shop}\n"


def test_a_file_is_asked_for_once() -> None:
    remembered = RememberedReadings()
    blobs = {"a/app.pipecd.yaml": "1", "b/app.pipecd.yaml": "2"}

    first = remembered.read(blobs, {"1": GOOD, "2": GOOD})

    assert remembered.unknown(blobs) == {}
    assert remembered.read(blobs, {}) == first


def test_a_changed_file_is_asked_for_again() -> None:
    remembered = RememberedReadings()
    remembered.read({"app.pipecd.yaml": "1"}, {"1": GOOD})

    assert remembered.unknown({"app.pipecd.yaml": "2"}) == {"app.pipecd.yaml": "2"}


def test_the_same_text_under_another_name_is_read_with_that_name() -> None:
    remembered = RememberedReadings()
    remembered.read({"a.pipecd.yaml": "1"}, {"1": b""})

    reading = remembered.read({"b.pipecd.yaml": "1"}, {"1": b""})["b.pipecd.yaml"]

    assert reading.problems[0].file == "b.pipecd.yaml"


def test_what_was_not_used_for_longest_is_forgotten_first() -> None:
    remembered = RememberedReadings(most=2)
    for path in ("a", "b", "a", "c"):
        remembered.read({path: "1"}, {"1": GOOD})

    assert remembered.unknown({"a": "1", "b": "1", "c": "1"}) == {"b": "1"}


def test_more_files_at_once_than_are_kept_are_all_answered() -> None:
    remembered = RememberedReadings(most=1)

    readings = remembered.read({"a": "1", "b": "1"}, {"1": GOOD})

    assert list(readings) == ["a", "b"]


def an_application(name: str, option: str) -> bytes:
    stages = f"pipeline: {{stages: [{{name: SOME_STAGE, with: {{a: {option}}}}}]}}"
    return f"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {{name: {name}, {stages}}}\n".encode()


def test_what_files_say_alike_is_kept_once_and_nothing_that_only_python_takes_for_equal() -> None:
    files = {"1": an_application("a", "1"), "2": an_application("b", "1"), "3": an_application("c", "true")}
    blobs = {path: path for path in files}

    shared = [each.config for each in RememberedReadings().read(blobs, files).values()]

    apart = [reading.config for path, text in files.items() for reading in read_file(text, path)]
    assert list(map(repr, shared)) == list(map(repr, apart))
    assert [shared[0].stages is each.stages for each in shared] == [True, True, False]
    assert shared[0].trigger is shared[1].trigger is shared[2].trigger
