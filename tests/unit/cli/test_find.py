"""Which thing is meant."""

import pytest

from fairway.cli.call import UsageError
from fairway.cli.find import Named, pick

KNOWN = [Named("abc1", "cart"), Named("abc2", "shop"), Named("cart-9", "abc")]
MISSING = UsageError("there is none")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        pytest.param("cart", "abc1", id="a name before the beginning of an id"),
        pytest.param("abc", "cart-9", id="a name that is the beginning of others"),
        pytest.param("abc2", "abc2", id="an id"),
        pytest.param("cart-", "cart-9", id="the beginning of an id"),
    ],
)
def test_one_is_found(given: str, found: str) -> None:
    assert pick(given, KNOWN, MISSING, "application") == found


def test_none_is_said_as_the_server_said_it() -> None:
    with pytest.raises(UsageError, match="there is none"):
        pick("x", KNOWN, MISSING, "application")


def test_several_are_listed_and_many_are_counted() -> None:
    many = [Named(f"abc{number:02}", "", "cart") for number in range(12)]

    with pytest.raises(UsageError) as several:
        pick("abc", many, MISSING, "deployment")

    lines = str(several.value).splitlines()
    assert (lines[0], lines[1], lines[-1], len(lines)) == (
        "'abc' may be 12 deployments; say which:",
        "  abc00  cart",
        "  and 2 more",
        12,
    )


def test_a_name_that_is_near_is_told() -> None:
    with pytest.raises(UsageError, match=r"there is none; did you mean 'shop'\?"):
        pick("shpo", KNOWN, UsageError("there is none"), "application")


def test_who_names_an_application_where_a_deployment_is_wanted_is_told_its_newest() -> None:
    newest_first = [Named("0123456789", "", "shop"), Named("abcdef0123", "", "cart"), Named("bcdef01234", "", "cart")]

    with pytest.raises(
        UsageError, match=r"^'cart' is an application, and no deployment; its newest deployment is abcdef01$"
    ):
        pick("cart", newest_first, MISSING, "deployment")
