"""Several clusters in a warehouse, and answers of many parts; every name is a hostile one."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclkit.audit.reports.reach import MOST_PREFIXES, MOST_PRINCIPALS, prefix_of
from aclkit.model.resource import Resource
from aclkit.model.visible import visible
from tests.audit.reports.made import HOSTILE, IMAGE
from tests.audit.serve import many
from tests.audit.serve.many import LARGE, NAMES, PEOPLE, PUBLIC, SMALL, TOPICS
from tests.audit.serve.running import serving

LINK = re.compile(r'href="(/[^"]*)"')
TOPIC = f"topic:{PUBLIC}"
ACCESS = {"principal": PEOPLE[0], "resource": TOPIC, "operation": "WRITE"}
PAGES = (
    ("/", {}),
    ("/search", {"q": "page"}),
    ("/search", {"q": "nothing-like-it"}),
    ("/who-can", {"resource": TOPIC}),
    ("/what-can", {"principal": PEOPLE[0]}),
    ("/why", ACCESS),
    ("/why", {**ACCESS, "operation": ""}),
    ("/history", ACCESS),
    ("/findings", {}),
    ("/changes", {}),
    ("/preview", {}),
    ("/compare", {}),
    ("/principals", {}),
    ("/findings", {"principal": PEOPLE[0]}),
    ("/graph", {"resource": TOPIC}),
    ("/graph", {"principal": PEOPLE[0], "type": "topic"}),
    ("/heat", {}),
    ("/what-can", {"principal": PEOPLE[0], "prefix": prefix_of(TOPICS[0])}),
    ("/graph", {"principal": PEOPLE[0], "prefix": prefix_of(TOPICS[0])}),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many") / "warehouse"
    many.build(folder)
    return folder


@pytest.fixture(scope="module")
def client(path):
    with serving(path) as stranger:
        yield stranger.enter()


def links(answer):
    """Return the addresses of a page's links, and what they ask for."""
    found = [urlsplit(unescape(link)) for link in LINK.findall(answer.html)]
    return [
        (link.path, parse_qs(link.query, strict_parsing=bool(link.query)))
        for link in found
        if not link.path.startswith("/assets/")
    ]


def ask(client, page, given, cluster=LARGE):
    said = {name: value for name, value in given.items() if value}
    answer = client.ask(page, **said, cluster=cluster)
    assert answer.status == 200, answer.text
    return answer


@pytest.mark.parametrize(("page", "given"), PAGES)
@pytest.mark.parametrize("cluster", [LARGE, SMALL])
def test_every_link_of_a_page_stays_in_its_cluster_or_names_the_other(client, page, given, cluster):
    answer = ask(client, page, given, cluster)
    found = links(answer)
    assert len(found) > 4
    others = [(place, asked) for place, asked in found if asked.get("cluster") != [cluster]]
    other = {"cluster": [SMALL if cluster == LARGE else LARGE]}
    assert others == [("/", {}), ("/", other)]
    assert answer.html.count('type="hidden" name="cluster"') >= 1
    assert IMAGE not in answer.html
    assert "<img" not in answer.html


@pytest.mark.parametrize("given", [{"resource": TOPIC}, {"principal": PEOPLE[0]}])
def test_a_graph_is_of_the_first_rows_and_its_nodes_stay_in_the_cluster(client, given):
    answer = ask(client, "/graph", given)
    assert "the first 100 of 23" in answer.text
    (data,) = re.findall(r'id="graph-data">([^<]*)<', answer.html)
    paths = json.loads(data)["paths"]
    ends = {path[end]["key"] for path in paths for end in ("who", "what")}
    assert len(ends) == 101
    for path in paths:
        for end in ("who", "through", "what"):
            asked = parse_qs(urlsplit(path[end]["href"]).query, strict_parsing=True)
            assert asked["cluster"] == [LARGE]


def test_heat_maps_say_what_is_not_shown_and_their_cells_stay_in_the_cluster(client):
    answer = ask(client, "/heat", {})
    assert f"between cells. Not shown: {NAMES + 1 - MOST_PRINCIPALS} principals" in answer.text
    assert f"{NAMES - 120 + 2 - MOST_PREFIXES} prefixes with fewer topics" in answer.text
    (data,) = re.findall(r'id="heat-data">([^<]*)<', answer.html)
    places = json.loads(data)
    assert len(places["rows"]) == MOST_PRINCIPALS
    assert len(places["columns"]) == MOST_PREFIXES
    assert places["columns"][0]["name"] == prefix_of(TOPICS[0]) == f"{HOSTILE}."
    for row in places["rows"]:
        for column in places["columns"]:
            asked = parse_qs(urlsplit(f"{row['href']}&{column['query']}").query)
            assert asked == {
                "principal": [row["name"]], "prefix": [column["name"]], "type": ["topic"],
                "cluster": [LARGE],
            }  # fmt: skip


def test_heat_maps_of_one_cluster_are_not_those_of_the_other(client):
    for _ in range(2):
        large, little = (ask(client, "/heat", {}, cluster) for cluster in (LARGE, SMALL))
        assert large.html.count('<tr><th scope="row"') == 3 * MOST_PRINCIPALS
        assert little.html.count('<tr><th scope="row"') == 3 * 2
        assert "User:only-here" in little.text
        assert "Not shown" not in little.text


def test_the_filters_and_parts_of_an_answer_keep_its_prefix(client):
    prefix = prefix_of(TOPICS[0])
    given = {"principal": PEOPLE[0], "prefix": prefix, "decision": "both"}
    answer = ask(client, "/what-can", given)
    assert "page 1 of 2" in answer.text
    assert next_part(answer)["prefix"] == [prefix]
    hidden = re.search(r'type="hidden" name="prefix" value="([^"]*)"', answer.html)[1]
    assert unescape(hidden) == prefix
    rest = ask(client, "/what-can", {**given, "prefix": prefix_of(PUBLIC)})
    assert names_of(rest) == [visible(TOPIC)]
    assert ask(client, "/what-can", {**given, "prefix": "p"}).text.count("0 resources") == 1
    refused = client.ask("/what-can", **given, type="group", cluster=LARGE)
    assert refused.status == 400
    assert "Unknown type 'group'. Types: topic." in refused.text


def test_without_a_cluster_those_there_are_are_offered(client):
    answer = client.ask("/who-can", resource=TOPIC)
    assert answer.status == 400
    offered = [asked["cluster"] for _, asked in links(answer) if "cluster" in asked]
    assert offered == [[LARGE], [SMALL]]


def test_what_one_cluster_answered_is_no_answer_of_the_other(client):
    for _ in range(2):
        large, little = (ask(client, "/who-can", {"resource": TOPIC}, c) for c in (LARGE, SMALL))
        assert f"{NAMES} principals" in large.text
        assert "1 principal;" in little.text or "1 principal " in little.text
        assert "User:only-here" not in large.text
        assert visible(PEOPLE[0]) not in little.text
    unknown = ask(client, "/what-can", {"principal": PEOPLE[0]}, SMALL)
    assert "is unknown. This is what would apply if it existed." in unknown.text


def test_a_search_leads_to_its_page_in_the_same_cluster(client):
    answer = client.ask("/search", q=PEOPLE[7], cluster=SMALL)
    assert answer.status == 200  # it is no name there
    answer = client.ask("/search", q="only-here?", cluster=SMALL)
    assert answer.status == 200
    answer = client.ask("/search", q=TOPIC, cluster=SMALL)
    assert answer.status == 303
    place = urlsplit(answer.headers["location"])
    assert (place.path, parse_qs(place.query)) == (
        "/who-can", {"resource": [TOPIC], "cluster": [SMALL]},
    )  # fmt: skip


def test_a_form_is_about_its_cluster(client):
    form = {
        "action": "add", "permission": "allow", "principal": "User:new", "operation": "READ",
        "type": "topic", "name": "only-here", "pattern": "literal", "host": "", "cluster": SMALL,
    }  # fmt: skip
    answer = client.ask("/preview", form)
    assert answer.status == 200
    hidden = re.search(r'type="hidden" name="cluster" value="([^"]*)"', answer.html)[1]
    assert unescape(hidden) == SMALL


def test_where_one_cluster_is_served_nothing_is_told_of_the_others(path):
    with serving(path, cluster=SMALL) as stranger:
        inside = stranger.enter()
        answer = inside.ask("/who-can", resource=TOPIC)
        assert "User:only-here" in answer.text
        assert not [asked for _, asked in links(answer) if "cluster" in asked]
        refused = inside.ask("/", cluster=LARGE)
        assert refused.status == 400
        assert "has only cluster" in refused.text


def names_of(answer):
    return [unescape(name) for name in re.findall(r'data-text="([^"]*)"><a', answer.html)]


def next_part(answer):
    (following,) = re.findall(r'rel="next" href="([^"]*)"', answer.html) or [None]
    return following and parse_qs(urlsplit(unescape(following)).query)


@pytest.mark.parametrize(
    ("page", "given", "wanted"),
    [
        ("/who-can", {"resource": TOPIC, "decision": "both"}, [*PEOPLE, "User:<any-other>"]),
        ("/what-can", {"principal": PEOPLE[0], "decision": "both", "type": "topic"},
         [str(Resource("TOPIC", name)) for name in (*TOPICS, PUBLIC)]),
    ],
)  # fmt: skip
def test_the_parts_of_an_answer_have_each_name_once_and_keep_the_filters(
    client, page, given, wanted
):
    found, asked = [], dict(given)
    for part in range(1, 4):
        answer = ask(client, page, asked)
        assert f"page {part} of 3" in answer.text
        found += names_of(answer)
        following = next_part(answer)
        if following is not None:
            asked = {name: value for name, (value,) in following.items() if name != "cluster"}
            assert asked == {**given, "page": str(part + 1)}
    assert following is None
    assert sorted(found) == sorted(map(visible, wanted))


@pytest.mark.parametrize(
    ("page", "given", "parts", "rows"),
    [("/findings", {"words": "about"}, 5, NAMES), ("/changes", {}, 3, NAMES)],
)
def test_long_lists_have_parts_too(client, page, given, parts, rows):
    count = 0
    for part in range(1, parts + 1):
        answer = ask(client, page, {**given, "page": str(part)})
        assert f"page {part} of {parts}" in answer.text
        count += answer.html.count('<tr><th scope="row"')
    assert count == rows


@pytest.mark.parametrize(
    ("page", "shown"), [("0", 1), ("-3", 1), ("x", 1), ("٣", 1), ("9" * 30, 1), ("99", 3)]
)
def test_a_part_that_there_is_not_is_the_nearest(client, page, shown):
    answer = ask(client, "/who-can", {"resource": TOPIC, "page": page})
    assert f"page {shown} of 3" in answer.text


def test_a_search_shows_the_first_and_says_how_many_there_are(client):
    answer = ask(client, "/search", {"q": "img"})
    assert answer.html.count('<li><a href="/w') == 200
    assert "Showing the first 100. Enter more of the name to see others." in answer.text
