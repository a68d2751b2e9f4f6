"""Settings of the app: one ``PRISM_MEMORY`` dict, read through ``settings``.

Every setting is declared once, below, with its default, its bounds and its unit.
The system checks, the documentation table and the tests read that declaration.
Values are read at each access, so ``override_settings`` works as it stands. A Memory
reads its limits, secrets, redactor, embedder and database when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, TypeVar, overload

from django.conf import settings as django_settings

from prism_memory.errors import LimitExceeded

NAMESPACE: Final = "PRISM_MEMORY"

ENTITY_RESOLVERS: Final = ("exact", "vectors", "off")
"""What ``ENTITY_RESOLVER`` may be beside a dotted path."""

TOKEN_CHARACTERS: Final = 16
"""A ``METRICS_TOKEN`` that is shorter opens nothing."""

VECTOR_INDEXES: Final = ("pgvector", "exact", "none", "numpy")
"""What ``VECTOR_INDEX`` may be beside an index of a host's own."""

T = TypeVar("T")


class Setting(Generic[T]):
    """Declare one key of ``PRISM_MEMORY``.

    Args:
        default: Value used when the project does not set the key.
        help: One sentence, printed on the settings page of the documentation.
        minimum: Smallest accepted value, inclusive.
        maximum: Hard cap, inclusive; neither a project nor a call can raise it.
        choices: The accepted values, where they are few.
        limit: True for a limit that each ``Memory`` may set for itself (B30).
    """

    name: str

    def __init__(
        self,
        default: T,
        *,
        help: str,  # noqa: A002 - the word Django's own fields use
        minimum: float | None = None,
        maximum: float | None = None,
        choices: tuple[T, ...] = (),
        limit: bool = False,
    ) -> None:
        self.default = default
        self.help = help
        self.minimum = minimum
        self.maximum = maximum
        self.choices = choices
        self.limit = limit

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Setting[T] | T:
        if instance is None:
            return self
        value: T = user_settings().get(self.name, self.default)
        return value


def user_settings() -> Mapping[str, Any]:
    """Return the project's ``PRISM_MEMORY`` dict, or an empty one.

    One that is no dict counts as empty: a system check reports it.
    """
    values: object = getattr(django_settings, NAMESPACE, {})
    return values if isinstance(values, Mapping) else {}


class Settings:
    """The declared settings; see ``declared()`` for the list."""

    EMBEDDERS: Setting[dict[str, dict[str, Any]]] = Setting(
        {}, help="Embedders by alias: {'default': {'BACKEND': path, 'OPTIONS': {}}}."
    )
    EMBEDDER = Setting(
        "default", help="Alias of the embedder that records are written and asked with."
    )
    EMBEDDER_CHANGED = Setting(
        "refuse",
        help="Where the settings name another embedder than that of the stored vectors:"
        " refuse to recall and to write; text: recall by words alone and say so;"
        " rebuild: likewise, while workers build the vectors anew and switch to them.",
        choices=("refuse", "text", "rebuild"),
    )
    EMBED_TIMEOUT_SECONDS = Setting(
        30.0, help="Longest wait for one embedding call.", minimum=0.1, maximum=600
    )
    RERANKERS: Setting[dict[str, dict[str, Any]]] = Setting(
        {}, help="Rerankers by alias: {'cross': {'BACKEND': path, 'OPTIONS': {}}}."
    )
    RERANKER: Setting[str] = Setting(
        "", help="Alias of the reranker that recall asks; empty: none."
    )
    TRANSFORMERS: Setting[dict[str, dict[str, Any]]] = Setting(
        {}, help="Query transformers by alias, as RERANKERS."
    )
    TRANSFORMER: Setting[str] = Setting(
        "", help="Alias of what says a question in other words; empty: none."
    )
    GRADERS: Setting[dict[str, dict[str, Any]]] = Setting(
        {}, help="Graders of deep recall by alias, as RERANKERS."
    )
    GRADER: Setting[str] = Setting(
        "", help="Alias of the grader that deep recall asks; empty: none."
    )
    WAIT_SECONDS = Setting(
        30.0,
        help="After it, wait=True begins no further batch and leaves the rest pending.",
        minimum=0.1,
        maximum=600,
    )
    DATABASE = Setting("default", help="Database alias that holds the memory tables.")
    ROW_SECURITY = Setting(
        default=False,
        help="Tell PostgreSQL the tenant of every statement, for the policies that"
        " prism_memory_rls makes.",
    )
    LANGUAGE = Setting(
        "english", help="Text search configuration of records that name none."
    )
    SEARCH_LANGUAGES: Setting[tuple[str, ...]] = Setting(
        (), help="Configurations a question is read in; empty: LANGUAGE and simple."
    )
    SITUATE = Setting(
        "on",
        help="Index who speaks, when and of what beside the words; off: bare words.",
        choices=("on", "off"),
    )
    REDACTOR: Setting[str] = Setting(
        "", help="Dotted path of redact(text) -> text, run before anything is stored."
    )
    SECRETS: Setting[tuple[str, ...]] = Setting(
        (),
        help="Strings replaced by [redacted] before anything is stored or shown. Read"
        " when a Memory is made.",
    )
    REQUIRE_CONSENT = Setting(
        default=False,
        help="Strict mode: recall only what has a consent; chunks and facts have none"
        " until it is given.",
    )
    GATE = Setting(
        "on",
        help="Quarantine texts that give orders to who will read them; off: all pass.",
        choices=("on", "off"),
    )
    GATE_RULES: Setting[str] = Setting(
        "",
        help="Dotted path of more rules, or of f(rules) -> rules that replaces them.",
    )
    GATE_CLASSIFIER: Setting[str] = Setting(
        "",
        help="Dotted path of f(text) -> bool, asked before the transaction of each"
        " write; it can only add a flag.",
    )
    IMPORTANCE_FROM: Setting[str] = Setting(
        "", help="Dotted path of f(reflection) -> float, run once at write time."
    )

    ENTITY_RESOLVER: Setting[str] = Setting(
        "exact",
        help="Which entities the subject and object of a fact are linked to: exact (by"
        " name), vectors (names that are near are merged too, later), off, or the"
        " dotted path of f(names) -> names that tells what each name is known by.",
    )
    ENTITY_JUDGE: Setting[str] = Setting(
        "",
        help="Dotted path of f(name, other) -> bool, asked in the background whether"
        " two names that are rather near mean the same; empty: they do not.",
    )

    ACCEPTANCE_POLICY: Setting[str] = Setting(
        "",
        help="Dotted path of f(trusts) -> acceptance: what becomes of a claim by the"
        " trust of all it cites; empty: people and documents are accepted.",
    )

    ON_INVALIDATE: Setting[str] = Setting(
        "",
        help="Dotted path of f(reason, ids, hold), told inside the transaction what may"
        " no longer be used, before anything is deleted.",
    )

    ON_DENIAL: Setting[str] = Setting(
        "",
        help="Dotted path of f(denial), told by a recall of each document that it had"
        " found and that its reader may not read any more; one that raises fails the"
        " recall.",
    )

    INTEGRITY_KEYS: Setting[dict[str, str]] = Setting(
        {},
        help="Secrets by id that sign records and seals, 32 bytes or more each; empty:"
        " nothing is signed.",
    )
    INTEGRITY_KEY: Setting[str] = Setting(
        "", help="Id of the key that signs; empty: the first. The others only verify."
    )
    INTEGRITY_ENFORCED = Setting(
        default=True,
        help="Withhold records whose signature is not theirs, once INTEGRITY_KEYS is"
        " set; False while what was there before is being signed.",
    )
    SEALS = Setting(
        "events",
        help="What beat seals every hour: audit events, also the list of records"
        " (content), or nothing.",
        choices=("off", "events", "content"),
    )

    CONFLICTS = Setting(
        "on",
        help="Compare each facts.remember with the facts it may repeat or replace;"
        " off: store it, whatever stands there.",
        choices=("on", "off"),
    )
    CONFLICT_HOT = Setting(
        0.95,
        help="Raw cosine from which a claim repeats the nearest.",
        minimum=0,
        maximum=1,
    )
    CONFLICT_NEAR = Setting(
        0.85,
        help="Raw cosine from which it does, unless its words tell of a change.",
        minimum=0,
        maximum=1,
    )
    CONFLICT_COLD = Setting(
        0.4,
        help="Raw cosine up to which a claim has nothing to do with the nearest.",
        minimum=0,
        maximum=1,
    )
    CONFLICT_PACKS: Setting[tuple[str, ...]] = Setting(
        (
            "prism_memory.facts.conflict.packs.en.PACK",
            "prism_memory.facts.conflict.packs.de.PACK",
            "prism_memory.facts.conflict.packs.fr.PACK",
            "prism_memory.facts.conflict.packs.es.PACK",
        ),
        help="Dotted paths of the languages whose words tell of a change.",
    )
    CONFLICT_DAYS = Setting(
        7,
        help="Days after which a conflict that nobody settled lapses, and both stay.",
        minimum=1,
        maximum=3_650,
    )
    CONFLICT_JUDGES: Setting[dict[str, dict[str, Any]]] = Setting(
        {}, help="Judges of conflicts by alias, as RERANKERS."
    )
    CONFLICT_JUDGE: Setting[str] = Setting(
        "", help="Alias of the judge that pending conflicts are put to; empty: none."
    )
    JUDGE_SECONDS = Setting(
        20.0,
        help="Longest wait for one verdict on a conflict; then it waits on.",
        minimum=0.1,
        maximum=600,
    )
    PROMOTE = Setting(
        "off",
        help="Let the nightly task validate what a model made and people recalled three"
        " times by two questions in a day or more, ten facts of a tenant at a time.",
        choices=("on", "off"),
    )
    AUTO_PROMOTE_SYNTHESIZED = Setting(
        default=False,
        help="Let what a model extracted, reflected or induced through the gate, where"
        " its words are clean.",
    )

    TOP_K = Setting(5, help="Hits of one recall.", minimum=0, maximum=32, limit=True)
    CANDIDATES = Setting(
        20,
        help="Candidates that each leg of a retrieval is asked for, never fewer than"
        " its hits.",
        minimum=1,
        maximum=128,
        limit=True,
    )
    RESULT_BYTES = Setting(
        65_536,
        help="Bytes of UTF-8, words and metadata, of what one retrieval returns.",
        minimum=1,
        maximum=524_288,
        limit=True,
    )
    CONTEXT_TOKENS = Setting(
        2_000,
        help="Tokens, characters / 4, of what one retrieval returns.",
        minimum=1,
        maximum=8_000,
        limit=True,
    )
    MESSAGE_RANGE = Setting(
        0, help="Neighbours shown beside a hit.", minimum=0, maximum=4, limit=True
    )
    EMBED_BATCH = Setting(
        32, help="Texts of one embedding call.", minimum=1, maximum=128, limit=True
    )
    TEXT_CHARACTERS = Setting(
        16_384, help="Characters of one text.", minimum=1, maximum=64_384, limit=True
    )
    PAYLOAD_BYTES = Setting(
        65_536,
        help="Bytes of one entry as JSON.",
        minimum=1,
        maximum=524_288,
        limit=True,
    )
    BATCH_ENTRIES = Setting(
        1_000, help="Entries of one remember.", minimum=1, maximum=10_000, limit=True
    )
    LINEAGE_SOURCES = Setting(
        32, help="Sources one record derives from.", minimum=0, maximum=32, limit=True
    )
    QUERY_CHARACTERS = Setting(
        4_096, help="Characters of one query.", minimum=1, maximum=16_384, limit=True
    )
    QUERY_WORDS = Setting(
        64, help="Different words of one query.", minimum=1, maximum=256, limit=True
    )
    FILTER_TERMS = Setting(
        32, help="Comparisons of one filter.", minimum=1, maximum=128, limit=True
    )
    RECALL_IDS = Setting(
        256, help="Ids that one recall names.", minimum=1, maximum=256, limit=True
    )
    LIST_ROWS = Setting(
        100, help="Rows of one page of a list.", minimum=1, maximum=200, limit=True
    )
    SOURCE_ROWS = Setting(
        50,
        help="Rows of one page of the sources.",
        minimum=1,
        maximum=200,
        limit=True,
    )
    REBUILD_ROWS = Setting(
        32, help="Records of one page of a rebuild.", minimum=1, maximum=128, limit=True
    )
    REBUILD_MILLISECONDS = Setting(
        10_000,
        help="Longest time for one page of a rebuild.",
        minimum=1,
        maximum=60_000,
        limit=True,
    )
    EXPORT_ROWS = Setting(
        100, help="Rows of one page of an export.", minimum=1, maximum=200, limit=True
    )
    EXPORT_BYTES = Setting(
        4_194_304,
        help="Bytes of one page of an export.",
        minimum=1,
        maximum=33_554_432,
        limit=True,
    )
    EXPORT_MILLISECONDS = Setting(
        10_000,
        help="Longest time for one page of an export.",
        minimum=1,
        maximum=60_000,
        limit=True,
    )
    RETENTION_BATCH = Setting(
        500,
        help="Records that one application of retention deletes at most; of a sweep,"
        " that go in one transaction, where 1,000 are the most.",
        minimum=1,
        maximum=5_000,
        limit=True,
    )
    DECAY_BELOW = Setting(
        0.0,
        help="Facts of which less than this is retained are archived by the nightly"
        " task; S3 takes 0.05. 0: none.",
        minimum=0,
        maximum=1,
    )
    DECAY_DAYS = Setting(
        7.0,
        help="Days in which a fact that nobody recalls fades to 37 %.",
        minimum=0.1,
        maximum=36_500,
    )
    FACT_CAPACITY = Setting(
        -1,
        help="Open facts that a scope holds; the least salient beyond are archived by"
        " the nightly task. -1: any number.",
        minimum=-1,
        maximum=10_000_000,
    )
    SALIENCE: Setting[dict[str, float]] = Setting(
        {},
        help="Weights of a fact's salience in place of importance 0.6, quarantined 0.7,"
        " foreign 0.2 and reinforcement 0, each 0..10.",
    )
    EXPORT_STORAGE = Setting(
        "default",
        help="Alias of STORAGES that exports of whole scopes are written to; one that"
        " the web does not serve.",
    )

    RERANK_CANDIDATES = Setting(
        32, help="Candidates that are reranked.", minimum=1, maximum=128, limit=True
    )
    RERANK_BYTES = Setting(
        65_536,
        help="Bytes of UTF-8 that one reranking sends.",
        minimum=1,
        maximum=262_144,
        limit=True,
    )
    RERANK_SECONDS = Setting(
        2.0,
        help="Longest wait for one reranking; then the order before it holds.",
        minimum=0.05,
        maximum=10,
    )
    RERANK_CONCURRENCY = Setting(
        2, help="Rerankings at one time in each process.", minimum=1, maximum=8
    )

    SEARCH_DEFAULTS: Setting[dict[str, Any]] = Setting(
        {}, help="Options that every recall takes unless it gives its own."
    )
    MULTI_QUERY = Setting(
        1,
        help="Questions that one recall asks, its own and what a transformer makes of"
        " it; 1: only its own.",
        minimum=1,
        maximum=8,
        limit=True,
    )
    TRANSFORM_SECONDS = Setting(
        5.0,
        help="Longest wait for a transformer; then the question alone is asked.",
        minimum=0.1,
        maximum=60,
    )
    DEEP_ITERATIONS = Setting(
        3, help="Passes of one deep recall.", minimum=1, maximum=5, limit=True
    )
    DEEP_THRESHOLD = Setting(
        0.5,
        help="Difficulty from which deep recall may take more than one pass.",
        minimum=0,
        maximum=1,
    )
    GRADE_SECONDS = Setting(
        10.0,
        help="Longest wait for one verdict; then deep recall ends where it is.",
        minimum=0.1,
        maximum=60,
    )

    TRUST_FACTORS: Setting[dict[str, float]] = Setting(
        {},
        help="What a score is multiplied by, by trust class or 'quarantined', instead"
        " of 0.8 for what neither the user nor the system said, and 0.3, in 0..1.",
    )

    EXACT_SCAN_ROWS = Setting(
        10_000,
        help="Vectors in sight up to which recall scans exactly, without an index.",
        minimum=0,
        maximum=1_000_000,
    )
    VECTOR_INDEX: Setting[str | dict[str, Any]] = Setting(
        "pgvector",
        help="Where the nearest vectors are looked for: pgvector; exact (no index);"
        " none (by words alone, nothing is embedded); numpy (tests); or an external"
        " index, {'BACKEND': path, 'OPTIONS': {}}.",
    )
    VECTOR_INDEX_SECONDS = Setting(
        2.0,
        help="Longest wait for an external index; then PostgreSQL answers alone.",
        minimum=0.05,
        maximum=60,
    )
    HNSW_MAX_SCAN_TUPLES = Setting(
        40_000,
        help="Tuples an index scan visits before recall falls back to an exact scan.",
        minimum=1,
        maximum=10_000_000,
    )
    CLAIM_SECONDS = Setting(
        300, help="Time a drain may hold a claimed text.", minimum=5, maximum=86_400
    )
    EMBED_ATTEMPTS = Setting(
        8, help="Tries before a text is given up as failed.", minimum=1, maximum=100
    )
    RETRY_SECONDS = Setting(
        10, help="First back-off after a failure; doubles.", minimum=1, maximum=3_600
    )
    SWEEP_SECONDS = Setting(
        60, help="Seconds between two sweeps of beat.", minimum=5, maximum=86_400
    )
    WAKE = Setting(
        default=True, help="Send a Celery message when something waits for indexing."
    )
    QUEUE: Setting[str] = Setting(
        "", help="Celery queue of this app's tasks; empty: the project's default."
    )
    QUEUES: Setting[dict[str, str]] = Setting(
        {}, help="Queues of single tasks by name: {'rebuild': 'slow'}; others: QUEUE."
    )
    PRIORITIES: Setting[dict[str, int]] = Setting(
        {},
        help="Message priorities of single tasks by name, 0 to 9 as the broker reads"
        " them (Redis: 0 is first; RabbitMQ: 9 is).",
    )
    SLICE_SECONDS = Setting(
        30,
        help="Longest time a task works for one tenant before others have a turn.",
        minimum=1,
        maximum=3_600,
    )
    TASK_SECONDS = Setting(
        300,
        help="Soft time limit of a task; it must be well over SLICE_SECONDS.",
        minimum=5,
        maximum=86_400,
    )
    TASK_SECONDS_OF: Setting[dict[str, int]] = Setting(
        {"seal": 3_600}, help="Soft time limits of single tasks by name."
    )
    TASK_GRACE_SECONDS = Setting(
        60,
        help="Time between a task's soft limit and the end of its process.",
        minimum=1,
        maximum=3_600,
    )
    RUN_SILENT_SECONDS = Setting(
        300,
        help="Without a sign of life for so long a run has lost its worker, and the"
        " next sweep has another go on with it.",
        minimum=5,
        maximum=86_400,
    )
    RUN_ATTEMPTS = Setting(
        8,
        help="Failures in a row before a run waits for a person to retry it.",
        minimum=1,
        maximum=100,
    )
    TRACES = Setting(
        "off",
        help="Which recalls leave a trace of ids, scores and timings; never a text.",
        choices=("off", "sampled", "on"),
    )
    TRACE_SHARE = Setting(
        0.01, help="Share of recalls that sampled traces.", minimum=0, maximum=1
    )
    TRACE_DAYS = Setting(
        30, help="Days that a trace is kept.", minimum=1, maximum=3_650
    )
    METRICS_TOKEN: Setting[str] = Setting(
        "",
        help="Bearer token, 16 characters or more, by which a scraper sees the metrics"
        " of the whole installation; empty: nobody does.",
    )
    METRICS_TENANTS = Setting(
        default=False,
        help="Name the tenant in the labels of metrics; one series for each, so where"
        " they are few.",
    )
    METRICS_SECONDS = Setting(
        10.0,
        help="How long what was read of the database for metrics stands.",
        minimum=0,
        maximum=3_600,
    )
    METRICS_READ_SECONDS = Setting(
        1.0,
        help="Longest that one scrape reads on from tenant to tenant; the next goes on"
        " there.",
        minimum=0.01,
        maximum=60,
    )
    SPANS = Setting(
        "on",
        help="Make OpenTelemetry spans where its API is installed; off: none.",
        choices=("on", "off"),
    )
    SPAN_SALT: Setting[str] = Setting(
        "",
        help="Key of the hashes that stand for tenants and scopes in spans; empty: made"
        " from SECRET_KEY.",
    )
    TRACER: Setting[str] = Setting(
        "",
        help="Dotted path of f() -> an OpenTelemetry Tracer that makes the spans;"
        " empty: the one of the process.",
    )
    API_AUTHENTICATION: Setting[tuple[str, ...]] = Setting(
        ("prism_memory.api.auth.AccessKeyAuthentication",),
        help="REST framework authentication classes of the API.",
    )
    API_RESOLVER: Setting[str] = Setting(
        "", help="Dotted path of f(request) -> Grant, for hosts with their own users."
    )

    API_THROTTLES: Setting[tuple[str, ...]] = Setting(
        (), help="REST framework throttle classes of the API, each with its own rate."
    )

    @classmethod
    def declared(cls) -> Iterator[Setting[Any]]:
        """Yield every declared setting in the order written above."""
        yield from (value for value in vars(cls).values() if isinstance(value, Setting))


settings: Final = Settings()


class Limits:
    """The limits of one memory: the settings, or its own values up to the hard caps.

    Args:
        given: Values by lower-case name, such as ``{"top_k": 10}``.

    Raises:
        LimitExceeded: Unknown, no integer, negative or over its hard cap (B30).
    """

    top_k: int
    candidates: int
    result_bytes: int
    context_tokens: int
    message_range: int
    embed_batch: int
    text_characters: int
    payload_bytes: int
    batch_entries: int
    lineage_sources: int
    query_characters: int
    query_words: int
    filter_terms: int
    recall_ids: int
    list_rows: int
    source_rows: int
    rebuild_rows: int
    rebuild_milliseconds: int
    export_rows: int
    retention_batch: int
    export_bytes: int
    export_milliseconds: int
    rerank_candidates: int
    rerank_bytes: int
    multi_query: int
    deep_iterations: int

    def __init__(self, given: Mapping[str, int] | None = None) -> None:
        known = {s.name.lower(): s for s in Settings.declared() if s.limit}
        for name in given or {}:
            if name not in known:
                message = f"{name!r} is not a limit; there are {', '.join(known)}."
                raise LimitExceeded(message, field=name)
        for name, setting in known.items():
            value = (given or {}).get(name, getattr(settings, setting.name))
            setattr(self, name, check_limit(value, name))


def check_limit(value: object, limit: str, name: str | None = None) -> int:
    """Return ``value`` if it lies within the bounds of a limit.

    Args:
        limit: Lower-case name of the limit.
        name: What the caller calls the value; the limit's name when None.

    Raises:
        LimitExceeded: No integer, or outside; the message names the bounds.
    """
    setting: Setting[int] = getattr(Settings, limit.upper())
    name = name or limit
    low, high = int(setting.minimum or 0), int(setting.maximum or 0)
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be an integer of {low} to {high}."
        raise LimitExceeded(message, field=name)
    if not low <= value <= high:
        message = f"{name} must be {low} to {high}, not {value}."
        raise LimitExceeded(message, field=name)
    return value
