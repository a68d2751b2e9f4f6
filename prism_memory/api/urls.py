"""Routes of the API, below wherever the host includes them."""

from __future__ import annotations

from django.urls import path, re_path

from prism_memory.api.audit.views import AuditView
from prism_memory.api.base import UnknownView
from prism_memory.api.conflicts.views import ConflictsView, SettleView
from prism_memory.api.corrections.views import CorrectionView
from prism_memory.api.docs.views import RedocView, SchemaView, SwaggerView
from prism_memory.api.entities.views import (
    EntitiesView,
    EntityView,
    MergeView,
    UnmergeView,
)
from prism_memory.api.erasures.views import (
    ErasurePreviewView,
    ErasuresView,
    ErasureView,
)
from prism_memory.api.exports.views import (
    ExportManifestView,
    ExportPageView,
    ExportPartView,
    ExportsView,
    ExportView,
)
from prism_memory.api.facts.deciding import (
    AcceptView,
    ArchiveView,
    ForgetFactView,
    PurgeView,
    QuarantineFactView,
    RetractView,
    UnarchiveView,
    ValidateFactView,
)
from prism_memory.api.facts.views import (
    FactsView,
    FactView,
    HistoryView,
    RememberFactView,
    SupersedeView,
    TimelineView,
)
from prism_memory.api.forgetting.views import (
    ForgetThreadView,
    ForgetView,
    ReleaseForgottenView,
)
from prism_memory.api.gate.views import QuarantineView, ValidateView
from prism_memory.api.generations.views import GenerationsView
from prism_memory.api.health.views import LiveView, ReadyView
from prism_memory.api.holds.views import HoldsView, HoldView
from prism_memory.api.limits.views import LimitsView
from prism_memory.api.memories.views import ConsentView, MemoriesView, MemoryView
from prism_memory.api.metrics.views import MetricsView
from prism_memory.api.pending.views import FailedView, PendingView, RetryFailedView
from prism_memory.api.recall.views import DeepRecallView, RecallView
from prism_memory.api.retention.views import (
    PoliciesView,
    PolicyView,
    PreviewView,
    RunsView,
)
from prism_memory.api.reviews.views import DecideView, ReviewsView
from prism_memory.api.runs.views import (
    CancelRunView,
    RetryRunView,
    RunView,
    TenantRunsView,
)
from prism_memory.api.shares.views import SharesView
from prism_memory.api.sources.views import (
    RestoreSourceView,
    RetireSourceView,
    SourceChunksView,
    SourceStatusView,
    SourcesView,
    SourceView,
)
from prism_memory.api.tombstones.views import TombstonesView

app_name = "prism_memory_api"

# An id is any text here, so that a malformed one is the same 404 as an unknown one.
urlpatterns = [
    path("memories", MemoriesView.as_view(), name="memories"),
    path("memories/export", ExportPageView.as_view(), name="memories-export"),
    path("memories/forget", ForgetView.as_view(), name="memories-forget"),
    path(
        "memories/forget-thread",
        ForgetThreadView.as_view(),
        name="memories-forget-thread",
    ),
    path(
        "memories/release-forgotten",
        ReleaseForgottenView.as_view(),
        name="memories-release-forgotten",
    ),
    path("memories/<str:memory_id>", MemoryView.as_view(), name="memory"),
    path("memories/<str:memory_id>/consent", ConsentView.as_view(), name="consent"),
    path(
        "memories/<str:memory_id>/correction",
        CorrectionView.as_view(),
        name="correction",
    ),
    path(
        "memories/<str:memory_id>/quarantine",
        QuarantineView.as_view(),
        name="quarantine",
    ),
    path("memories/<str:memory_id>/validate", ValidateView.as_view(), name="validate"),
    path("recall", RecallView.as_view(), name="recall"),
    path("recall/deep", DeepRecallView.as_view(), name="recall-deep"),
    path("facts", FactsView.as_view(), name="facts"),
    path("facts/remember", RememberFactView.as_view(), name="facts-remember"),
    path("facts/timeline", TimelineView.as_view(), name="facts-timeline"),
    path("facts/<str:fact_id>", FactView.as_view(), name="fact"),
    path("facts/<str:fact_id>/history", HistoryView.as_view(), name="fact-history"),
    path(
        "facts/<str:fact_id>/supersede", SupersedeView.as_view(), name="fact-supersede"
    ),
    path("facts/<str:fact_id>/retract", RetractView.as_view(), name="fact-retract"),
    path("facts/<str:fact_id>/accept", AcceptView.as_view(), name="fact-accept"),
    path(
        "facts/<str:fact_id>/validate", ValidateFactView.as_view(), name="fact-validate"
    ),
    path(
        "facts/<str:fact_id>/quarantine",
        QuarantineFactView.as_view(),
        name="fact-quarantine",
    ),
    path("facts/<str:fact_id>/forget", ForgetFactView.as_view(), name="fact-forget"),
    path("facts/<str:fact_id>/purge", PurgeView.as_view(), name="fact-purge"),
    path("facts/<str:fact_id>/archive", ArchiveView.as_view(), name="fact-archive"),
    path(
        "facts/<str:fact_id>/unarchive", UnarchiveView.as_view(), name="fact-unarchive"
    ),
    path("conflicts", ConflictsView.as_view(), name="conflicts"),
    path(
        "conflicts/<str:conflict_id>/settle",
        SettleView.as_view(),
        name="conflict-settle",
    ),
    path("entities", EntitiesView.as_view(), name="entities"),
    path("entities/<str:entity_id>", EntityView.as_view(), name="entity"),
    path("entities/<str:entity_id>/merge", MergeView.as_view(), name="entity-merge"),
    path(
        "entities/<str:entity_id>/unmerge",
        UnmergeView.as_view(),
        name="entity-unmerge",
    ),
    path("reviews", ReviewsView.as_view(), name="reviews"),
    path("reviews/<str:review_id>/decide", DecideView.as_view(), name="review-decide"),
    path("holds", HoldsView.as_view(), name="holds"),
    path("holds/<str:hold_id>", HoldView.as_view(), name="hold"),
    path("tombstones", TombstonesView.as_view(), name="tombstones"),
    path("shares", SharesView.as_view(), name="shares"),
    path("sources", SourcesView.as_view(), name="sources"),
    # A key is any text, slashes too, so it stands in the query.
    path("source", SourceView.as_view(), name="source"),
    path("source/status", SourceStatusView.as_view(), name="source-status"),
    path("source/chunks", SourceChunksView.as_view(), name="source-chunks"),
    path("source/retire", RetireSourceView.as_view(), name="source-retire"),
    path("source/restore", RestoreSourceView.as_view(), name="source-restore"),
    path("generations", GenerationsView.as_view(), name="generations"),
    path("retention/policies", PoliciesView.as_view(), name="retention-policies"),
    path(
        "retention/policies/<str:policy_id>",
        PolicyView.as_view(),
        name="retention-policy",
    ),
    path("retention/preview", PreviewView.as_view(), name="retention-preview"),
    path("retention/runs", RunsView.as_view(), name="retention-runs"),
    path("audit", AuditView.as_view(), name="audit"),
    path("erasures", ErasuresView.as_view(), name="erasures"),
    path("erasures/preview", ErasurePreviewView.as_view(), name="erasure-preview"),
    path("erasures/<str:erasure_id>", ErasureView.as_view(), name="erasure"),
    path("exports", ExportsView.as_view(), name="exports"),
    path("exports/<str:export_id>", ExportView.as_view(), name="export"),
    path(
        "exports/<str:export_id>/manifest",
        ExportManifestView.as_view(),
        name="export-manifest",
    ),
    path(
        "exports/<str:export_id>/parts/<str:part>",
        ExportPartView.as_view(),
        name="export-part",
    ),
    path("pending", PendingView.as_view(), name="pending"),
    path("pending/failed", FailedView.as_view(), name="pending-failed"),
    path("pending/retry", RetryFailedView.as_view(), name="pending-retry"),
    path("runs", TenantRunsView.as_view(), name="runs"),
    path("runs/<str:run_id>", RunView.as_view(), name="run"),
    path("runs/<str:run_id>/cancel", CancelRunView.as_view(), name="run-cancel"),
    path("runs/<str:run_id>/retry", RetryRunView.as_view(), name="run-retry"),
    path("metrics", MetricsView.as_view(), name="metrics"),
    path("limits", LimitsView.as_view(), name="limits"),
    path("health/live", LiveView.as_view(), name="health-live"),
    path("health/ready", ReadyView.as_view(), name="health-ready"),
    path("schema", SchemaView.as_view(), name="schema"),
    path("docs", SwaggerView.as_view(), name="docs"),
    path("redoc", RedocView.as_view(), name="redoc"),
    re_path("", UnknownView.as_view(), name="unknown"),  # all the rest: keep it last
]
