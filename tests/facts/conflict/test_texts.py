"""When texts are the same, what they count, who does what, and what says "no more"."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.checks.of_conflicts import check_conflicts
from prism_memory.errors import Invalid, Misconfigured
from prism_memory.facts.conflict import Pack, Thresholds, folded_sha256
from prism_memory.facts.conflict.configured import configured_rules
from prism_memory.facts.conflict.digits import differ
from prism_memory.facts.conflict.exact import folded
from prism_memory.facts.conflict.markers import find_marker
from prism_memory.facts.conflict.triples import Triple, given_triple, split
from prism_memory.types import ConflictZone

RULES = configured_rules()
QUANTITIES = RULES.quantities


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada lives in Porto", "  ada\tLIVES in\n porto "),
        ("Café", unicodedata.normalize("NFD", "CAFÉ")),
    ],
)
def test_case_white_space_and_spelling_make_no_other_text(one, other):
    """B333."""
    assert folded_sha256(one) == folded_sha256(other)
    assert len(folded_sha256(one)) == 32


@given(st.text())
def test_folding_twice_is_folding_once(text):
    assert folded(folded(text)) == folded(text)


@given(st.text(alphabet="ab \t\nAB"), st.text(alphabet="ab \t\nAB"))
def test_texts_are_the_same_when_their_words_are(one, other):
    """B333: against a naive restatement."""
    same = one.lower().split() == other.lower().split()
    assert (folded_sha256(one) == folded_sha256(other)) is same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoice 4711 is due", "Invoice 4712 is due"),
        ("3 cats", "three cats"),
        ("She has two children", "She has three children"),
        ("From 3 to 5", "From 5 to 3"),
        ("It was -5 outside", "It was 5 outside"),
        ("Version 3.5", "Version 35"),
        ("We meet on Monday", "We meet on Tuesday"),
        ("Der Termin ist im März", "Der Termin ist im April"),
        ("Elle a deux chats", "Elle a trois chats"),
        ("Tiene dos gatos", "Tiene cinco gatos"),
        ("Born 1990-05-01", "Born 1990-05-02"),
        ("Room ٣", "Room ٤"),
        ("第三章", "第四章"),
        ("Flight BA117", "Flight BA118"),
        ("It costs ½ euro", "It costs ¼ euro"),
        ("Open today", "Open tomorrow"),
        ("A number 7", "A number"),
    ],
)
def test_numbers_and_dates_make_another_claim(one, other):
    """B357."""
    assert differ(one, other, QUANTITIES)
    assert differ(other, one, QUANTITIES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada likes tea", "Ada likes coffee"),
        ("In 2019, Ada moved.", "In 2019 Ada moved"),
        ("Room \uff17", "room 7"),
    ],
)
def test_other_words_and_marks_count_nothing(one, other):
    assert not differ(one, other, QUANTITIES)


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("Ada moved to Lisbon", "en:moved"),
        ("Ada has relocated again", "en:relocated"),
        ("I live in Lisbon", "en:i live in"),
        ("She now lives in Lisbon", "en:lives now"),
        ("He's now based in Lisbon", "en:lives now"),
        ("Ada has a new job", "en:new job"),
        ("Ada was promoted to director", "en:promoted"),
        ("Ada quit", "en:left a job"),
        ("Ada switched companies in May", "en:other company"),
        ("Ada now works at Globex", "en:works now"),
        ("I switched from vim to emacs", "en:switched"),
        ("I\u2019ve changed my mind", "en:changed mind"),
        ("Ada used to like tea", "en:used to like"),
        ("I prefer trains", "en:prefers"),
        ("Ada got married", "en:married"),
        ("They broke up", "en:broke up"),
        ("Ada was diagnosed with asthma", "en:diagnosed"),
        ("Ada formerly ran the shop", "en:formerly"),
        ("The lead is now Grace", "en:is now"),
        ("Ada no longer lives in Porto", "en:no longer"),
        ("Ada isn't a vegetarian anymore", "en:n't anymore"),
        ("Ada doesn't eat meat", "en:doesn't"),
        ("Ada doesn\u2019t eat meat", "en:doesn't"),
        ("Ada never drinks coffee", "en:never"),
        ("Ada is not a fan of tea", "en:not a fan"),
        ("The shop is not open", "en:is not"),
        ("Ada ist nach Köln umgezogen", "de:umgezogen"),
        ("Ada wohnt jetzt in Köln", "de:wohnt jetzt"),
        ("Ada trinkt keinen Kaffee mehr", "de:nicht mehr"),
        ("Ada hat eine neue Stelle", "de:neue stelle"),
        ("Ada a déménagé à Lyon", "fr:déménagé"),
        ("Ada n'habite plus à Lyon", "fr:ne plus"),
        ("Ada ne mange pas de viande", "fr:ne pas"),
        ("Ada se mudó a Madrid", "es:se mudó"),
        ("Ada ya no vive en Madrid", "es:ya no"),
    ],
)
def test_a_marker_is_found(text, marker):
    """B337."""
    assert find_marker(text, RULES.packs) == marker


@pytest.mark.parametrize(
    "text",
    [
        "Ada lives in Porto",
        "The quitter's guide",  # inside another word
        "Ada removed toxins",
        "The notary is open",
        "Ada plays the cello",
        "Ada mag Tee",
        "Ada aime le thé",
        "A Ada le gusta el té",
    ],
)
def test_a_plain_statement_holds_no_marker(text):
    assert find_marker(text, RULES.packs) == ""


def test_the_surest_marker_is_named_and_of_equals_the_first():
    pack = Pack("xx", *(configured_rules().packs[0].supersedes,))
    assert find_marker("I prefer it: Ada moved to Rome", [pack]) == "en:moved".replace(
        "en", "xx"
    )
    both = "Ada no longer works; she moved to Rome"
    assert find_marker(both, RULES.packs) == "en:moved"


def test_without_a_pack_no_word_says_anything():
    """B337: packs are pluggable."""
    assert find_marker("Ada moved to Rome", []) == ""


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("Ada lives in Porto", ("ada", "lives", "in porto")),
        ("My sister works at the Globex.", ("sister", "works", "at the globex")),
        ("The team uses a PostgreSQL", ("team", "uses", "postgresql")),
        ("Meine Schwester wohnt in Köln", ("schwester", "wohnt", "in köln")),
        ("Lives in Porto", None),  # nobody
        ("Ada lives", None),  # nowhere
        ("Ada is a doctor", None),  # who is a doctor may be more
    ],
)
def test_a_statement_splits_at_its_first_known_verb(text, triple):
    """B339."""
    verbs = frozenset().union(*(pack.verbs for pack in RULES.packs))
    articles = frozenset().union(*(pack.articles for pack in RULES.packs))
    found = split(text, verbs=verbs, articles=articles)
    assert found == (triple and Triple(*triple))


def test_half_a_triple_is_none():
    assert given_triple("Ada", "", "Porto") is None
    assert given_triple(" ADA ", "lives in.", "Porto") == Triple(
        "ada", "lives in", "porto"
    )


@pytest.mark.parametrize(
    ("cosine", "zone"),
    [
        (1.0, ConflictZone.HOT),
        (0.95, ConflictZone.HOT),
        (0.9499, ConflictZone.NEAR_DUP),
        (0.85, ConflictZone.NEAR_DUP),
        (0.8499, ConflictZone.CHECK),
        (0.4001, ConflictZone.CHECK),
        (0.4, ConflictZone.COLD),
        (-1.0, ConflictZone.COLD),
    ],
)
def test_zones_begin_where_they_are_said_to(cosine, zone):
    """B335."""
    assert Thresholds().zone(cosine) is zone


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"cold": -0.1}, "cold"),
        ({"near": 0.3}, "near"),
        ({"hot": 0.8}, "hot"),
        ({"hot": 1.01}, "hot"),
        ({"cold": float("nan")}, "cold"),
        ({"near": "0.9"}, "near"),
        ({"hot": True}, "hot"),
    ],
)
def test_thresholds_out_of_order_are_refused_by_name(given, field):
    """B335."""
    with pytest.raises(Invalid) as refused:
        Thresholds(**given)
    assert refused.value.field == field
    assert field in str(refused.value)


def test_a_setting_out_of_order_is_named(settings):
    """B335."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "CONFLICT_NEAR": 0.2}
    with pytest.raises(Misconfigured, match="CONFLICT_NEAR must be from") as refused:
        configured_rules()
    assert refused.value.field == "CONFLICT_NEAR"


def test_the_system_check_tells_of_both(settings):
    assert check_conflicts() == []
    for wrong in ({"CONFLICT_HOT": 0.1}, {"CONFLICT_PACKS": ("nowhere.PACK",)}):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **wrong}
        assert [message.id for message in check_conflicts()] == ["prism_memory.E031"]


@pytest.mark.parametrize("path", ["nowhere.PACK", "prism_memory.types.Scope"])
def test_a_pack_that_is_none_is_named(settings, path):
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "CONFLICT_PACKS": (path,)}
    with pytest.raises(Misconfigured, match="CONFLICT_PACKS"):
        configured_rules()
