"""The values of ``types`` as Django's choices."""

from __future__ import annotations

from django.db import models

from prism_memory import types


class TrustClass(models.TextChoices):
    USER = types.Trust.USER.value
    DOCUMENT = types.Trust.DOCUMENT.value
    AGENT = types.Trust.AGENT.value
    TOOL = types.Trust.TOOL.value
    SUBAGENT = types.Trust.SUBAGENT.value
    CONSOLIDATOR = types.Trust.CONSOLIDATOR.value
    SYSTEM = types.Trust.SYSTEM.value


class KindChoice(models.TextChoices):
    ENTRY = types.Kind.ENTRY.value
    CHUNK = types.Kind.CHUNK.value
    TURN = types.Kind.TURN.value
    NOTE = types.Kind.NOTE.value
    FACT = types.Kind.FACT.value


class TierChoice(models.TextChoices):
    NONE = types.Tier.NONE.value, "none"
    SEMANTIC = types.Tier.SEMANTIC.value
    EPISODIC = types.Tier.EPISODIC.value
    PROCEDURAL = types.Tier.PROCEDURAL.value


class ConsentSourceChoice(models.TextChoices):
    USER = types.ConsentSource.USER.value
    AGENT = types.ConsentSource.AGENT.value
    SYSTEM = types.ConsentSource.SYSTEM.value


class ConsentScopeChoice(models.TextChoices):
    THREAD = types.ConsentScope.THREAD.value
    PROFILE = types.ConsentScope.PROFILE.value
    USER = types.ConsentScope.USER.value


class ReadModeChoice(models.TextChoices):
    CHAIN = types.ReadMode.CHAIN.value
    EXACT = types.ReadMode.EXACT.value


class TombstoneReasonChoice(models.TextChoices):
    CORRECTED = types.TombstoneReason.CORRECTED.value
    QUARANTINED = types.TombstoneReason.QUARANTINED.value
    REVOKED = types.TombstoneReason.REVOKED.value
    FORGOTTEN = types.TombstoneReason.FORGOTTEN.value
    LEGAL_HOLD = types.TombstoneReason.LEGAL_HOLD.value
    EXPIRED = types.TombstoneReason.EXPIRED.value


class HoldLevelChoice(models.TextChoices):
    RECORD = types.HoldLevel.RECORD.value
    SOURCE = types.HoldLevel.SOURCE.value
    SCOPE = types.HoldLevel.SCOPE.value


class ScopeLevelChoice(models.TextChoices):
    TENANT = types.ScopeLevel.TENANT.value
    OWNER = types.ScopeLevel.OWNER.value
    AGENT = types.ScopeLevel.AGENT.value
    THREAD = types.ScopeLevel.THREAD.value


class ErasureLevelChoice(models.TextChoices):
    RECORD = types.ErasureLevel.RECORD.value
    SOURCE = types.ErasureLevel.SOURCE.value
    THREAD = types.ErasureLevel.THREAD.value
    AGENT = types.ErasureLevel.AGENT.value
    OWNER = types.ErasureLevel.OWNER.value
    TENANT = types.ErasureLevel.TENANT.value


class PermissionChoice(models.TextChoices):
    READ = types.Permission.READ.value
    WRITE = types.Permission.WRITE.value
    GOVERN = types.Permission.GOVERN.value
    OPERATE = types.Permission.OPERATE.value


class AcceptanceChoice(models.TextChoices):
    ACCEPTED = types.Acceptance.ACCEPTED.value
    BELIEF = types.Acceptance.BELIEF.value
    PROPOSAL = types.Acceptance.PROPOSAL.value


class ProvenanceChoice(models.TextChoices):
    NONE = types.Provenance.NONE.value, "none"
    USER = types.Provenance.USER.value
    TOOL = types.Provenance.TOOL.value
    EXTRACTION = types.Provenance.EXTRACTION.value
    REFLECTION = types.Provenance.REFLECTION.value
    INDUCTION = types.Provenance.INDUCTION.value
    IMPORTED = types.Provenance.IMPORTED.value


class PrincipalChoice(models.TextChoices):
    USER = types.Principal.USER.value
    AGENT = types.Principal.AGENT.value
    SHARED = types.Principal.SHARED.value


class SensitivityChoice(models.TextChoices):
    PUBLIC = types.Sensitivity.PUBLIC.value
    INTERNAL = types.Sensitivity.INTERNAL.value
    SECRET = types.Sensitivity.SECRET.value


class ClosingChoice(models.TextChoices):
    OPEN = types.Closing.OPEN.value, "open"
    SUPERSEDED = types.Closing.SUPERSEDED.value
    RETRACTED = types.Closing.RETRACTED.value
    FORGOTTEN = types.Closing.FORGOTTEN.value


class FactChangeChoice(models.TextChoices):
    ASSERTED = types.FactChange.ASSERTED.value
    SUPERSEDED = types.FactChange.SUPERSEDED.value
    ACCEPTED = types.FactChange.ACCEPTED.value
    VALIDATED = types.FactChange.VALIDATED.value
    QUARANTINED = types.FactChange.QUARANTINED.value
    REJUDGED = types.FactChange.REJUDGED.value


class ReviewWhyChoice(models.TextChoices):
    PROPOSAL = types.ReviewWhy.PROPOSAL.value
    QUARANTINED = types.ReviewWhy.QUARANTINED.value
    CONFLICT = types.ReviewWhy.CONFLICT.value


class ReviewDecisionChoice(models.TextChoices):
    WAITING = types.ReviewDecision.WAITING.value, "waiting"
    ACCEPTED = types.ReviewDecision.ACCEPTED.value
    REJECTED = types.ReviewDecision.REJECTED.value
    VALIDATED = types.ReviewDecision.VALIDATED.value
    FORCED = types.ReviewDecision.FORCED.value
    SETTLED = types.ReviewDecision.SETTLED.value
    LAPSED = types.ReviewDecision.LAPSED.value


class VerdictChoice(models.TextChoices):
    ADMIT = types.Verdict.ADMIT.value
    DEDUP = types.Verdict.DEDUP.value
    SUPERSEDE = types.Verdict.SUPERSEDE.value
    PENDING = types.Verdict.PENDING.value


class ConflictStageChoice(models.TextChoices):
    EXACT = types.ConflictStage.EXACT.value
    ZONES = types.ConflictStage.ZONES.value
    MARKERS = types.ConflictStage.MARKERS.value
    SUBJECT_PREDICATE = types.ConflictStage.SUBJECT_PREDICATE.value
    DEFER = types.ConflictStage.DEFER.value
    JUDGE = types.ConflictStage.JUDGE.value
    OFF = types.ConflictStage.OFF.value


class ConflictZoneChoice(models.TextChoices):
    NONE = types.ConflictZone.NONE.value, "none"
    EXACT = types.ConflictZone.EXACT.value
    HOT = types.ConflictZone.HOT.value
    NEAR_DUP = types.ConflictZone.NEAR_DUP.value
    CHECK = types.ConflictZone.CHECK.value
    COLD = types.ConflictZone.COLD.value


class MentionRoleChoice(models.TextChoices):
    SUBJECT = types.MentionRole.SUBJECT.value
    OBJECT = types.MentionRole.OBJECT.value


class GateState(models.TextChoices):
    OPEN = "open"
    QUARANTINED = "quarantined"


class SourceKindChoice(models.TextChoices):
    DOCUMENT = types.SourceKind.DOCUMENT.value
    STREAM = types.SourceKind.STREAM.value


class SourceState(models.TextChoices):
    ACTIVE = types.SourceState.ACTIVE.value
    RETIRED = types.SourceState.RETIRED.value


class IngestionState(models.TextChoices):
    PENDING = types.IngestionState.PENDING.value
    INDEXED = types.IngestionState.INDEXED.value
    PARTIAL = types.IngestionState.PARTIAL.value
    FAILED = types.IngestionState.FAILED.value


class SpaceState(models.TextChoices):
    BUILDING = "building"
    ACTIVE = "active"
    RETIRED = "retired"
    DROPPING = "dropping"


class CopyState(models.TextChoices):
    WANTED = "wanted"
    HELD = "held"
    GONE = "gone"
    COMPLETE = "complete"


class IndexMode(models.TextChoices):
    NONE = "none"
    HNSW = "hnsw"


class RunState(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
